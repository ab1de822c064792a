"""Measures many conversations, systems and seeds, in one process, several or on a cluster.

A run is one conversation, built by one system and measured with one seed. Runs are independent, so
the numbers are the same in this process, in several (joblib, extra ``parallel``) and on a Dask
cluster (extra ``cluster``), and are returned in the order of the runs. For a cluster, enter
joblib's Dask backend and leave the number of workers to it::

    joblib.parallel_config(backend="dask", client=distributed.Client("tcp://host:8786"))
    measure_many(segviz.sweep, conversations, builders, workers=None)

Nothing here recovers from a killed worker process: save every result (``keep``) and start again
with the saved ones (``known``). Dask repeats the run of a lost worker on another worker. Builders
that use a model server are rejected outside this process, because the server's key would be sent to
the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar

from segviz.conversation import Conversation, reordered
from segviz.handover import HandoverError
from segviz.memory import Memory, paid
from segviz.retrieval import check_count
from segviz.version import __version__

Build = Callable[[Conversation], Memory]
Result = TypeVar("Result")
Progress = Callable[[int, int], None]

_SOURCE = (".py", ".txt", ".toml", ".csv")


class WorkersLost(Exception):
    """Loss of a worker process or of the scheduler; results passed to ``keep`` before are valid."""


@dataclass(frozen=True)
class Measured(Generic[Result]):
    """Result of measuring one conversation, built by one system, with one seed."""

    conversation: str
    system: str
    seed: int
    result: Result


@dataclass(frozen=True)
class _Run:
    conversation: Conversation
    system: str
    seed: int
    build: Build
    share: float
    measure: Callable[..., Any]
    settings: dict[str, Any]
    code: str

    def __call__(self) -> Measured[Any] | HandoverError:
        """Builds and measures; returns the result, or the error of code from outside segviz."""
        if self.code != code_hash():
            raise ValueError(
                f"a worker has another segviz ({__version__}), so its numbers may "
                "differ; install the same version for all workers"
            )
        spoken = self.conversation
        if self.share:
            spoken = reordered(spoken, self.share, self.seed)
        try:
            memory = self.build(spoken)
            result = self.measure(memory, spoken.questions, seed=self.seed, **self.settings)
        except HandoverError as error:
            return error
        return Measured(self.conversation.id, self.system, self.seed, result)


def measure_many(
    measure: Callable[..., Result],
    conversations: Sequence[Conversation],
    builders: Mapping[str, Build],
    *,
    seeds: Sequence[int] = (0,),
    share: float = 0.0,
    workers: int | None = 1,
    progress: Progress | None = None,
    known: Mapping[int, Measured[Result]] | None = None,
    keep: Callable[[int, Measured[Result]], None] | None = None,
    failed: Callable[[int, HandoverError], None] | None = None,
    **settings: Any,
) -> tuple[Measured[Result], ...]:
    """Computes ``measure(memory, questions, seed=…, **settings)`` for every run.

    Runs are conversation x system x seed, in this order.

    Args:
        measure: ``segviz.sweep`` or another function of a memory and its questions.
        conversations: Each is accessed when its run starts, so a lazy sequence is not read at once.
        builders: Turn a conversation into a memory, by the system's name (``partial(segviz.build,
            system=name)``).
        seeds: A seed draws the intervals and, with ``share``, the units that change places.
        share: Share of the units that change places before building
            (``segviz.conversation.reordered``), 0 to 1.
        workers: Processes of this machine. None uses the backend and the number of workers of
            ``joblib.parallel_config``.
        progress: Called with (done, total) after every run that was not known.
        known: Results by place, of runs that are otherwise the same; they are not measured again.
        keep: Called with the place and the result of every run as soon as it is finished.
        failed: Called with the place and the error of a run in which code from outside segviz
            failed; the run is then left out. Without it the error is raised.
        settings: Passed to ``measure``.

    Raises:
        ValueError: For a bad setting, a missing extra (naming it), a worker with other code, or a
            model of a server beyond this process.
        WorkersLost: When a worker process or the scheduler is lost.
    """
    if workers is not None:
        check_count("workers", workers)
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share!r}; it must lie between 0 and 1")
    for seed in seeds:
        if seed < 0:
            raise ValueError(f"seed is {seed}; it must be 0 or more")
    if workers != 1:
        _refuse_models(builders)
    places = list(product(range(len(conversations)), builders, seeds))

    def run(place: int) -> _Run:
        index, name, seed = places[place]
        spoken, build = conversations[index], builders[name]
        return _Run(spoken, name, seed, build, share, measure, settings, code_hash())

    # Results arrive in any order; each is kept at the place of its run.
    measured = dict(known or {})
    waiting = [place for place in range(len(places)) if place not in measured]
    with closing(_results(waiting, run, workers)) as results:
        for done, (place, result) in enumerate(_sound(results, failed), start=1):
            measured[place] = result
            if keep is not None:
                keep(place, result)
            if progress is not None:
                progress(done, len(waiting))
    return tuple(measured[place] for place in sorted(measured))


def _sound(
    results: Iterable[tuple[int, Measured[Any] | HandoverError]],
    failed: Callable[[int, HandoverError], None] | None,
) -> Iterator[tuple[int, Measured[Any]]]:
    """Yields the results of runs that succeeded.

    An error is passed to ``failed`` with the place of its run, or raised without ``failed``.
    """
    for place, result in results:
        if isinstance(result, Measured):
            yield place, result
        elif failed is None:
            raise result
        else:
            failed(place, result)


def _results(
    places: Sequence[int], run: Callable[[int], _Run], workers: int | None
) -> Generator[tuple[int, Measured[Any] | HandoverError]]:
    """Yields (place, result) of every run as soon as it is finished, in any order.

    ``run`` makes a run from its place shortly before it starts, so that few conversations are in
    memory at once.
    """
    if workers == 1:
        yield from ((place, run(place)()) for place in places)
        return
    joblib = import_extra("joblib", "parallel", "more than one worker")
    # A batch of one: a result arrives as soon as its run is finished.
    pool = joblib.Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    try:
        yield from pool(joblib.delayed(_measured)(place, run(place)) for place in places)
    except BrokenExecutor:
        raise WorkersLost(
            "a worker process ended unexpectedly, most likely for lack of memory; use fewer workers"
        ) from None
    except CancelledError:
        raise WorkersLost("the connection to the scheduler is lost") from None


def _measured(place: int, run: _Run) -> tuple[int, Measured[Any] | HandoverError]:
    return place, run()


def _refuse_models(builders: Mapping[str, Build]) -> None:
    """Raises ValueError if a builder has a model of a server: workers get no keys."""
    for name, build in builders.items():
        options = build.keywords if isinstance(build, partial) else {}
        embedder = options.get("embedder")
        if options.get("chat") is not None or (
            embedder is not None and not isinstance(embedder, str) and paid(embedder)
        ):
            raise ValueError(
                f"the builder of {name!r} has a model of a server, whose key would be sent to "
                "the workers; build in one process (workers=1), or offline"
            )


@cache
def code_hash() -> str:
    """Returns a SHA-256 of the version and source files of segviz.

    Processes with equal hashes compute equal numbers.
    """
    folder, digest = Path(__file__).parents[1], sha256(__version__.encode())
    for path in sorted(each for each in folder.rglob("*") if each.suffix in _SOURCE):
        digest.update(f"\0{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """Returns an imported optional package; ValueError names the extra that would install it."""
    try:
        return import_module(module)
    except ImportError:
        raise ValueError(
            f"{purpose} needs {module}, which is not installed; in a clone of segviz: "
            f'pip install -e ".[{extra}]"'
        ) from None
