"""The permutation experiment against its definition, question by question."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import segviz
from segviz.conversation import Question, reordered
from segviz.conversation.swaps import swapped
from segviz.embedding import HashingEmbedder
from segviz.evaluate import evaluate
from segviz.evaluate.permutation import permutation
from tests.trees import chat, small_chat


@settings(deadline=None)
@given(st.integers(0, 200), st.floats(0, 1), st.integers(0, 5))
def test_disjoint_pairs_change_places(count, share, seed):
    order = swapped(count, share, seed)
    assert sorted(order) == list(range(count))
    moved = [place for place, unit in enumerate(order) if unit != place]
    assert all(order[order[place]] == place for place in range(count))
    assert len(moved) == 2 * int(share * count / 2 + 1e-9)
    assert order == swapped(count, share, seed)


def test_any_two_places_may_be_paired():
    distances = [
        abs(place - unit)
        for seed in range(40)
        for place, unit in enumerate(swapped(30, 0.3, seed))
        if place != unit
    ]
    # The mean distance of two random places is a third of the length.
    assert np.mean(distances) == pytest.approx(31 / 3, rel=0.15)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_outside_is_refused(share):
    with pytest.raises(ValueError, match="share is"):
        swapped(10, share, 0)


@pytest.mark.parametrize("rule", ["turn", "exchange"])
def test_units_are_the_same_in_another_order(rule):
    plain = small_chat()
    moved = reordered(plain, 1.0, 3)
    before, after = plain.units(rule), moved.units(rule)
    assert sorted(u.text for u in before) == sorted(u.text for u in after)
    assert [u.text for u in before] != [u.text for u in after]
    assert [(u.index, u.session, u.time) for u in before] == [
        (u.index, u.session, u.time) for u in after
    ]
    said = {u.turn_ids: u.text for u in before}
    assert all(said[u.turn_ids] == u.text for u in after)


def talk():
    things = ("bicycle", "bread", "telescope", "garden")
    turns = [
        [("Ada", f"Today the {things[s]} number {i} is {7 * i + s} days old.") for i in range(6)]
        for s in range(4)
    ]
    questions = [
        Question(
            s, f"How old is {things[s]} number {s}?", str(7 * s + s), 1, (f"D{s + 1}:{s + 1}",)
        )
        for s in range(4)
    ]
    return chat(turns, [*questions, Question(4, "Nothing to find?", None, 2, ())])


BUILDERS = {
    name: partial(segviz.build, system=name, unit="turn", embedder=HashingEmbedder())
    for name in ("segment-tree", "clustering", "bm25")
}


def test_losses_are_means_of_paired_differences():
    conversation, seeds, setting = talk(), (0, 1), ("both", 0.3, 2)
    found = permutation(
        [conversation, conversation], BUILDERS, seeds=seeds, settings=[setting], k=3, units=3
    )
    drops = {}
    for name, build in BUILDERS.items():

        def recalls(given, build=build):
            found = evaluate(
                build(given),
                conversation.questions,
                policy="both",
                alpha=0.3,
                horizon=2,
                k=3,
                units=3,
                relevance="hybrid",
            )
            recall = found.outcomes.column("recall")
            return recall[~np.isnan(recall)]

        original = recalls(conversation)
        permuted = np.mean([recalls(reordered(conversation, 0.3, s)) for s in seeds], axis=0)
        drops[name] = original - permuted
        (row,) = [r for r in found.losses if (r.system, r.measure) == (name, "recall")]
        assert row.original.value == pytest.approx(original.mean())
        assert row.permuted.value == pytest.approx(permuted.mean())
        assert row.loss.value == pytest.approx(drops[name].mean())
        assert row.loss.n == 2 * len(original) == 8
        assert row.loss.low <= row.loss.value <= row.loss.high
    for other in ("clustering", "bm25"):
        (row,) = [d for d in found.differences if (d.second, d.measure) == (other, "recall")]
        assert row.first == "segment-tree"
        assert row.more.value == pytest.approx((drops["segment-tree"] - drops[other]).mean())


def test_a_flat_memory_loses_nothing_and_no_swap_loses_nothing():
    found = permutation(
        [talk()], BUILDERS, settings=[("none", 0.0, 0)], seeds=(0,), relevance="dense"
    )
    flat = [row for row in found.losses if row.system == "bm25" and row.measure == "recall"]
    assert flat[0].loss.value == 0
    still = permutation([talk()], BUILDERS, share=0, seeds=(0,))
    assert {row.loss.value for row in still.losses} == {0}


def test_no_seeds_is_refused():
    with pytest.raises(ValueError, match="seeds is empty"):
        permutation([talk()], BUILDERS, seeds=())
