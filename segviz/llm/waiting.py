"""Waits for servers, one request or several at once, in a way that can be watched and ended.

A socket's timeout bounds the silence between two bytes, not a reply that comes a byte at a
time, and nothing ends a thread that is blocked in a socket. So requests run in threads of
their own, and whoever waits for one looks up several times a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import TypeVar

from segviz.llm.protocols import LabelError, ModelError

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")

TICK = 0.2
"""Seconds between two looks."""

_BEAT: ContextVar[Callable[[], None] | None] = ContextVar("beat", default=None)


@contextmanager
def heartbeat(beat: Callable[[], None]) -> Iterator[None]:
    """Has ``beat`` called, in this thread, every TICK seconds while a model is waited for.

    What ``beat`` raises ends the wait within a TICK, be it for a reply, between two tries or
    for several requests at once. A request under way is then abandoned; its server may
    still charge for it. The beat of an enclosing ``heartbeat`` goes on.
    """
    outer = _BEAT.get()

    def both() -> None:
        beat()
        if outer is not None:
            outer()

    token = _BEAT.set(both)
    try:
        yield
    finally:
        _BEAT.reset(token)


def _look_up() -> None:
    beat = _BEAT.get()
    if beat is not None:
        beat()


def sleep(seconds: float) -> None:
    """As ``time.sleep``, with a heartbeat."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, TICK))
        _look_up()


def within(seconds: float, work: Callable[[], T]) -> T:
    """Returns what ``work`` returns; TimeoutError when it takes longer than ``seconds``.

    ``work`` runs in a thread of its own, which is left behind when the time is over or the
    heartbeat ends the wait: close what it works on, then it ends too.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # handed to the one who waits
            outcome.set_exception(error)

    until = time.monotonic() + seconds
    threading.Thread(target=run, name="segviz-request", daemon=True).start()
    while not outcome.done():
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if wait_for([outcome], timeout=min(left, TICK)).not_done:
            _look_up()
    return outcome.result()


GIVE_UP_AFTER = 3
"""So many requests may fail before those not yet begun are left: a server that is down
would otherwise be tried for every text of a long conversation."""


class _AbandonedError(Exception):
    """The caller of this request has gone."""


def _guarded(
    work: Callable[[A], B], stop: threading.Event, abandon: threading.Event
) -> Callable[[A], B | None]:
    """Calls ``work`` until too many calls failed (``stop``); ends it when ``abandon`` is set."""
    failures = count(1)  # steps are atomic, so that no lock is needed

    def beat() -> None:
        if abandon.is_set():
            raise _AbandonedError

    def guarded(item: A) -> B | None:
        if stop.is_set():
            return None
        try:
            with heartbeat(beat):
                return work(item)
        except LabelError:
            raise
        except ModelError as error:
            if next(failures) >= GIVE_UP_AFTER or error.for_all:
                stop.set()
            raise
        except BaseException:
            stop.set()
            raise

    return guarded


def in_parallel(work: Callable[[A], B], items: Sequence[A], workers: int) -> list[B]:
    """Returns ``work`` of every item, in order, with at most ``workers`` at a time.

    When one fails the others still run to their end, unless the failure holds for all of
    them (a refused key) or too many fail; those under way always finish. Then the first
    ModelError, in the order of the items, is raised. What a heartbeat raises ends those
    under way too.
    """
    stop, abandon = threading.Event(), threading.Event()
    guarded = _guarded(work, stop, abandon)
    pool = ThreadPoolExecutor(1 if len(items) <= 1 else workers, thread_name_prefix="segviz-model")
    futures: list[Future[B | None]] = []
    try:
        futures = [pool.submit(guarded, item) for item in items]
        while wait_for(futures, timeout=TICK).not_done:
            _look_up()
    except BaseException:
        abandon.set()
        raise
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
    errors = [error for error in (future.exception() for future in futures) if error]
    if errors:
        raise errors[0]
    # Without an error every item was worked on, so every result is a B.
    return [future.result() for future in futures]  # type: ignore[misc]
