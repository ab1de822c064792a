"""Waiting for a server so that the wait can be watched, bounded and given up.

A socket's timeout bounds the silence between two bytes, not a reply that comes a byte at a
time, and nothing ends a thread that is blocked in a socket. So requests run in threads of
their own, and whoever waits for one looks up several times a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

TICK = 0.2
"""Seconds between two looks."""

_BEAT: ContextVar[Callable[[], None] | None] = ContextVar("beat", default=None)


@contextmanager
def heartbeat(beat: Callable[[], None]) -> Iterator[None]:
    """Have ``beat`` called, in this thread, every TICK seconds while a model is waited for.

    What ``beat`` raises ends the wait within a TICK, be it for a reply, between two tries or
    for several requests at once. A request under way is then abandoned; its server may
    still charge for it.
    """
    token = _BEAT.set(beat)
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


def wait_all(futures: Collection[Future[Any]]) -> None:
    """Until all are done, with a heartbeat."""
    while wait_for(futures, timeout=TICK).not_done:
        _look_up()


def within(seconds: float, work: Callable[[], T]) -> T:
    """What ``work`` returns or raises; TimeoutError when it takes longer than ``seconds``.

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
