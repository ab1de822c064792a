"""Unfolding: nothing lost, nothing overlaps, and trees along time are left to the time axis."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from segviz.tree import Structure
from segviz.tree.icicle_layout import follows_time, unfold
from segviz.tree.toy import toy_structure
from tests.trees import grown


@st.composite
def dags(draw) -> Structure:
    """Leaves, then nodes over any nodes of the level below; several parents and roots."""
    leaves = draw(st.integers(1, 9))
    nodes, edges, below = [(0, i, i + 1) for i in range(leaves)], [], range(leaves)
    for level in range(1, draw(st.integers(1, 4))):
        first = len(nodes)
        for _ in range(draw(st.integers(1, 4))):
            children = draw(st.lists(st.sampled_from(below), min_size=1, max_size=4, unique=True))
            edges += [(len(nodes), child) for child in children]
            _, starts, stops = zip(*(nodes[child] for child in children), strict=True)
            nodes.append((level, min(starts), max(stops)))
        below = range(first, len(nodes))
    return grown(nodes, edges, [f"n{node}" for node in range(len(nodes))])


@given(dags())
def test_every_node_is_drawn_none_overlaps_and_copies_are_as_their_original(structure):
    drawn = unfold(structure)
    s = drawn.structure
    assert set(drawn.node.tolist()) == set(range(len(structure)))
    assert all(len(parents) <= 1 for parents in s.parents)
    for level in set(s.level.tolist()):
        row = sorted((int(s.start[i]), int(s.stop[i])) for i in np.flatnonzero(s.level == level))
        assert all(a[1] <= b[0] for a, b in pairwise(row))
        assert all(start < stop for start, stop in row)

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
    leaves = [(0, i, i + 1) for i in range(3)]
    scattered = grown([*leaves, (1, 0, 3)], [(3, 0), (3, 2)])
    shared = grown([*leaves, (1, 0, 2), (1, 1, 3)], [(3, 0), (3, 1), (4, 1), (4, 2)])
    assert not follows_time(scattered)
    assert not follows_time(shared)
    assert unfold(shared).copies(1) == (2, 4)
    assert unfold(shared).unit.tolist() == [0, 1, 1, 2]


def test_copies_are_bounded():
    """Twenty layers of two, each under both of the layer above, would be a million copies."""
    nodes = [(0, 0, 1), (0, 1, 2), *((node // 2, 0, 2) for node in range(2, 40))]
    edges = [(node, node - node % 2 - below) for node in range(2, 40) for below in (2, 1)]
    structure = grown(nodes, edges)
    drawn = unfold(structure)
    assert len(drawn.node) <= 8 * len(structure)
    assert set(drawn.node.tolist()) == set(range(len(structure)))
