"""Waiting for a model can be watched, and ended when nobody wants the answer."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from segviz.llm import OpenAIChat, OpenAIEmbedder, Prompt
from segviz.waiting import check_cancelled, heartbeat, in_parallel, waited_for
from tests.llm import server as wire
from tests.llm.conftest import Bench

PROMPTS = [Prompt("s", f"unit {number}") for number in range(6)]


class ClickedError(BaseException):
    """Stands for what a user interface raises to end a run."""


def after(looks: int) -> Callable[[], None]:
    """A heartbeat that gives up after so many looks."""
    left = iter(range(looks))

    def beat() -> None:
        if next(left, None) is None:
            raise ClickedError

    return beat


@contextmanager
def promptly(seconds: float = 8.0) -> Iterator[None]:
    """Far below the waits in these tests, which all last longer than 10 s."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


WAITS = {
    "a long Retry-After": wire.status(429, retry_after="60"),
    "a silent server": wire.hang(30),
    "a slow reply": wire.Fault(drip=1.0),
}


@pytest.mark.parametrize("name", WAITS)
def test_a_heartbeat_ends_any_wait(bench: Bench, name: str):
    bench.server.fault = lambda request: WAITS[name]
    bench.server.answer = lambda request: "a long answer"
    endpoint = bench.chat(timeout=30, concurrency=2).endpoint
    chat, embedder = OpenAIChat(endpoint, bench.cache), OpenAIEmbedder(endpoint, bench.cache)
    for work in (
        lambda: chat.reply(PROMPTS[0]),
        lambda: chat.replies(PROMPTS),
        lambda: embedder.embed([prompt.user for prompt in PROMPTS]),
    ):
        with promptly(), pytest.raises(ClickedError), heartbeat(after(2)):
            work()
    assert len(bench.server.requests) <= 4, "those not yet begun are not sent"


def test_a_heartbeat_beats_only_while_it_is_wanted(bench: Bench):
    bench.server.delay = 0.5
    looks: list[str] = []
    with heartbeat(lambda: looks.append(threading.current_thread().name)):
        bench.chat(timeout=5).replies(PROMPTS[:2])
    assert len(looks) >= 2
    assert set(looks) == {threading.current_thread().name}
    bench.chat(timeout=5).reply(PROMPTS[2])
    assert len(looks) <= 6


def test_a_cancelled_request_is_kept_when_its_reply_comes_and_sends_no_other(bench: Bench):
    before = set(threading.enumerate())
    bench.server.delay = 0.6
    bench.server.script(None, wire.empty())
    for prompt in PROMPTS[:2]:
        with pytest.raises(ClickedError), heartbeat(after(0)):
            bench.chat().reply(prompt)
    until = time.monotonic() + 30
    while any(thread.name == "segviz-model" for thread in {*threading.enumerate()} - before):
        assert time.monotonic() < until, "the request goes on"
        time.sleep(0.05)
    assert bench.cache.counts() == (1, 0)
    assert len(bench.server.requests) == 2


def test_other_errors_are_raised_in_the_order_of_the_items():
    with pytest.raises(KeyError, match="1"):
        in_parallel(lambda item: {0: "a"}[item], [0, 1, 2], 1)
    assert in_parallel(str, [1, 2, 3], 2) == ["1", "2", "3"]
    assert in_parallel(str, [], 2) == []


def test_a_wait_inside_a_cancelled_thread_ends_too():
    begun, ended = threading.Event(), threading.Event()

    def inner() -> None:
        begun.set()
        while True:
            check_cancelled()
            time.sleep(0.01)

    def outer() -> None:
        try:
            waited_for(inner)
        finally:
            ended.set()

    def beat() -> None:
        if begun.is_set():
            raise ClickedError

    with pytest.raises(ClickedError), heartbeat(beat):
        waited_for(outer)
    assert ended.wait(8)
