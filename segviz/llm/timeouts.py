"""Runs requests in threads, so that the caller can watch the wait and end it.

Nothing ends a thread that is blocked in a socket. The thread of a cancelled request is a
daemon that ends with the reply, which is still kept, or with the timeout. It sends no other
request.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")

TICK = 0.2
"""Seconds between two calls of a heartbeat."""

_BEAT: ContextVar[Callable[[], None]] = ContextVar("beat", default=lambda: None)
_CANCELLED: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


class CancelledError(BaseException):
    """Request whose caller has gone."""


@contextmanager
def heartbeat(beat: Callable[[], None]) -> Iterator[None]:
    """Calls ``beat`` in this thread every TICK seconds while a model is waited for.

    An exception that ``beat`` raises ends the wait. A request under way is then left alone;
    its server may still charge for it.
    """
    token = _BEAT.set(beat)
    try:
        yield
    finally:
        _BEAT.reset(token)


def check_cancelled() -> None:
    """Raises CancelledError if nobody waits for this thread's requests any more."""
    cancelled = _CANCELLED.get()
    if cancelled is not None and cancelled.is_set():
        raise CancelledError


def in_parallel(work: Callable[[A], B], items: Sequence[A], workers: int) -> list[B]:
    """Returns ``work`` of every item, in order, with at most ``workers`` at a time.

    When one fails no other is begun, and those under way finish.

    Raises: the first error, in the order of the items; or what the heartbeat raises.
    """
    todo = deque(enumerate(items))
    results: dict[int, B] = {}
    errors: dict[int, BaseException] = {}
    cancelled = threading.Event()

    def run() -> None:
        _CANCELLED.set(cancelled)
        while todo:
            try:
                place, item = todo.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[place] = work(item)
            except BaseException as error:  # raised below, in the thread of the caller
                errors[place] = error
                todo.clear()

    threads = [
        threading.Thread(target=run, name="segviz-model", daemon=True)
        for _ in range(min(workers, len(items)))
    ]
    try:
        _join(threads)
    except BaseException:
        cancelled.set()
        todo.clear()
        raise
    if errors:
        raise errors[min(errors)]
    return [results[place] for place in range(len(items))]


def waited_for(work: Callable[[], A]) -> A:
    """Runs ``work`` in a thread; returns its result or raises its exception.

    The caller's heartbeat can stop waiting if it never ends.
    """
    return in_parallel(lambda _: work(), (None,), 1)[0]


def _join(threads: Sequence[threading.Thread]) -> None:
    """Starts the threads and waits for their ends, with a heartbeat."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TICK)
        while thread.is_alive():
            _BEAT.get()()
            thread.join(TICK)
