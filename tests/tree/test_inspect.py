"""What is told of one node, against slow and obvious restatements."""

import math
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from segviz.contract import trace
from segviz.tree import Add, Retire, Revise, Step, replay
from segviz.tree.inspect import (
    State,
    kinship,
    nearest,
    path_from_root,
    read_fact,
    relations_of,
    shared_units,
    similarity,
    written,
)
from segviz.tree.structure import reachable
from tests.memories import built
from tests.trees import ZERO, grown, toy, unit


@pytest.fixture(scope="module", params=["segment-tree", "h-mem"])
def memory(request):
    """A tree, and a graph with facts and relations in which nodes retire."""
    return built(request.param, sessions=2)


def some(structure, count=12):
    rng = random.Random(len(structure))
    return rng.sample(range(len(structure)), min(count, len(structure)))


def slow_ancestors(structure, node):
    found: set[int] = set()
    while more := {p for p, c in structure.edges.tolist() if c in found | {node}} - found:
        found |= more
    return found


def test_kin(memory):
    s = memory.structure
    for node in some(s):
        above = slow_ancestors(s, node)
        assert reachable(s.parents, [node]) == above | {node}
        path = path_from_root(s, node)
        assert set(path) <= above
        edges = set(map(tuple, s.edges.tolist()))
        assert all(pair in edges for pair in pairwise((*path, node)))
        assert not path or path[0] in s.roots
        assert all(node in reachable(s.children, [other]) for other in above)
        assert relations_of(s, node) == tuple(
            r for r in s.relations if r.source == node or r.target == node
        )


def test_nearest(memory):
    s = memory.structure
    for node in some(s, 6):
        kin = slow_ancestors(s, node) | reachable(s.children, [node])
        for leaves_only in (False, True):
            slow = []
            for other in range(len(s)):
                if other in kin or not s.active[other] or (leaves_only and s.level[other]):
                    continue
                a, b = (s.vector[n].astype(np.float64) for n in (node, other))
                if np.any(a) and np.any(b):
                    cosine = float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))
                    slow.append((-round(cosine, 9), other))
            found = nearest(s, node, leaves_only=leaves_only)
            assert [n for n, _ in found] == [other for _, other in sorted(slow)[:5]]
            expected = [-cosine for cosine, _ in sorted(slow)[:5]]
            assert [c for _, c in found] == pytest.approx(expected, abs=1e-8)
            assert all(similarity(s, node, n) == pytest.approx(c) for n, c in found)


def test_written_tells_every_state_the_node_was_in(memory):
    moments = [replay(memory.steps[:t]) for t in range(len(memory.steps) + 1)]
    for node in some(memory.structure, 20):
        entries = {entry.step: entry for entry in written(memory.steps, node)}
        before = None
        for t, s in enumerate(moments):
            there = node < len(s) and bool(s.active[node])
            span = (int(s.start[node]), int(s.stop[node])) if there else ()
            now = State(s.text[node], span, int(s.level[node]), s.facts[node]) if there else None
            if t in entries:
                assert entries[t].before == before
                assert entries[t].after == now
                assert trace(entries[t].cause) == trace(memory.steps[t - 1])
            else:
                assert now == before
            before = now


def test_several_writes_of_one_step_are_one():
    add = Step(unit(0), "", None, (Add(0, 0, (0, 1), "a", ZERO, facts={"n": 1}),))
    twice = (Revise(0, (0, 1), "b", ZERO), Revise(0, (0, 1), "c", ZERO, level=1, facts={}))
    gone = (Add(1, 0, (1, 2), "x", ZERO), Retire(1), Retire(0))
    steps = [add, Step(unit(1), "", None, twice), Step(unit(2), "", None, gone)]
    first, second, third = written(steps, 0)
    assert (first.before, first.after) == (None, State("a", (0, 1), 0, {"n": 1}))
    assert (second.before, second.after) == (first.after, State("c", (0, 1), 1, {}))
    assert (third.step, third.before, third.after) == (3, second.after, None)
    (brief,) = written(steps, 1)
    assert (brief.step, brief.before, brief.after) == (3, None, None)


def test_kinship_and_shared_units():
    s = toy()
    found = [kinship(s, *pair) for pair in ((7, 7), (10, 0), (0, 10), (0, 1), (0, 3))]
    assert found == ["same", "above", "below", "siblings", "apart"]
    assert shared_units(s, 7, 10) == (0, 1, 2)
    assert shared_units(s, 7, 9) == ()
    assert path_from_root(s, 4) == (10, 9)


def test_without_vectors_nothing_is_similar():
    s = toy()  # all vectors are 0
    assert similarity(s, 0, 1) is None
    assert nearest(s, 0) == ()
    assert nearest(replace(s, vector=np.zeros((len(s), 0), dtype=np.float32)), 0) == ()
    assert nearest(grown([(0, 0, 1)], []), 0) == ()


def test_moments_are_read_as_dates_where_they_are_some():
    facts = {"from": 86400.5, "far": 1e300, "n": 3, "dated": True, "who": None, "x": "<b>"}
    read = [read_fact(facts, name) for name in facts]
    assert read == ["1970-01-02 00:00", "1e+300", "3", "yes", "none", "<b>"]
    assert read_fact({"from": 2.0, "dated": False}, "from") == "2.0"
    assert read_fact({"weight": 0.5}, "weight") == "0.5"
    assert read_fact({"at": float("nan"), "dated": True}, "at") == "nan"
