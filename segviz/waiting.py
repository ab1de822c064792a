"""Runs requests to models in threads, so that the caller can watch the wait and end it.

Nothing can end a thread that waits for a server. When the caller cancels, the thread goes on until
the reply, which is still cached, or until the timeout. It sends no other request, and does not
keep the program alive.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")

TICK = 0.2
"""Seconds between two calls of the function that watches a wait."""

_BEAT: ContextVar[Callable[[], None]] = ContextVar("beat", default=lambda: None)
_CANCELLED: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


class CancelledError(BaseException):
    """Error that ends a thread before its next request, because the caller waits no longer."""


@contextmanager
def heartbeat(beat: Callable[[], None]) -> Iterator[None]:
    """Has ``beat`` called every TICK seconds while the code of this context waits for a model.

    ``beat`` is called in the waiting thread. An exception that it raises ends the wait. A request
    under way is then left alone; its server may still charge for it.
    """
    token = _BEAT.set(beat)
    try:
        yield
    finally:
        _BEAT.reset(token)


def check_cancelled() -> None:
    """Raises CancelledError if the caller of this thread's requests waits no longer."""
    cancelled = _CANCELLED.get()
    if cancelled is not None and cancelled.is_set():
        raise CancelledError


def in_parallel(work: Callable[[A], B], items: Sequence[A], workers: int) -> list[B]:
    """Calls a function for every item in parallel threads.

    When one call fails no other begins, and those under way finish. Where no thread can start, as
    in Python in a browser, the calls are made one after the other and nothing watches them.

    Args:
        work: the function.
        items: the items.
        workers: maximum number of threads.

    Returns:
        The results in the order of the items.

    Raises:
        BaseException: The first error of ``work`` in the order of the items, or the error with
            which the function in ``heartbeat`` ended the wait.
    """
    todo = deque(enumerate(items))
    results: dict[int, B] = {}
    errors: dict[int, BaseException] = {}
    cancelled = threading.Event()

    def run() -> None:
        """Works on the items until none is left or one fails."""
        _CANCELLED.set(cancelled)
        _BEAT.set(check_cancelled)  # a wait inside this thread ends with it
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

    try:
        threads = _started(run, min(workers, len(items)))
        for thread in threads:
            thread.join(TICK)
            while thread.is_alive():
                _BEAT.get()()
                thread.join(TICK)
    except BaseException:
        cancelled.set()
        todo.clear()
        raise
    if errors:
        raise errors[min(errors)]
    return [results[place] for place in range(len(items))]


def _started(run: Callable[[], None], count: int) -> list[threading.Thread]:
    """Starts threads that call ``run``; calls it here if no thread can start."""
    threads: list[threading.Thread] = []
    with suppress(RuntimeError):  # can't start new thread
        for _ in range(count):
            thread = threading.Thread(target=run, name="segviz-model", daemon=True)
            thread.start()
            threads.append(thread)
    if not threads:
        copy_context().run(run)  # which sets variables of its thread
    return threads


def waited_for(work: Callable[[], A]) -> A:
    """Calls ``work`` in a thread and returns its result or raises its error.

    So the function in the caller's ``heartbeat`` can end a wait for work that never ends.
    """
    (result,) = in_parallel(lambda _: work(), (None,), workers=1)
    return result
