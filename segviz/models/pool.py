"""Several requests at once: bounded, in order, nothing finished is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from segviz.models.faults import RefusedError
from segviz.protocols import LabelError, ModelError

A = TypeVar("A")
B = TypeVar("B")

GIVE_UP_AFTER = 3
"""So many requests may fail before those not yet begun are left: a server that is down
would otherwise be tried for every text of a long conversation."""


def in_parallel(work: Callable[[A], B], items: Sequence[A], workers: int) -> list[B]:
    """``work`` of every item, in order, at most ``workers`` at a time.

    When one fails the others still run to their end, unless the failure holds for all of
    them (a refused key) or too many fail; those under way always finish. Then the first
    ModelError, in the order of the items, is raised.
    """
    if len(items) <= 1 or workers == 1:
        workers = 1
    stop = threading.Event()
    failures = 0
    counting = threading.Lock()

    def guarded(item: A) -> B | None:
        nonlocal failures
        if stop.is_set():
            return None
        try:
            return work(item)
        except LabelError:
            raise
        except ModelError as error:
            with counting:
                failures += 1
                if failures >= GIVE_UP_AFTER or (isinstance(error, RefusedError) and error.for_all):
                    stop.set()
            raise
        except BaseException:
            stop.set()
            raise

    pool = ThreadPoolExecutor(workers, thread_name_prefix="segviz-model")
    futures: list[Future[B | None]] = []
    try:
        futures = [pool.submit(guarded, item) for item in items]
        errors = [error for error in (future.exception() for future in futures) if error]
    finally:
        stop.set()  # also when the wait itself is interrupted
        pool.shutdown(wait=True, cancel_futures=True)
    if errors:
        raise errors[0]
    # Without an error every item was worked on, so every result is a B.
    return [future.result() for future in futures]  # type: ignore[misc]
