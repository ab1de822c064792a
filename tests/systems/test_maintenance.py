"""Maintenance of segment trees: nothing is lost, time is kept, each undone exactly."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import segviz
from segviz.embedding import HashingEmbedder
from segviz.systems.common.draft import Draft
from segviz.systems.segment_tree import recurrences
from segviz.systems.segment_tree.maintenance import compress
from segviz.tree import Link, Relate, Retire, Unlink
from segviz.tree.invariants import LAWS, check
from segviz.tree.shape import shape
from tests.benchmarks.synthetic import conversation
from tests.trees import chat, grown

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

    @pytest.mark.parametrize(
        ("nodes", "edges", "law"),
        [
            ([(0, 0, 1), (0, 2, 3), (1, 0, 3)], [(2, 0), (2, 1)], "tiling"),
            ([(0, 0, 1), (0, 1, 2), (1, 0, 2)], [(2, 1), (2, 0)], "consecutive"),
            ([(0, 0, 1), (0, 1, 2)], [], "one root"),
            ([(0, 0, 1), (1, 0, 1), (1, 0, 1)], [(1, 0), (2, 0)], "one parent"),
            ([(0, 0, 1), (0, 0, 1), (1, 0, 1)], [(2, 0), (2, 1)], "frontier"),
        ],
    )
    def test_each_is_told_when_broken(self, nodes, edges, law):
        assert law in {violation.law for violation in check(grown(nodes, edges), AFTER)}

    def test_they_come_with_the_operation_and_go_with_undo(self, talk):
        after = talk.operate("compress")
        assert (talk.laws, after.laws) == ("segment-tree", AFTER)
        twice = after.operate("merge_duplicates")
        assert twice.undo().laws == AFTER
        assert twice.undo().undo().laws == "segment-tree"
        assert check(after.structure, "segment-tree") != []
        assert AFTER in LAWS


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
    @pytest.mark.slow
    def test_a_chain_of_100_000_nodes(self):
        n = 100_000
        structure = grown([(i, 0, 1) for i in range(n)], [(i + 1, i) for i in range(n - 1)])
        draft = Draft.of(structure, HashingEmbedder())
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

    def test_a_higher_subtree_lifts_what_is_above(self):
        memory = segviz.build(
            conversation(60), unit="turn", embedder=HashingEmbedder(), compatibility="cosine"
        )
        structure = memory.structure
        for node in np.flatnonzero(structure.level > 0).tolist():
            if len(structure.coverage(node)) > 1:
                after = memory.operate("rebuild", node=node)
                assert after.check() == []
                assert coverage(after) == coverage(memory)

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

    def test_lower_likeness_merges_more_and_loses_no_line(self, talk):
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
    def test_likeness_has_a_range(self, talk, percent):
        with pytest.raises(ValueError, match="between 50 and 100"):
            talk.operate("merge_duplicates", percent=percent)


def naive_pairs(rows, least, apart, most):
    """Every pair compared, the best taken first, at most ``most`` at one leaf."""
    n = len(rows)
    found = []
    for one in range(n):
        for other in range(one + apart, n):
            weight = round(float(np.round(rows[other] @ rows[one], 6)), 6)
            if weight >= least:
                found.append((-weight, one, other))
    best = {}
    for other in range(n):
        best[other] = sorted((w, one) for w, one, b in found if b == other)[:most]
    kept = [(w, one, other) for other, pairs in best.items() for w, one in pairs]
    taken = [0] * n
    pairs = []
    for weight, one, other in sorted(kept):
        if taken[one] < most and taken[other] < most:
            taken[one] += 1
            taken[other] += 1
            pairs.append((one, other, -weight))
    return sorted(pairs)


class TestRecurrences:
    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 10**6))
    def test_pairs_equal_comparing_all(self, seed):
        rng = random.Random(seed)
        n, most, apart = rng.randrange(1, 30), rng.randrange(1, 4), rng.randrange(1, 6)
        raw = np.random.default_rng(seed).integers(-3, 4, size=(n, 4)).astype(np.float32)
        norms = np.linalg.norm(raw, axis=1, keepdims=True)
        rows = np.divide(raw, norms, out=np.zeros_like(raw), where=norms > 0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recurrences, "_BLOCK", rng.choice([1, 4, 64]))
            found = recurrences._pairs(rows, np.arange(n), 0.45, apart, most)
        expected = naive_pairs(rows, 0.45, apart, most)
        assert [pair[:2] for pair in found] == [pair[:2] for pair in expected]
        np.testing.assert_allclose([p[2] for p in found], [p[2] for p in expected], atol=2e-6)

    def test_links_are_relations_between_distant_leaves(self, talk):
        after = talk.operate("link_recurrences", percent=20, apart=15, most=2)
        s = after.structure
        assert after.check() == []
        assert after.check(len(talk.steps)) == []
        assert s.relations
        degree = np.zeros(len(s), dtype=int)
        for relation in s.relations:
            assert relation.label == "recurs"
            assert s.level[relation.source] == s.level[relation.target] == 0
            assert s.start[relation.target] - s.start[relation.source] >= 15
            assert relation.weight >= 0.2
            degree[[relation.source, relation.target]] += 1
        assert degree.max() <= 2
        np.testing.assert_array_equal(s.edges, talk.structure.edges)

    def test_again_changes_nothing_and_stricter_removes(self, talk):
        arguments = {"percent": 20, "apart": 15, "most": 2}
        once = talk.operate("link_recurrences", **arguments)
        assert once.operate("link_recurrences", **arguments).steps[-1].events == ()
        none = once.operate("link_recurrences", percent=100, apart=15, most=2)
        assert none.structure.relations == ()
        assert all(isinstance(e, Relate) and not e.weight for e in none.steps[-1].events)

    @pytest.mark.parametrize("wrong", [{"percent": 0}, {"apart": 0}, {"most": 0}, {"most": 65}])
    def test_arguments_have_ranges(self, talk, wrong):
        name = next(iter(wrong))
        with pytest.raises(ValueError, match=name):
            talk.operate("link_recurrences", **wrong)


@settings(max_examples=25, deadline=None)
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
        elif name == "link_recurrences":
            arguments = {"percent": 30, "apart": 2, "most": 2}
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
    assert memory.steps == start.steps
    assert memory.laws == start.laws


def test_operations_are_saved(talk, tmp_path):
    memory = talk.operate("compress").operate("link_recurrences", percent=20, apart=15)
    memory.save(tmp_path / "m.json")
    again = segviz.open(tmp_path / "m.json", embedder=HashingEmbedder())
    assert again.laws == AFTER
    assert again.structure.relations == memory.structure.relations
    assert again.undo().undo().laws == "segment-tree"
    kinds = {type(event) for event in again.steps[-2].events}
    assert kinds == {Unlink, Link, Retire}
