"""Runs requests in threads, so that the caller can watch the wait and end it.

Nothing ends a thread that is blocked in a socket. The thread of a cancelled request is a
daemon that ends with the reply, which is still kept, or with the timeout. It sends no other
request.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import count
from typing import TypeVar

from segviz.llm.protocols import LabelError, ModelError

A = TypeVar("A")
B = TypeVar("B")

TICK = 0.2
"""Seconds between two calls of a heartbeat."""

GIVE_UP_AFTER = 3
"""Number of failed requests after which no further one is begun: a server that is down
would otherwise be tried for every text of a long conversation."""

_BEAT: ContextVar[Callable[[], None] | None] = ContextVar("beat", default=None)
_CANCELLED: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


class CancelledError(BaseException):
    """The caller of this thread's request has gone."""


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
    """Raises CancelledError where nobody waits for this thread's requests any more."""
    cancelled = _CANCELLED.get()
    if cancelled is not None and cancelled.is_set():
        raise CancelledError


def in_parallel(work: Callable[[A], B], items: Sequence[A], workers: int) -> list[B]:
    """Returns ``work`` of every item, in order, with at most ``workers`` at a time.

    When one fails the others still run to their end, unless the failure holds for all of
    them (a refused key) or too many fail; those under way always finish.

    Raises: the first error, in the order of the items; or what the heartbeat raises.
    """
    todo = deque(enumerate(items))
    results: dict[int, B] = {}
    errors: dict[int, BaseException] = {}
    failures = count(1)
    cancelled = threading.Event()

    def run() -> None:
        _CANCELLED.set(cancelled)
        with suppress(IndexError):  # nothing is left to do
            while True:
                place, item = todo.popleft()
                try:
                    results[place] = work(item)
                except LabelError as error:
                    errors[place] = error
                except BaseException as error:  # raised below, in the thread of the caller
                    errors[place] = error
                    for_all = not isinstance(error, ModelError) or error.for_all
                    if next(failures) >= GIVE_UP_AFTER or for_all:
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


def _join(threads: Sequence[threading.Thread]) -> None:
    """Starts the threads and waits for their ends, with a heartbeat."""
    beat = _BEAT.get()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TICK)
        while thread.is_alive():
            if beat is not None:
                beat()
            thread.join(TICK)
