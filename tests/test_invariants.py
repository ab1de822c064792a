from dataclasses import replace

import numpy as np
import pytest

from segviz.invariants import LAWS, check
from tests.trees import grown, toy


def changed(structure, **columns):
    return replace(
        structure, **{k: np.array(v, dtype=getattr(structure, k).dtype) for k, v in columns.items()}
    )


def broken(structure, laws="segment-tree"):
    return {(v.law, v.node) for v in check(structure, laws)}


def test_sound_structures_are_clean():
    for laws in LAWS:
        assert check(toy(), laws) == []
        assert check(grown([], []), laws) == []
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
        assert ("one tree", -1) in broken(grown([(0, 0, 1), (0, 1, 2)], []))

    def test_two_parents(self):
        s = grown([(0, 0, 1), (1, 0, 1), (1, 0, 1), (2, 0, 1)], [(1, 0), (2, 0), (3, 1), (3, 2)])
        assert ("one tree", 0) in broken(s)
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
