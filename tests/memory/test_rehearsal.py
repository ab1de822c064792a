"""What a build is expected to ask of chat models, against what it asks."""

from __future__ import annotations

import pytest

import segviz
from segviz.embedding import HashingEmbedder
from segviz.llm import Price
from segviz.memory import make_system, rehearse
from segviz.tree import total_cost
from tests.llm.conftest import Bench, bench, endpoint, server  # noqa: F401
from tests.llm.server import say
from tests.trees import small_chat

MODELS = {"compatibility": "batch", "annotate": "llm"}


def expected(system: str = "segment-tree", **settings: object):
    made = make_system(system, **settings)
    return rehearse(small_chat(), made, "turn", HashingEmbedder(), 3_000, {})[0]


@pytest.mark.parametrize(
    ("system", "settings"),
    [
        ("segment-tree", MODELS),
        ("segment-tree", {**MODELS, "compatibility": "pointwise", "refresh": "joined"}),
        ("xmemory", {"annotate": "llm", "tasks": "llm"}),
    ],
)
def test_as_many_calls_are_expected_as_a_model_is_asked_whose_answers_are_not_used(
    bench: Bench,  # noqa: F811
    system: str,
    settings: dict[str, str],
):
    bench.server.fault = lambda request: say("...")
    memory = segviz.build(
        small_chat(), system, "turn", embedder=HashingEmbedder(), chat=bench.chat(), **settings
    )
    found = expected(system, **settings)
    assert found.calls == total_cost(memory.steps).calls > 0
    assert 0 < found.tokens_out < found.tokens_in


def test_an_offline_build_asks_nothing():
    assert expected().calls == 0


def test_money_needs_a_price():
    found = expected(**MODELS)
    assert found.dollars(None) is None
    assert found.dollars(Price(1.0, 0.0)) == pytest.approx(found.tokens_in / 1e6)
