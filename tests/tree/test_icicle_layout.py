"""Unfolding: nothing lost, nothing overlaps; trees along time stay on their axis, also by clock."""

from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from segviz.tree import Structure
from segviz.tree.icicle_layout import LONGEST_WAIT, WAITED, follows_time, unfold, waits
from segviz.tree.toy import toy_structure
from tests.trees import grown

START = datetime(2024, 5, 1)


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


@given(st.lists(st.one_of(st.none(), st.integers(0, 10**6)), max_size=30))
def test_waits_against_unit_by_unit(hours):
    times = [None if hour is None else START + timedelta(hours=hour) for hour in hours]
    found = waits(times)
    # The latest time so far is the clock; before the first time there is none.
    apart, latest = [], None
    for time in times:
        later = time is not None and (latest is None or time > latest)
        apart.append((time - latest).total_seconds() if later and latest is not None else 0.0)
        latest = time if later else latest
    if not any(apart):
        assert found is None
        return
    limit = LONGEST_WAIT * median(each for each in apart if each)
    drawn = [min(each, limit) for each in apart]
    share = WAITED * len(times) / sum(drawn)
    np.testing.assert_allclose(found.room, [share * each for each in drawn], rtol=1e-5)
    assert found.shortened == {i: each for i, each in enumerate(apart) if each > limit}


def test_units_of_one_time_or_none_have_no_waits():
    assert waits([]) is waits([None, None]) is waits([START, START]) is None
