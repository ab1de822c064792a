"""Lazy refresh: the same tree laws, fewer annotations, everything fresh at session ends."""

from __future__ import annotations

import random

import pytest

from segviz.invariants import check
from segviz.protocols import Services
from segviz.structure import history
from segviz.systems.segment_tree import SegmentTree
from tests.test_segment_tree import Blank, Scripted, as_nested, bracket
from tests.trees import arrival


def grow(script, sessions, refresh):
    units = [arrival(i, session) for i, session in enumerate(sessions)]
    system = SegmentTree(Scripted(script), bracket, refresh)
    return list(system.steps(units, Services(Blank())))


def cases():
    rng = random.Random(7)
    for _ in range(200):
        n = rng.randrange(2, 25)
        script = [None if rng.random() < 0.3 else rng.random() for _ in range(n)]
        sessions = sorted(rng.randrange(4) for _ in range(n))
        yield script, sessions


def test_same_tree_as_eager_whenever_a_session_ends():
    for script, sessions in cases():
        eager, lazy = (grow(script, sessions, r) for r in ("eager", "lazy"))
        pairs = zip(history(eager), history(lazy), strict=True)
        for position, (a, b) in enumerate(pairs):
            assert check(b, "segment-tree") == []
            ends = position + 1 == len(sessions) or sessions[position + 1] != sessions[position]
            if ends:
                assert as_nested(a) == as_nested(b)
            else:
                assert a.edges.tolist() == b.edges.tolist()
                assert a.stop.tolist() == b.stop.tolist()


def test_never_more_annotations_than_eager_and_at_most_one_per_node_and_session():
    saved = 0
    for script, sessions in cases():
        eager, lazy = (grow(script, sessions, r) for r in ("eager", "lazy"))
        written = [sum(s.cost.annotated for s in steps) for steps in (eager, lazy)]
        assert written[1] <= written[0]
        saved += written[0] - written[1]
    assert saved > 0


def test_nothing_is_written_inside_a_session():
    steps = grow([None, 0.0, 0.0, 0.0, 0.0, 0.0], [0, 0, 0, 0, 1, 1], "lazy")
    assert [s.cost.annotated for s in steps] == [0, 0, 0, 1, 0, 1]


def test_unknown_refresh_lists_the_choices():
    with pytest.raises(ValueError, match="refresh is 'never'; choose one of eager, lazy"):
        SegmentTree(refresh="never")
