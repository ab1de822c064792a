"""Unfolding: nothing lost, nothing overlaps, and trees along time are left to the time axis."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from segviz.tree import Add, Link, Step, Structure, replay
from segviz.tree.toy import toy_structure
from segviz.tree.unfold import follows_time, unfold
from tests.trees import ZERO, unit


@st.composite
def dags(draw) -> Structure:
    """Leaves, then nodes over any nodes of the level below; several parents and roots."""
    leaves = draw(st.integers(1, 9))
    events = [Add(i, 0, (i, i + 1), f"u{i}", ZERO) for i in range(leaves)]
    below, n = list(range(leaves)), leaves
    spans = {i: (i, i + 1) for i in range(leaves)}
    for level in range(1, draw(st.integers(1, 4))):
        row = []
        for _ in range(draw(st.integers(1, 4))):
            children = draw(st.lists(st.sampled_from(below), min_size=1, max_size=4, unique=True))
            spans[n] = (min(spans[c][0] for c in children), max(spans[c][1] for c in children))
            events.append(Add(n, level, spans[n], f"n{n}", ZERO))
            events += [Link(n, child) for child in children]
            row.append(n)
            n += 1
        below = row
    return replay([Step(unit(leaves - 1), "", None, tuple(events))])


@given(dags())
def test_every_node_is_drawn_and_none_overlaps(structure):
    drawn = unfold(structure)
    s = drawn.structure
    assert set(drawn.node.tolist()) == set(range(len(structure)))
    assert all(len(parents) <= 1 for parents in s.parents)
    for level in set(s.level.tolist()):
        row = sorted((int(s.start[i]), int(s.stop[i])) for i in np.flatnonzero(s.level == level))
        assert all(a[1] <= b[0] for a, b in pairwise(row))
        assert all(start < stop for start, stop in row)


@given(dags())
def test_a_copy_has_the_children_and_units_of_its_original(structure):
    drawn = unfold(structure)
    s = drawn.structure
    for here, node in enumerate(drawn.node.tolist()):
        children = [int(drawn.node[c]) for c in s.children[here]]
        if len(drawn.node) < 4 * len(structure):
            assert children == list(structure.children[node])
            units = drawn.unit[int(s.start[here]) : int(s.stop[here])]
            assert set(units.tolist()) == set(structure.coverage(node))


def test_a_segment_tree_follows_time_and_unfolds_to_itself():
    structure = toy_structure()
    assert follows_time(structure)
    drawn = unfold(structure)
    for here, node in enumerate(drawn.node.tolist()):
        assert drawn.structure.start[here] == structure.start[node]
        assert drawn.structure.stop[here] == structure.stop[node]
    assert drawn.unit.tolist() == list(range(7))


def test_scattered_and_shared_nodes_do_not_follow_time():
    leaves = [Add(i, 0, (i, i + 1), "", ZERO) for i in range(3)]
    scattered = [*leaves, Add(3, 1, (0, 3), "", ZERO), Link(3, 0), Link(3, 2)]
    shared = [
        *leaves,
        Add(3, 1, (0, 2), "", ZERO),
        Add(4, 1, (1, 3), "", ZERO),
        *[Link(p, c) for p, c in ((3, 0), (3, 1), (4, 1), (4, 2))],
    ]
    for events in (scattered, shared):
        structure = replay([Step(unit(2), "", None, tuple(events))])
        assert not follows_time(structure)
    assert unfold(structure).copies(1) == (2, 4)
    assert unfold(structure).unit.tolist() == [0, 1, 1, 2]


def test_copies_are_bounded():
    """Twenty layers of two, each under both of the layer above, would be a million copies."""
    events = [Add(0, 0, (0, 1), "", ZERO), Add(1, 0, (1, 2), "", ZERO)]
    for level in range(1, 20):
        for node in (2 * level, 2 * level + 1):
            events.append(Add(node, level, (0, 2), "", ZERO))
            events += [Link(node, 2 * level - 2), Link(node, 2 * level - 1)]
    structure = replay([Step(unit(1), "", None, tuple(events))])
    drawn = unfold(structure)
    assert len(drawn.node) <= 8 * len(structure)
    assert set(drawn.node.tolist()) == set(range(len(structure)))


def test_nothing_unfolds_to_nothing():
    drawn = unfold(replay([]))
    assert (len(drawn.structure), len(drawn.unit)) == (0, 0)
    assert follows_time(replay([]))
