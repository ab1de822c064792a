"""Replies are streamed: a timeout bounds the silence of the server, not its whole reply."""

import gzip
import json
from dataclasses import replace

import pytest

from segviz.llm import ModelError, Prompt, client
from tests.llm import server as wire
from tests.llm.conftest import Bench

FREE = Prompt("You count.", "Up to twelve.")
CHOICE = Prompt("You choose.", "Join or new?", ("join", "new"))
WORDS = "one two three four five six seven eight nine ten eleven twelve"


def asked_for_streams(bench: Bench) -> list[bool]:
    return [request.get("stream", False) for request in bench.server.requests]


def test_a_server_that_goes_on_writing_may_take_longer_than_the_timeout(bench: Bench):
    bench.server.script(wire.Fault(text=WORDS, drip=0.1))  # 1.5 s in all
    chat = bench.chat(timeout=1, retries=0)
    assert chat.reply(FREE).text == WORDS
    assert (chat.usage.tokens_out, chat.usage.unknown_usage) == (12, 0)
    assert asked_for_streams(bench) == [True]


@pytest.mark.slow
def test_a_silence_between_two_words_is_a_timeout_and_asked_for_again(bench: Bench):
    bench.server.script(wire.Fault(text=WORDS, drip=3))
    chat = bench.chat(timeout=1)
    assert chat.reply(FREE).text.startswith("Answer")
    assert chat.usage.calls == 2
    bench.server.fault = lambda request: wire.Fault(drip=3)
    with pytest.raises(ModelError, match=r"silent for 1 s. Tried 2 times"):
        bench.chat(timeout=1, retries=1).reply(CHOICE)


# What a server in trouble sends in place of the rest.
BROKEN = {
    "hangs up": wire.Fault(text=WORDS, drop=True),
    "ends early": wire.Fault(text=WORDS, cut=0.5),
    "no JSON": wire.Fault(body=b'data: {"choices"\n\ndata: [DONE]\n\n'),
    "no object": wire.Fault(body=b"data: [1]\n\ndata: [DONE]\n\n"),
    "no delta": wire.Fault(body=b'data: {"choices": [{"delta": {"content": [1]}}]}\n\n'),
    "an error": wire.Fault(body=b'data: {"error": {"message": "out of memory"}}\n\n'),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_stream_that_breaks_off_is_no_reply(bench: Bench, name: str):
    bench.server.script(BROKEN[name])
    assert bench.chat().reply(FREE).text.startswith("Answer")
    bench.server.fault = lambda request: BROKEN[name]
    with pytest.raises(ModelError, match="Tried 2 times") as caught:
        bench.chat(retries=1).reply(CHOICE)
    assert ("out of memory" in str(caught.value)) == (name == "an error")
    assert bench.cache.counts() == (1, 0)


def test_a_reply_is_read_alike_in_one_piece_and_as_a_stream(bench: Bench):
    said = "Ада said: “a\u2028b\x85c”,\nthen left.  𝕏"
    bench.server.answer = lambda request: said
    bench.server.streams = False
    whole = bench.chat().reply(FREE)
    bench.cache.clear()
    bench.server.streams = True
    assert bench.chat().reply(FREE) == whole
    assert whole.text == said
    assert asked_for_streams(bench) == [True, True]


@pytest.mark.parametrize("refused", ["stream", "stream_options"])
def test_a_server_that_does_not_stream_or_count_is_asked_for_whole_replies(
    bench: Bench, refused: str
):
    bench.server.refuses = {refused}
    chat = bench.chat(retries=0)
    for prompt in (FREE, CHOICE):
        assert chat.reply(prompt).text
    assert asked_for_streams(bench)[-1] is False
    assert chat.reply(Prompt("", "Once more.")).tokens > 0


DRIP = {
    "a stream": wire.Fault(text=WORDS, drip=0.05),
    "one piece": wire.Fault(body=b"{" * 99, drip=0.05),
}
DRIP["an error"] = wire.Fault(status=400, body=b"{" * 99, drip=0.05)
ENDLESS = {name: replace(fault, drip=0.0) for name, fault in DRIP.items()}


@pytest.mark.parametrize("name", DRIP)
def test_a_reply_that_never_ends_is_given_up_after_some_timeouts(bench: Bench, monkeypatch, name):
    monkeypatch.setattr(client, "_LONGEST", 0.2)
    bench.server.fault = lambda request: DRIP[name]
    said = r"the reply took longer than 0.2 timeouts of 1 s. Tried once. Check that the server"
    with pytest.raises(ModelError, match=said):
        bench.chat(timeout=1, retries=3).reply(CHOICE)


@pytest.mark.parametrize("name", ENDLESS)
def test_a_reply_has_a_largest_size(bench: Bench, monkeypatch, name):
    monkeypatch.setattr(client, "_MOST_BYTES", 90)
    bench.server.fault = lambda request: ENDLESS[name]
    with pytest.raises(ModelError, match=r"the reply was longer than 0 MB. Tried once."):
        bench.chat(timeout=1, retries=3).reply(CHOICE)


def test_a_compressed_reply_has_the_same_largest_size(bench: Bench, monkeypatch):
    monkeypatch.setattr(client, "_MOST_BYTES", 10_000)
    packed = wire.Fault(body=gzip.compress(b" " * 1_000_000), headers={"Content-Encoding": "gzip"})
    bench.server.fault = lambda request: packed
    with pytest.raises(ModelError, match="the reply was longer than"):
        bench.chat(timeout=1, retries=0).reply(CHOICE)


PARTS = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "An"}]
PARTS += [{"type": "text", "text": "swer."}]


@pytest.mark.parametrize("streams", [True, False])
def test_a_reply_in_parts_is_the_text_of_its_parts(bench: Bench, streams: bool):
    if streams:
        events = [{"choices": [{"delta": {"content": [part]}}]} for part in PARTS]
        events += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}]
        body = "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
        headers = {"Content-Type": "text/event-stream"}
    else:
        message = {"role": "assistant", "content": PARTS}
        body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})
        headers = {"Content-Type": "application/json"}
    bench.server.script(wire.Fault(body=body.encode(), headers=headers))
    assert bench.chat(retries=0).reply(FREE).text == "Answer."
