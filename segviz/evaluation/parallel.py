"""Measures many conversations, systems and seeds, in one process, several or on a cluster.

A task is one conversation built by one system and measured with one seed. Tasks are independent,
so the numbers are the same in this process, in several (joblib's, extra ``parallel``) and on a
Dask cluster (extra ``cluster``), and are returned in the order of the tasks.
Workers are sent a task and return its measures; the unfinished task of a lost worker is repeated
by another. Builders that hold a model of a server are refused beyond this process, because its
key would be sent along.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from importlib import import_module, metadata
from itertools import islice, product
from typing import Any, Generic, TypeVar

from threadpoolctl import threadpool_limits

from segviz.conversation import Conversation, reordered
from segviz.memory import Memory, paid
from segviz.retrieval import check_count

Build = Callable[[Conversation], Memory]
Result = TypeVar("Result")
Progress = Callable[[int, int], None]

_ROUNDS = 4
"""Worker processes that may be lost before the run is given up; Dask tries a task as often."""
_WAIT_SECONDS = 10
"""Time limit for a scheduler to answer, and again for a cluster to have a first worker."""


class WorkersLost(Exception):
    """Workers or their scheduler are lost; the message says what to check. Outcomes given to
    ``keep`` before are valid."""


@dataclass(frozen=True)
class Measured(Generic[Result]):
    """The ``result`` of measuring one conversation, built by one system, with one seed."""

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
    ``share`` above 0, which units change places (``segviz.conversation.reordered``).
    ``workers`` above 1 are processes of this machine; ``scheduler`` is the address of a
    Dask scheduler, whose workers need segviz installed. A conversation is taken from
    ``conversations`` when its turn comes.

    ``keep`` is called with the place of every task and its outcome, as soon as it is
    finished; outcomes passed as ``known``, of a run that is otherwise the same, are not
    measured again. ``progress(done, total)`` is called after every task that was not known.

    ValueError for a bad setting, a missing extra (naming it), a scheduler that does not
    answer, or a model beyond this process; ``WorkersLost`` when workers are lost
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
    for done, (place, outcome) in enumerate(_outcomes(waiting, task, workers, scheduler), start=1):
        found[place] = outcome
        if keep is not None:
            keep(place, outcome)
        if progress is not None:
            progress(done, len(waiting))
    return tuple(found[place] for place in range(len(places)))


def _outcomes(
    places: Sequence[int], task: Callable[[int], _Task], workers: int, scheduler: str | None
) -> Iterator[tuple[int, Measured[Any]]]:
    """Outcomes by place as they are finished, in any order. ``task`` makes a task shortly
    before it starts, so that few are held at once."""
    if scheduler is not None:
        return _on_cluster(places, task, scheduler)
    if workers > 1:
        return _by_processes(places, task, workers)
    return ((place, task(place)()) for place in places)


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


def _by_processes(
    places: Sequence[int], task: Callable[[int], _Task], workers: int
) -> Iterator[tuple[int, Measured[Any]]]:
    _import_extra("joblib", "parallel", "more than one worker")
    loky = import_module("joblib.externals.loky")  # pickles what the standard library cannot
    # Threads of linear algebra in several workers would wait for the same cores.
    one_thread = partial(threadpool_limits, limits=1, user_api="blas")
    # A worker remembers the embeddings of a conversation for its next task. So each goes through
    # a stretch of its own, then through the end of the longest left.
    each = -(-len(places) // workers)
    stretches = [deque(places[i * each : (i + 1) * each]) for i in range(workers)]
    pools: dict[int, Any] = {}  # one process each; a killed one leaves the others their tasks
    running = dict[Future[Measured[Any]], tuple[int, int]]()
    idle, lost = list(range(workers)), 0
    try:
        while True:
            for worker in idle:
                own, longest = stretches[worker], max(stretches, key=len)
                if own or longest:
                    place = own.popleft() if own else longest.pop()
                    made = task(place)
                    try:
                        future = pools[worker].submit(made)
                    except (KeyError, BrokenProcessPool):  # not started, or killed since its last
                        pools[worker] = loky.ProcessPoolExecutor(1, initializer=one_thread)
                        future = pools[worker].submit(made)
                    running[future] = worker, place
            if not running:
                return
            idle = []
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                worker, place = running.pop(future)
                idle.append(worker)
                try:
                    found = future.result()
                except BrokenProcessPool:
                    del pools[worker]
                    stretches[worker].appendleft(place)
                    if (lost := lost + 1) < _ROUNDS:
                        continue
                    raise WorkersLost(
                        f"worker processes ended {_ROUNDS} times without being asked to, most "
                        "likely for want of memory; use fewer workers"
                    ) from None
                yield place, found
    finally:
        for pool in pools.values():
            pool.shutdown(kill_workers=True)


def _on_cluster(
    places: Sequence[int], task: Callable[[int], _Task], scheduler: str
) -> Iterator[tuple[int, Measured[Any]]]:
    distributed = _import_extra("distributed", "cluster", "a scheduler")
    try:
        client = distributed.Client(scheduler, timeout=_WAIT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {scheduler!r} ({error}); start one with "
            "`dask scheduler` and give the address it prints"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_WAIT_SECONDS)
        except TimeoutError:
            raise ValueError(
                f"the scheduler at {scheduler!r} has no workers; start some with "
                f"`dask worker {scheduler}`"
            ) from None
        _check_versions(client)
        try:
            threads = sum(client.nthreads().values())
            yield from _finished(client.get_executor(pure=False), threads, places, task)
        except distributed.KilledWorker:
            raise WorkersLost(
                "the cluster gave up a piece of work that ended its worker again and again, "
                "most likely for want of memory; give the workers more"
            ) from None
        except (CancelledError, distributed.comm.CommClosedError):
            raise WorkersLost(f"the connection to the scheduler at {scheduler!r} is lost") from None


def _finished(
    pool: Executor, threads: int, places: Sequence[int], task: Callable[[int], _Task]
) -> Iterator[tuple[int, Measured[Any]]]:
    """Outcomes as they are finished; twice as many tasks as ``threads`` are with the pool."""
    waiting, running = iter(places), dict[Future[Measured[Any]], int]()
    while True:
        for place in islice(waiting, max(2 * threads, 2) - len(running)):
            running[pool.submit(task(place))] = place
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), future.result()


def _check_versions(client: Any) -> None:
    """ValueError for a worker with another version, whose numbers may differ, or without
    segviz, where tasks would fail without a clear message."""
    mine = metadata.version("segviz")

    def version() -> str | None:  # sent by value: a worker may have no segviz to import it from
        from importlib import metadata

        try:
            return metadata.version("segviz")
        except metadata.PackageNotFoundError:
            return None

    for worker, theirs in client.run(version).items():
        if theirs != mine:
            has = f"segviz {theirs}" if theirs else "no segviz"
            raise ValueError(
                f"the Dask worker {worker} has {has}, where segviz {mine} is needed; install "
                "the same version for all workers"
            )


def _import_extra(module: str, extra: str, purpose: str) -> Any:
    """An optional package; ValueError names the extra that brings it."""
    try:
        return import_module(module)
    except ImportError:
        raise ValueError(
            f"{purpose} needs {module}, which is not installed: pip install 'segviz[{extra}]'"
        ) from None
