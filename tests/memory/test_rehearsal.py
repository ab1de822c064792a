"""What a build is expected to ask of chat models, against what it asks."""

import pytest

import segviz
from segviz.embedding import HashingEmbedder
from segviz.llm import ChatByRole, ModelCache, OpenAIChat, Price
from segviz.memory import CallEstimate, make_system, rehearse
from segviz.tree import total_cost
from tests.llm.conftest import Bench, bench, endpoint, server  # noqa: F401
from tests.llm.server import enum, say
from tests.trees import chat, small_chat

MODELS = {"compatibility": "batch", "annotate": "llm"}


def expected(system: str = "segment-tree", chat: ChatByRole | None = None, **settings: object):
    made = make_system(system, **settings)
    needed, _ = rehearse(small_chat(), made, "turn", HashingEmbedder(), chat)
    return sum(needed.values(), CallEstimate())


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


def test_the_share_of_retries_so_far_is_part_of_the_estimate(bench: Bench):  # noqa: F811
    """Every text of this model fails its checks once, every label is legal."""
    bench.server.answer = lambda request: (enum(request) or ["Ada told Ben of a boat."])[0]
    chat, made = ChatByRole(bench.chat(), {}), make_system("segment-tree", **MODELS)

    def roles() -> dict[str, CallEstimate]:
        return rehearse(small_chat(), made, "turn", HashingEmbedder(), chat)[0]

    before = roles()
    assert all(each.unmeasured == each.calls for each in before.values())
    bench.server.fault = lambda request: (
        say("...") if request["seed"] == 0 and not enum(request) else None
    )
    segviz.build(small_chat(), made, "turn", embedder=HashingEmbedder(), chat=chat)
    after = roles()
    text, choice = after["annotation"], after["decision"]
    assert text.calls == 2 * before["annotation"].calls == 2 * text.retries
    assert text.tokens_in == 2 * before["annotation"].tokens_in
    assert (choice.calls, choice.retries) == (before["decision"].calls, 0)
    assert not text.unmeasured + choice.unmeasured
    with ModelCache(bench.path) as other:  # another process knows the share, too
        assert OpenAIChat(bench.endpoint, other).tries("annotate").requests > 0


def test_an_offline_build_asks_nothing():
    assert expected().calls == 0
    # Only the first leaves of a store of another program are looked at, too.
    talk, said = chat([[("Ann", f"Line {i}") for i in range(520)]]), list[str]()
    store = segviz.provider(lambda turn: said.append(turn.text), print, name="s", texts=said.copy)
    needed, memory = rehearse(talk, store, "turn", HashingEmbedder())
    assert (needed, len(memory.steps)) == ({}, 500)


def test_money_needs_a_price():
    found = expected(**MODELS)
    assert found.dollars(None) is None
    assert found.dollars(Price(1.0, 0.0)) == pytest.approx(found.tokens_in / 1e6)
