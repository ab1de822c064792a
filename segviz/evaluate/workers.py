"""Where independent pieces of work are done: here, in processes, or on a Dask cluster.

All three hand back what was done as it is finished, in any order. Several processes are
joblib's (extra ``parallel``), a cluster is reached by joblib's Dask backend (extra
``cluster``). What a lost worker had begun is done again by another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module, metadata
from typing import Any

Job = Callable[[], Any]
Make = Callable[[int], Job]
"""The job of a number; called shortly before it is begun, so that few are held at once."""

_ROUNDS = 4
"""A piece of work that ends so many processes is the cause of it; Dask counts as many."""
_WAIT_SECONDS = 10
"""How long a scheduler may take to answer, and then a cluster to have its first worker."""


class WorkersLost(Exception):
    """Workers or their scheduler are gone; the message says what to look at. What was handed
    back before is good."""


def done_here(numbers: Sequence[int], make: Make) -> Iterator[tuple[int, Any]]:
    """Each number and what its job gives, one after the other."""
    for number in numbers:
        yield number, make(number)()


def done_by_processes(
    numbers: Sequence[int], make: Make, workers: int
) -> Iterator[tuple[int, Any]]:
    """As :func:`done_here`, in so many processes of this machine.

    ValueError where joblib is missing, WorkersLost when processes end again and again.
    """
    joblib = _extra("joblib", "parallel", "more than one worker")
    waiting = dict.fromkeys(numbers)
    for _ in range(_ROUNDS):
        pool = joblib.Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
        try:
            for number, found in _results(joblib, pool, list(waiting), make):
                del waiting[number]
                yield number, found
        except BrokenProcessPool:  # one was killed, perhaps for want of memory: a new pool
            continue
        return
    raise WorkersLost(
        f"worker processes ended {_ROUNDS} times without being asked to, most likely for want "
        "of memory; use fewer workers"
    )


def done_on_cluster(
    numbers: Sequence[int], make: Make, scheduler: str
) -> Iterator[tuple[int, Any]]:
    """As :func:`done_here`, by the workers of a Dask scheduler.

    ValueError where distributed is missing, nothing answers at the address, or a worker has
    no segviz or another one; WorkersLost when the scheduler is gone or gives a job up.
    """
    distributed = _extra("distributed", "cluster", "a scheduler")
    joblib = _extra("joblib", "cluster", "a scheduler")
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
        with joblib.parallel_config(backend="dask", client=client) as chosen:
            # With one thread to use joblib would do everything here instead.
            threads = max(2, sum(client.nthreads().values()))
            chosen["backend"].effective_n_jobs = lambda jobs: threads
            pool = joblib.Parallel(n_jobs=-1, return_as="generator_unordered", batch_size=1)
        try:
            yield from _results(joblib, pool, numbers, make)
        except distributed.KilledWorker:
            raise WorkersLost(
                "the cluster gave up a piece of work that ended its worker again and again, "
                "most likely for want of memory; give the workers more"
            ) from None
        except (CancelledError, distributed.comm.CommClosedError):
            raise WorkersLost(f"the connection to the scheduler at {scheduler!r} is lost") from None


def _results(
    joblib: Any, pool: Any, numbers: Sequence[int], make: Make
) -> Iterator[tuple[int, Any]]:
    """What the pool gives back. A fault of ``make``, which joblib calls for from a thread of
    its own where it would be lost, is raised here."""
    faults: dict[int, Exception] = {}

    def made(number: int) -> Job | None:
        try:
            return make(number)
        except Exception as error:
            faults[number] = error
            return None

    for number, found in pool(joblib.delayed(_run)(number, made(number)) for number in numbers):
        if number in faults:
            raise faults[number]
        yield number, found


def _run(number: int, job: Job | None) -> tuple[int, Any]:
    return number, job() if job else None


def _check_versions(client: Any) -> None:
    """Another segviz may give other numbers, and none gives a fault that tells nothing."""
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


def _extra(module: str, extra: str, purpose: str) -> Any:
    """An optional package; ValueError names the extra that brings it."""
    try:
        return import_module(module)
    except ImportError:
        raise ValueError(
            f"{purpose} needs {module}, which is not installed: pip install 'segviz[{extra}]'"
        ) from None
