"""Waiting for a model: bounded in all, and given up when nobody wants the answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from segviz.llm import ModelError, OpenAIChat, OpenAIEmbedder, Prompt, waiting
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


@pytest.mark.parametrize("head", [False, True])
def test_a_server_that_sends_a_byte_now_and_then_is_given_up(bench: Bench, head: bool):
    bench.server.script(*[wire.drip(0.1, head)] * 2)
    with promptly(), pytest.raises(ModelError, match=r"not complete within 0.5 s\. Tried 2 times"):
        bench.chat(deadline=0.5, retries=1).reply(PROMPTS[0])
    bench.server.script(wire.drip(0.1, head))
    with promptly():
        assert bench.embedder(deadline=0.5).embed(["a"]).shape == (1, 16)


def test_the_others_go_on_when_one_is_overdue(bench: Bench):
    slow = wire.drip(0.1)
    chat = bench.chat(concurrency=3, deadline=1, retries=0)
    bench.server.fault = lambda r: slow if "unit 3" in r["messages"][-1]["content"] else None
    with promptly(), pytest.raises(ModelError, match="not complete within 1 s"):
        chat.replies(PROMPTS)
    assert bench.cache.counts() == (5, 0)
    assert len(bench.server.requests) == 6


def test_a_request_that_was_given_up_leaves_no_thread_behind(bench: Bench):
    bench.server.script(wire.drip(0.005))
    with pytest.raises(ModelError):
        bench.chat(deadline=0.2, retries=0).reply(PROMPTS[0])
    for _ in range(600):
        if not any(thread.name == "segviz-request" for thread in threading.enumerate()):
            return
        time.sleep(0.05)
    pytest.fail("the request goes on")


WAITS = {
    "a long Retry-After": wire.status(429, retry_after="60"),
    "a silent server": wire.hang(30),
    "a slow reply": wire.drip(1.0),
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
        with promptly(), pytest.raises(ClickedError), waiting.heartbeat(after(2)):
            work()
    assert len(bench.server.requests) <= 4, "those not yet begun are not sent"


def test_a_heartbeat_beats_only_while_it_is_wanted(bench: Bench):
    bench.server.delay = 0.5
    looks: list[str] = []
    with waiting.heartbeat(lambda: looks.append(threading.current_thread().name)):
        bench.chat(timeout=5).replies(PROMPTS[:2])
    assert len(looks) >= 2
    assert set(looks) == {threading.current_thread().name}
    bench.chat(timeout=5).reply(PROMPTS[2])
    assert len(looks) <= 6


def test_sleep_lasts_as_long_as_asked_and_what_fails_is_raised():
    began = time.monotonic()
    waiting.sleep(0.3)
    assert time.monotonic() - began >= 0.3
    with pytest.raises(KeyError):
        waiting.within(1, lambda: {}["a"])
    assert waiting.within(1, lambda: "b") == "b"
