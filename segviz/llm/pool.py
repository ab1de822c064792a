"""Several requests at once: bounded, in order, nothing finished is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from segviz.llm import waiting
from segviz.llm.faults import RefusedError
from segviz.llm.protocols import LabelError, ModelError

A = TypeVar("A")
B = TypeVar("B")

GIVE_UP_AFTER = 3
"""So many requests may fail before those not yet begun are left: a server that is down
would otherwise be tried for every text of a long conversation."""


class _AbandonedError(Exception):
    """Nobody waits for this request any more."""


class _Guarded(Generic[A, B]):
    """``work`` that is no longer begun once too much has failed, and ends when abandoned."""

    def __init__(self, work: Callable[[A], B]) -> None:
        self._work = work
        self._failures = 0
        self._counting = threading.Lock()
        self.stop, self.abandon = threading.Event(), threading.Event()

    def __call__(self, item: A) -> B | None:
        if self.stop.is_set():
            return None
        try:
            with waiting.heartbeat(self._beat):
                return self._work(item)
        except LabelError:
            raise
        except ModelError as error:
            with self._counting:
                self._failures += 1
                for_all = isinstance(error, RefusedError) and error.for_all
                if self._failures >= GIVE_UP_AFTER or for_all:
                    self.stop.set()
            raise
        except BaseException:
            self.stop.set()
            raise

    def _beat(self) -> None:
        if self.abandon.is_set():
            raise _AbandonedError


def in_parallel(work: Callable[[A], B], items: Sequence[A], workers: int) -> list[B]:
    """``work`` of every item, in order, at most ``workers`` at a time.

    When one fails the others still run to their end, unless the failure holds for all of
    them (a refused key) or too many fail; those under way always finish. Then the first
    ModelError, in the order of the items, is raised. What a heartbeat raises ends those
    under way too.
    """
    guarded = _Guarded(work)
    pool = ThreadPoolExecutor(1 if len(items) <= 1 else workers, thread_name_prefix="segviz-model")
    futures: list[Future[B | None]] = []
    try:
        futures = [pool.submit(guarded, item) for item in items]
        waiting.wait_all(futures)
    except BaseException:
        guarded.abandon.set()
        raise
    finally:
        guarded.stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
    errors = [error for error in (future.exception() for future in futures) if error]
    if errors:
        raise errors[0]
    # Without an error every item was worked on, so every result is a B.
    return [future.result() for future in futures]  # type: ignore[misc]
