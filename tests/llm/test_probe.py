"""What a test of a server finds."""

from dataclasses import replace

import pytest

from segviz.llm.endpoint import at
from segviz.llm.probe import probe
from tests.llm import server as wire
from tests.llm.conftest import Bench


def test_a_server_that_keeps_to_a_schema_and_tells_its_context(bench: Bench):
    bench.server.models = [{"id": "small", "meta": {"n_ctx_train": 32_768}}, {"id": "other"}]
    bench.server.delay = 0.05
    found = probe(bench.endpoint)
    assert (found.models, found.schema, found.context) == (
        ("small", "other"),
        "json_schema",
        32_768,
    )
    assert found.writes
    assert 0 < found.writes < 100
    assert found.seconds(1_000, 100) > 1
    assert found.problem == ""
    told = dict(found.lines)
    assert told["Context"] == "32,768 tokens"
    assert "Problem" not in told


def test_a_slow_server_is_measured_by_what_it_writes_in_the_time(bench: Bench):
    bench.server.script(wire.Fault(text="one two three " * 20, drip=0.25))  # 15 s in all
    found = probe(bench.endpoint)
    assert found.problem == ""
    assert found.writes == pytest.approx(4, rel=0.4)
    assert found.reads


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "schema"), [('{ "label": "pear" } ', "json_schema"), ("a cherry ", "ignored")]
)
def test_the_beginning_of_a_reply_shows_if_a_schema_is_obeyed(bench: Bench, said: str, schema: str):
    bench.server.fault = lambda r: wire.Fault(text=said * 9, drip=1.2) if wire.enum(r) else None
    assert probe(bench.endpoint).schema == schema


def test_a_server_that_answers_in_one_piece_is_measured_too(bench: Bench):
    bench.server.streams = False
    bench.server.delay = 0.1
    bench.server.answer = lambda request: "one " * 30
    found = probe(bench.endpoint)
    assert 30 < (found.writes or 0) < 300
    assert found.reads


def test_each_test_asks_what_the_server_has_not_read_before(bench: Bench):
    probe(bench.endpoint)
    probe(bench.endpoint)
    read = ["".join(m["content"] for m in r["messages"]) for r in bench.server.chats]
    timed = [text for text in read if "fruit" in text]
    assert len({*timed}) == len(timed) >= 4


@pytest.mark.slow
def test_a_server_that_says_nothing_in_time_may_be_loading_its_model(bench: Bench):
    bench.server.delay = 20
    assert "load its model" in probe(bench.endpoint).problem


def test_a_stream_that_opens_late_is_slow_and_not_empty(bench: Bench):
    bench.server.script(wire.Fault(hang=2.0, drip=0.2))  # cut off after its opening event
    assert "busy" in probe(bench.endpoint).problem


def test_a_server_that_ignores_a_schema_or_takes_none(bench: Bench):
    bench.server.fault = lambda r: wire.say("cherry") if wire.enum(r) else None
    assert probe(bench.endpoint).schema == "ignored"
    bench.server.fault = lambda r: (
        wire.refuse("response_format") if "response_format" in r else None
    )
    bench.server.answer = lambda request: "apple"
    assert probe(bench.endpoint).schema == "none"


def test_without_a_model_only_the_list_is_asked_for(bench: Bench):
    bench.server.models = [{"id": "small"}]
    assert probe(replace(bench.endpoint, model="")).models == ("small",)
    assert bench.server.requests == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://localhost:9"])
def test_no_server_is_said(bench: Bench, url: str):
    found = probe(replace(bench.endpoint, base_url=url))
    assert "that the server is running" in found.problem
    assert found.seconds(1, 1) is None
    assert found.lines == [("Problem", found.problem)], "what it hides is not listed as unknown"


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://localhost:8080/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://127.evil.example/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_an_address_on_this_machine_has_the_limits_of_a_local_server(address: str, local: bool):
    found = at(address)
    assert found.local is local
    assert ((found.timeout, found.concurrency) == (240, 1)) is local
