"""Many conversations, systems and seeds, one after the other or on many workers.

A task is one conversation built by one system and measured with one seed. Tasks do not know
of each other, so it does not matter where one runs: the numbers are the same in one
process, in several and on a Dask cluster (``segviz.evaluate.workers``), and come back in the
order of the tasks. Only a task goes out and only its measures come back. Builders that hold
a model of a server are refused beyond this process, because its key would travel with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from segviz.conversation import Conversation
from segviz.evaluate.evaluation import Evaluation, evaluate
from segviz.evaluate.grid import Sweep, sweep
from segviz.evaluate.permutation import reordered
from segviz.evaluate.workers import done_by_processes, done_here, done_on_cluster
from segviz.memory import paid
from segviz.retrieval import check_count

if TYPE_CHECKING:
    from segviz.memory import Memory

Build = Callable[[Conversation], "Memory"]
Result = TypeVar("Result")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Measured(Generic[Result]):
    """What was measured of a conversation, built by a system, with a seed."""

    conversation: str
    system: str
    seed: int
    result: Result


@dataclass(frozen=True)
class _Task:
    conversation: Conversation
    system: str
    seed: int
    build: Build
    share: float
    measure: Callable[..., Any]
    settings: dict[str, Any]

    def __call__(self) -> Measured[Any]:
        spoken = self.conversation
        if self.share:
            spoken = reordered(spoken, self.share, self.seed)
        memory = self.build(spoken)
        found = self.measure(memory, spoken.questions, seed=self.seed, **self.settings)
        return Measured(self.conversation.id, self.system, self.seed, found)


def measure_many(
    measure: Callable[..., Result],
    conversations: Sequence[Conversation],
    builders: Mapping[str, Build],
    *,
    seeds: Sequence[int] = (0,),
    share: float = 0.0,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
    known: Mapping[int, Measured[Result]] | None = None,
    keep: Callable[[int, Measured[Result]], None] | None = None,
    **settings: Any,
) -> tuple[Measured[Result], ...]:
    """``measure(memory, questions, seed=…, **settings)`` for every conversation x system x
    seed, in this order.

    ``builders`` turn a conversation into a memory, by the system's name
    (``partial(segviz.build, system=name)``). A seed draws the intervals and, with a
    ``share`` above 0, which units change places (``segviz.evaluate.permutation``).
    ``workers`` above 1 are processes of this machine; ``scheduler`` is the address of a
    Dask scheduler, whose workers need segviz installed. A conversation is taken from
    ``conversations`` when its turn comes.

    ``keep`` is given the place of every task in the order and its outcome, as soon as that
    is there; outcomes given back as ``known``, of a run that is otherwise the same, are not
    measured again. ``progress(done, total)`` is called after every task that was not known.

    ValueError for a bad setting, a missing extra (naming it), a scheduler that does not
    answer, or a model beyond this process; ``workers.WorkersLost`` when workers are lost
    for good. An error in a task is raised here.
    """
    check_count("workers", workers)
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share!r}; it must lie between 0 and 1")
    for seed in seeds:
        if seed < 0:
            raise ValueError(f"seed is {seed}; it must be 0 or more")
    if scheduler is not None or workers > 1:
        _refuse_models(builders)
    places = list(product(range(len(conversations)), builders, seeds))

    def task(place: int) -> _Task:
        index, name, seed = places[place]
        spoken = conversations[index]
        return _Task(spoken, name, seed, builders[name], share, measure, settings)

    found = dict(known or {})
    waiting = [place for place in range(len(places)) if place not in found]
    for done, (place, outcome) in enumerate(_done(waiting, task, workers, scheduler), start=1):
        found[place] = outcome
        if keep is not None:
            keep(place, outcome)
        if progress is not None:
            progress(done, len(waiting))
    return tuple(found[place] for place in range(len(places)))


def evaluate_many(
    conversations: Sequence[Conversation], builders: Mapping[str, Build], **options: Any
) -> tuple[Measured[Evaluation], ...]:
    """:func:`measure_many` by :func:`evaluate`; ``options`` are those of both."""
    return measure_many(evaluate, conversations, builders, **options)


def sweep_many(
    conversations: Sequence[Conversation], builders: Mapping[str, Build], **options: Any
) -> tuple[Measured[Sweep], ...]:
    """:func:`measure_many` by :func:`sweep`; ``options`` are those of both."""
    return measure_many(sweep, conversations, builders, **options)


def _done(
    places: Sequence[int], task: Callable[[int], _Task], workers: int, scheduler: str | None
) -> Iterator[tuple[int, Measured[Any]]]:
    if scheduler is not None:
        return done_on_cluster(places, task, scheduler)
    return done_by_processes(places, task, workers) if workers > 1 else done_here(places, task)


def _refuse_models(builders: Mapping[str, Build]) -> None:
    for name, build in builders.items():
        held = build.keywords if isinstance(build, partial) else {}
        embedder = held.get("embedder")
        if held.get("chat") is not None or (
            embedder is not None and not isinstance(embedder, str) and paid(embedder) is not None
        ):
            raise ValueError(
                f"the builder of {name!r} holds a model of a server, whose key would be sent to "
                "the workers; build in one process (workers=1), or offline"
            )
