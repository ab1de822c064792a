from dataclasses import replace

import numpy as np
import pytest

from segviz.tree.invariants import INVARIANTS, check
from tests.trees import grown, toy


def changed(structure, **columns):
    return replace(
        structure, **{k: np.array(v, dtype=getattr(structure, k).dtype) for k, v in columns.items()}
    )


def broken(structure, laws="segment-tree"):
    return {(v.invariant, v.node) for v in check(structure, laws)}


def test_sound_structures_are_clean():
    for laws in INVARIANTS:
        assert check(grown([], []), laws) == []
    for laws in ("general", "segment-tree"):
        assert check(toy(), laws) == []
        assert check(grown([(0, 0, 1)], []), laws) == []


def test_unknown_laws_are_named():
    with pytest.raises(ValueError, match="segment-tree"):
        check(toy(), "nonsense")


def test_every_message_names_node_expected_and_found():
    violation = check(changed(toy(), stop=[1, 2, 3, 4, 5, 6, 7, 2, 4, 7, 7]))[0]
    assert str(violation) == "spans: node 7: expected the hull (0, 3) of its children, found (0, 2)"


class TestGeneralLaws:
    def test_column_of_another_length(self):
        assert broken(replace(toy(), text=("x",)), "general") == {("columns", -1)}

    def test_edge_to_nowhere(self):
        assert broken(changed(toy(), edges=[[10, 99]]), "general") == {("columns", -1)}

    def test_edge_upwards(self):
        s = changed(toy(), level=[0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
        assert {("edges", 7), ("edges", 8), ("edges", 9)} <= broken(s, "general")

    def test_repeated_edge(self):
        s = toy()
        doubled = changed(s, edges=[*s.edges.tolist(), [10, 7]])
        assert ("edges", 10) in broken(doubled, "general")

    def test_edge_at_a_retired_node(self):
        assert ("edges", 9) in broken(changed(toy(), active=[True] * 9 + [False, True]), "general")

    def test_inner_node_without_children(self):
        assert ("spans", 1) in broken(grown([(0, 0, 1), (1, 0, 1)], []), "general")

    def test_empty_span(self):
        assert ("spans", 0) in broken(grown([(0, 1, 1)], []), "general")

    def test_vector_with_nan(self):
        s = toy()
        vector = s.vector.copy()
        vector[4, 0] = np.nan
        assert broken(replace(s, vector=vector), "general") == {("vectors", 4)}


class TestSegmentTreeLaws:
    def test_two_roots(self):
        assert ("one root", -1) in broken(grown([(0, 0, 1), (0, 1, 2)], []))

    def test_two_parents(self):
        s = grown([(0, 0, 1), (1, 0, 1), (1, 0, 1), (2, 0, 1)], [(1, 0), (2, 0), (3, 1), (3, 2)])
        assert ("one parent", 0) in broken(s)
        assert check(s, "general") == []

    def test_uneven_levels(self):
        s = grown([(0, 0, 1), (0, 1, 2), (1, 0, 1), (2, 0, 2)], [(2, 0), (3, 2), (3, 1)])
        assert {("levels", 1), ("levels", -1)} <= broken(s)

    def test_leaves_out_of_order(self):
        s = grown([(0, 1, 2), (0, 0, 1), (1, 0, 2)], [(2, 1), (2, 0)])
        assert {("chronology", 0), ("chronology", 1)} <= broken(s)

    def test_children_not_consecutive(self):
        s = grown([(0, 0, 1), (0, 1, 2), (1, 0, 2)], [(2, 1), (2, 0)])
        assert ("consecutive", 2) in broken(s)

    def test_frontier_with_a_gap(self):
        # The newest unit is covered on levels 0 and 2 only.
        s = grown([(0, 0, 1), (0, 1, 2), (2, 0, 2)], [(2, 0), (2, 1)])
        assert ("frontier", -1) in broken(s)


LEAVES = [(0, i, i + 1) for i in range(4)]


class TestLawsOfOtherSystems:
    def test_leaves_of_one_unit_each_in_order(self):
        assert check(grown([(0, 0, 1), (0, 3, 4)], []), "flat") == []
        assert broken(grown([(0, 0, 2)], []), "flat") == {("units", 0)}
        assert broken(grown([(0, 1, 2), (0, 0, 1)], []), "flat") == {("units", 1)}
        assert broken(grown([(0, 1, 2), (0, 1, 2)], []), "flat") == {("units", 1)}

    def test_nothing_above_a_flat_memory(self):
        assert broken(grown([(0, 0, 1), (1, 0, 1)], [(1, 0)]), "flat") == {("flat", 1)}

    def test_three_levels(self):
        gathered = [*LEAVES, (1, 0, 3), (1, 1, 4), (2, 0, 4)]
        edges = [(4, 0), (4, 2), (5, 1), (5, 3), (6, 4), (6, 5)]
        assert check(grown(gathered, edges), "clustering") == []
        assert broken(grown([*LEAVES, (1, 0, 4)], [(4, i) for i in range(4)]), "clustering") == {
            ("three levels", 4)
        }

    def test_topics_have_two_children_and_stand_on_their_height(self):
        rows = [*LEAVES, (1, 0, 2), (2, 0, 3)]
        edges = [(4, 0), (4, 1), (5, 4), (5, 2)]
        assert check(grown(rows, edges), "memtree") == []
        higher = [*LEAVES, (1, 0, 2), (3, 0, 3)]
        assert broken(grown(higher, edges), "memtree") == {("topics", 5)}
        assert broken(grown([(0, 0, 1), (1, 0, 1)], [(1, 0)]), "memtree") == {("topics", 1)}

    def test_a_topic_tree_has_one_parent_each(self):
        rows = [*LEAVES, (1, 0, 2), (1, 0, 3)]
        edges = [(4, 0), (4, 1), (5, 0), (5, 2)]
        assert broken(grown(rows, edges), "memtree") == {("one parent", 0)}

    def test_layers_shrink_and_leave_nobody_out(self):
        rows = [*LEAVES, (1, 0, 2), (1, 1, 3)]
        edges = [(4, 0), (4, 1), (5, 1), (5, 2)]
        # Unit 3 came after the layers were built; unit 1 has two parents.
        assert check(grown(rows, edges), "raptor") == []
        late = [(4, 0), (4, 1), (5, 1), (5, 3)]
        spans = [*LEAVES, (1, 0, 2), (1, 1, 4)]
        assert broken(grown(spans, late), "raptor") == {("layers", 3)}

    def test_a_layer_as_large_as_the_one_below(self):
        rows = [*LEAVES[:2], (1, 0, 1), (1, 1, 2)]
        assert ("layers", -1) in broken(grown(rows, [(2, 0), (3, 1)]), "raptor")

    def test_an_orphan_below_the_top_layer(self):
        rows = [*((0, i, i + 1) for i in range(6)), (1, 0, 2), (1, 2, 4), (1, 4, 6), (2, 0, 4)]
        edges = [(6, 0), (6, 1), (7, 2), (7, 3), (8, 4), (8, 5), (9, 6), (9, 7)]
        assert broken(grown(rows, edges), "raptor") == {("layers", 8)}

    def test_an_edge_over_two_layers(self):
        rows = [*LEAVES[:3], (1, 0, 2), (2, 0, 3)]
        edges = [(3, 0), (3, 1), (4, 3), (4, 2)]
        assert ("levels", 2) in broken(grown(rows, edges), "raptor")
