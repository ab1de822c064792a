"""The permutation experiment against its definition, question by question."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.conversation import Question, reordered
from segviz.conversation.conversation import swapped
from segviz.embedding import HashingEmbedder
from segviz.evaluation import evaluate
from segviz.evaluation.bench import Bench
from segviz.evaluation.paper_tables import losses
from tests.trees import chat, small_chat


@given(st.integers(0, 200), st.floats(0, 1), st.integers(0, 5))
def test_disjoint_pairs_change_places(count, share, seed):
    order = swapped(count, share, seed)
    assert sorted(order) == list(range(count))
    moved = [place for place, unit in enumerate(order) if unit != place]
    assert all(order[order[place]] == place for place in range(count))
    assert len(moved) == 2 * int(share * count / 2 + 1e-9)
    assert order == swapped(count, share, seed)


@pytest.mark.parametrize("rule", ["turn", "exchange"])
def test_units_are_the_same_in_another_order(rule):
    plain = small_chat()
    moved = reordered(plain, 1.0, 3)
    before, after = plain.units(rule), moved.units(rule)
    assert sorted(u.text for u in before) == sorted(u.text for u in after)
    assert [u.text for u in before] != [u.text for u in after]
    places = [[(u.index, u.session, u.time) for u in units] for units in (before, after)]
    assert places[0] == places[1]
    said = {u.turn_ids: u.text for u in before}
    assert all(said[u.turn_ids] == u.text for u in after)


def talk():
    things = ("bicycle", "bread", "telescope", "garden")
    turns = [
        [("Ada", f"Today the {things[s]} number {i} is {7 * i + s} days old.") for i in range(6)]
        for s in range(4)
    ]
    questions = [
        Question(s, f"How old is {thing} number {s}?", f"{8 * s}", 1, (f"D{s + 1}:{s + 1}",))
        for s, thing in enumerate(things)
    ]
    return chat(turns, [*questions, Question(4, "Nothing to find?", None, 2, ())])


VARIANTS = {name: (name, {}) for name in ("segment-tree", "clustering", "bm25")}


def bench(*talks):
    return Bench(talks, "turn", HashingEmbedder())


def test_losses_are_means_of_paired_differences():
    conversation, seeds = talk(), (0, 1)
    asked = {"policy": "both", "alpha": 0.3, "horizon": 2, "k": 3, "units": 3}
    asked["relevance"] = "hybrid"
    found = losses(bench(conversation, conversation), VARIANTS, seeds, **asked)
    for name, (whole, moved) in found.items():

        def recalls(given, name=name):
            memory = segviz.build(given, name, "turn", embedder=HashingEmbedder())
            recall = evaluate(memory, conversation.questions, **asked).outcomes.column("recall")
            return recall[~np.isnan(recall)]

        original = recalls(conversation)
        permuted = np.mean([recalls(reordered(conversation, 0.3, s)) for s in seeds], axis=0)
        loss = whole.gain(moved, "recall")
        assert whole.mean("recall").value == pytest.approx(original.mean())
        assert moved.mean("recall").value == pytest.approx(permuted.mean())
        assert loss.value == pytest.approx((original - permuted).mean())
        assert loss.n == 2 * len(original) == 8
        assert loss.low <= loss.value <= loss.high


def test_a_flat_memory_loses_nothing_and_no_swap_loses_nothing():
    found = losses(bench(talk()), VARIANTS, (0,), policy="none", relevance="dense")
    whole, moved = found["bm25"]
    assert whole.gain(moved, "recall").value == 0
    for whole, moved in losses(bench(talk()), VARIANTS, (0,), share=0).values():
        assert {whole.gain(moved, name).value for name in ("recall", "reached", "quoted")} == {0}


def test_no_seeds_and_a_share_outside_are_refused():
    with pytest.raises(ValueError, match="seeds is empty"):
        losses(bench(talk()), VARIANTS, ())
    for share in (-0.1, 1.1):
        with pytest.raises(ValueError, match="share is"):
            swapped(10, share, 0)
