"""Maintenance of segment trees: nothing is lost, time is kept, each undone exactly."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import segviz
from segviz.contract import trace
from segviz.embedding import HashingEmbedder
from segviz.systems.common.draft import Draft
from segviz.systems.segment_tree.maintenance import compress
from segviz.tree import Link, Relate, Retire, Step, Unlink
from segviz.tree.invariants import INVARIANTS, check
from segviz.tree.shape import shape
from tests.benchmarks.synthetic import conversation
from tests.trees import chain, chat

AFTER = "maintained-segment-tree"


@pytest.fixture(scope="module")
def talk():
    return segviz.build(conversation(120), unit="turn", embedder=HashingEmbedder())


def coverage(memory):
    structure = memory.structure
    return structure.coverage(structure.roots[0])


def texts_of_spans(structure):
    """The text seen at each distinct span."""
    return {
        (int(structure.start[n]), int(structure.stop[n])): structure.text[n]
        for n in np.flatnonzero(structure.active).tolist()
    }


class TestLaws:
    def test_a_segment_tree_obeys_the_weaker_laws(self, talk):
        for step in range(len(talk.steps) + 1):
            assert check(talk.at(step), AFTER) == []

    def test_they_come_with_the_operation_and_go_with_undo(self, talk):
        after = talk.operate("compress")
        assert (talk.laws, after.laws) == ("segment-tree", AFTER)
        twice = after.operate("merge_duplicates")
        assert twice.undo().laws == AFTER
        assert twice.undo().undo().laws == "segment-tree"
        assert check(after.structure, "segment-tree") != []
        assert AFTER in INVARIANTS


class TestCompress:
    def test_no_single_child_stays_and_every_span_keeps_its_text(self, talk):
        before, after = talk.structure, talk.operate("compress")
        assert after.check() == []
        lost = shape(before).unary
        assert lost > 0
        assert shape(after.structure).unary == 0
        assert int(after.structure.active.sum()) == int(before.active.sum()) - lost
        assert texts_of_spans(after.structure) == texts_of_spans(before)
        assert coverage(after) == coverage(talk)

    def test_retrieval_counts_spans_once_so_leaf_scores_stay(self, talk):
        after = talk.operate("compress")
        one = talk.ask("telescope", policy="none", relevance="dense")
        other = after.ask("telescope", policy="none", relevance="dense")
        assert [e.span for e in one.evidence] == [e.span for e in other.evidence]

    @pytest.mark.slow
    def test_a_chain_of_100_000_nodes(self):
        n = 100_000
        draft = Draft.of(chain(n), HashingEmbedder())
        assert compress(draft) == n - 1
        assert draft.of_kind("") == [0]

    def test_twice_changes_nothing(self, talk):
        once = talk.operate("compress")
        assert once.operate("compress").steps[-1].events == ()


class TestRebuild:
    def test_the_rest_of_the_tree_is_not_touched(self, talk):
        before = talk.structure
        root = before.roots[0]
        node = max(before.children[root], key=lambda n: len(before.coverage(n)))
        memory = talk.operate("rebuild", node=node)
        after = memory.structure
        assert memory.check() == []
        assert after.coverage(node) == before.coverage(node)
        assert after.children[root] == before.children[root]
        for other in before.children[root]:
            if other != node:
                assert after.children[other] == before.children[other]
                assert after.text[other] == before.text[other]

    def test_it_is_what_inserting_its_units_alone_gives(self, talk):
        memory = talk.operate("rebuild", node=talk.structure.roots[0])
        assert shape(memory.structure).branching == shape(talk.structure).branching
        assert shape(memory.structure).max_depth == shape(talk.structure).max_depth
        assert texts_of_spans(memory.structure) == texts_of_spans(talk.structure)

    def test_what_cannot_be_rebuilt_is_told(self, talk):
        leaf = talk.structure.leaves[0]
        with pytest.raises(ValueError, match="1 leaf"):
            talk.operate("rebuild", node=leaf)
        with pytest.raises(ValueError, match="not in the tree"):
            talk.operate("rebuild", node=10**6)


class TestDuplicates:
    def repeated(self):
        said = ["I lost my keys.", "i lost  MY keys.", "I lost my keys.", "Look in the fridge."]
        return segviz.build(
            chat([[("Ada", text) for text in said]]), unit="turn", embedder=HashingEmbedder()
        )

    def test_repeated_siblings_become_one_leaf_over_all_units(self):
        memory = self.repeated()
        siblings = {memory.structure.parents[leaf] for leaf in memory.structure.leaves[:3]}
        assert len(siblings) == 1
        after = memory.operate("merge_duplicates")
        assert after.check() == []
        assert coverage(after) == (0, 1, 2, 3)
        assert len(after.structure.leaves) == 2
        leaf = after.structure.leaves[0]
        assert (after.structure.start[leaf], after.structure.stop[leaf]) == (0, 3)
        assert after.turn_ids(leaf) == ("D1:1", "D1:2", "D1:3")
        assert after.structure.text[leaf].count("\n") == 1
        assert after.ask("keys", levels=(0,)).evidence[0].turn_ids == after.turn_ids(leaf)

    def test_different_texts_stay_at_100_percent(self, talk):
        assert talk.operate("merge_duplicates").steps[-1].events == ()

    def test_lower_similarity_merges_more_and_loses_no_line(self, talk):
        after = talk.operate("merge_duplicates", percent=50)
        assert after.check() == []
        assert len(after.structure.leaves) < len(talk.structure.leaves)
        assert coverage(after) == coverage(talk)
        held = {
            line
            for leaf in after.structure.leaves
            for line in after.structure.text[leaf].split("\n")
        }
        assert held == {line for unit in talk.units for line in unit.text.split("\n")}

    @pytest.mark.parametrize("percent", [0, 49, 101])
    def test_similarity_has_a_range(self, talk, percent):
        with pytest.raises(ValueError, match="between 50 and 100"):
            talk.operate("merge_duplicates", percent=percent)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_any_order_of_operations_keeps_the_laws_and_every_unit(seed):
    rng = random.Random(seed)
    memory = start = segviz.build(
        conversation(rng.randrange(2, 50)),
        unit="turn",
        embedder=HashingEmbedder(),
        compatibility={"name": "cosine", "threshold": rng.choice([0.1, 0.2, 0.3])},
    )
    done = 0
    for _ in range(4):
        name = rng.choice(list(memory.model.operations()))
        arguments = {}
        if name == "rebuild":
            arguments = {"node": rng.choice(np.flatnonzero(memory.structure.active).tolist())}
        elif name == "merge_duplicates":
            arguments = {"percent": rng.choice([50, 70, 100])}
        try:
            memory = memory.operate(name, **arguments)
        except ValueError as error:
            assert "leaf" in str(error)
            continue
        done += 1
        assert memory.check() == []
        assert coverage(memory) == coverage(start)
    for _ in range(done):
        memory = memory.undo()
    assert [*map(trace, memory.steps)] == [*map(trace, start.steps)]
    assert memory.laws == start.laws


def test_operations_are_saved(talk, tmp_path):
    memory = talk.operate("merge_duplicates", percent=50).operate("compress")
    memory.save(tmp_path / "m.json")
    again = segviz.open(tmp_path / "m.json", embedder=HashingEmbedder())
    assert again.laws == AFTER
    assert again.undo().undo().laws == "segment-tree"
    kinds = {type(event) for event in again.steps[-1].events}
    assert kinds == {Unlink, Link, Retire}


def test_a_step_of_an_operation_that_is_gone_still_opens(talk, tmp_path):
    first, *_, last = talk.structure.leaves
    note = "1 pair of distant leaves are linked, 0 no longer."
    events = (Relate(first, last, "recurs", 0.5),)
    linked = Step(talk.units[-1], note, None, events, operation="link_recurrences")
    replace(talk, steps=(*talk.steps, linked)).save(tmp_path / "m.json")
    again = segviz.open(tmp_path / "m.json", embedder=HashingEmbedder())
    assert again.check() == []
    assert again.structure.relations == events
    assert again.steps[-1].operation == "link_recurrences"
    assert again.ask("keys").evidence
    assert again.undo().structure.relations == ()
