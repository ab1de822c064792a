"""What a test of a server finds."""

from __future__ import annotations

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
