import numpy as np
import pytest

from segviz.evaluate.published import TABLE_5
from segviz.tree import replay
from segviz.tree.shape import (
    Shape,
    boundary_f1,
    diagnose,
    random_f1,
    session_starts,
    shape,
)
from tests.memories import built
from tests.systems.test_segment_tree import run_both
from tests.trees import grown, toy


class TestShape:
    def test_toy_tree_by_hand(self):
        """Node 8 has one child and is left out, so leaf 3 hangs from the root."""
        measured = shape(toy())
        assert (measured.leaves, measured.nodes, measured.unary) == (7, 10, 1)
        assert measured.max_depth == 2
        assert measured.mean_depth == pytest.approx((6 * 2 + 1) / 7)
        assert measured.depth_std == pytest.approx(np.std([2] * 6 + [1]))
        assert measured.branching == pytest.approx((3 + 3 + 3) / 3)
        assert measured.widest == 3
        assert measured.nodes_per_leaf == pytest.approx(10 / 7)

    def test_single_leaf_and_nothing(self):
        one = shape(grown([(0, 0, 1)], []))
        assert (one.leaves, one.nodes, one.max_depth, one.branching) == (1, 1, 0, 0.0)
        assert shape(grown([], [])).nodes_per_leaf == 0

    def test_a_long_chain_is_one_leaf(self):
        n = 5000
        chain = grown([(i, 0, 1) for i in range(n)], [(i + 1, i) for i in range(n - 1)])
        measured = shape(chain)
        assert (measured.nodes, measured.unary, measured.max_depth) == (1, n - 1, 0)


class TestDiagnose:
    def test_a_cascade(self):
        _, steps, _, _ = run_both([None] * 39)
        found = diagnose(shape(replay(steps)))
        assert [t.kind for t in found] == ["cascade"]
        assert "39 levels deep over 40 leaves" in found[0].what

    def test_a_star(self):
        _, steps, _, _ = run_both([0.0] * 79)
        assert [t.kind for t in diagnose(shape(replay(steps)))] == ["star"]

    def test_small_trees_are_not_judged(self):
        _, steps, _, _ = run_both([None] * 15)
        assert diagnose(shape(replay(steps))) == []

    def test_the_papers_shapes_are_healthy(self):
        for row in TABLE_5:
            depth, wide = round(row.max_depth), round(row.branching * 3)
            measured = Shape(row.leaves, row.nodes, 0, depth, 3.0, 0.5, row.branching, wide)
            assert diagnose(measured) == []


class TestBoundaries:
    def test_session_starts(self):
        assert session_starts([0, 0, 1, 1, 1, 4]) == [2, 5]
        assert session_starts([]) == []

    def test_f1_by_hand(self):
        # Level-1 nodes of the toy tree begin at 0, 3 and 4.
        assert boundary_f1(toy(), [3, 4]) == 1.0
        assert boundary_f1(toy(), [3]) == pytest.approx(2 / 3)
        assert boundary_f1(toy(), [5]) == 0.0

    def test_random_cuts_are_a_baseline_between_zero_and_one(self):
        # Two cuts out of six places against one wanted: F1 2/3 with probability 1/3.
        assert random_f1(toy(), [3]) == pytest.approx(2 / 9, abs=0.06)
        assert random_f1(toy(), [3]) == random_f1(toy(), [3])


def test_the_sample_agrees_with_its_sessions_better_than_chance():
    memory = built(name="recurrence")
    starts = session_starts(unit.session for unit in memory.units)
    assert boundary_f1(memory.structure, starts) > random_f1(memory.structure, starts) + 0.1
