"""A very deep chain and a conversation of very many leaves go through every stage."""

from functools import partial

import numpy as np
import pytest

from segviz.conversation import Unit
from segviz.frontend.message import pack
from segviz.retrieval import POLICIES, propagate, ranking, top_k
from segviz.retrieval.ledger import explain
from segviz.store import Saved, dump, parse
from segviz.systems import SYSTEMS
from segviz.tree import Add, Link, Moments, Revise, Step, replay
from segviz.tree.icicle_layout import follows_time, unfold
from segviz.tree.invariants import check
from segviz.tree.shape import shape
from tests.benchmarks.synthetic import balanced
from tests.scenes import tree_message
from tests.trees import chat

DEEP = 5_000  # beyond what recursion could walk
VAST = 70_000  # beyond what sixteen bits could count
VECTOR = np.zeros(1, dtype=np.float32)


def chain(n):
    """One leaf under n - 1 nodes, as steps."""
    conversation = chat([[("Ada", "Hello.")]])
    unit = conversation.units("turn")[0]
    events = [Add(i, i, (0, 1), unit.text, VECTOR) for i in range(n)]
    events += [Link(i + 1, i) for i in range(n - 1)]
    return conversation, (Step(unit, "", None, tuple(events)),)


def star(n):
    """n leaves under one root that widens with every unit."""
    conversation = chat([[("Ada", f"Word {i}.") for i in range(n)]])
    units: tuple[Unit, ...] = conversation.units("turn")
    steps = []
    for unit in units:
        node = unit.index + (unit.index > 0)
        events = [Add(node, 0, (unit.index, unit.index + 1), unit.text, VECTOR)]
        if not unit.index:
            events.append(Add(1, 1, (0, 1), "root", VECTOR))
        events.append(Link(1, node))
        if unit.index:
            events.append(Revise(1, (0, unit.index + 1), "root", VECTOR))
        steps.append(Step(unit, "", None, tuple(events)))
    return conversation, tuple(steps)


@pytest.fixture(scope="module", params=[chain, star])
def large(request):
    conversation, steps = request.param(DEEP)
    return conversation, steps, replay(steps)


def test_replay_and_derived_columns(large):
    _, steps, structure = large
    root = structure.roots[0]
    leaves = len(structure.leaves)
    n = len(structure) - (leaves > 1)
    assert structure.roots == (root,)
    assert structure.depth.max() == (n - 1 if leaves == 1 else 1)
    assert structure.coverage(root) == tuple(range(leaves))
    assert int(structure.collapsed.active.sum()) == (1 if leaves == 1 else n + 1)
    assert shape(structure).leaves == leaves
    assert len(Moments(steps).at(len(steps) // 2)) == (0 if leaves == 1 else n // 2 + 1)


def test_the_laws_hold(large):
    assert check(large[2], SYSTEMS["segment-tree"].invariants) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_propagate_select_explain(large, policy):
    structure = large[2]
    initial = np.full(len(structure), 1 / len(structure))
    spread = propagate(initial, structure.edges, policy, 0.5, 3, structure)
    assert np.isfinite(spread.final).all()
    best = top_k(spread.final, structure, 5)
    assert best == ranking(spread.final, structure)[:5].tolist()
    ledger = explain(best[0], initial, structure.edges, (policy, 0.5, 3), structure)
    assert ledger.total == pytest.approx(spread.final[best[0]], abs=1e-12)


def test_payload_and_unfold(large):
    are_drawn(large[2])


def test_more_nodes_than_sixteen_bits_count_are_drawn():
    are_drawn(balanced(VAST))


def are_drawn(structure):
    units = int(structure.stop.max())
    drawn = partial(tree_message, unit_sessions=[0] * units, session_labels=["S1"], identity="deep")
    assert len(pack(drawn(structure))) > 4 * len(structure)
    unfolded = unfold(structure)
    assert len(unfolded.structure) == len(structure)
    assert follows_time(unfolded.structure)
    assert follows_time(structure)


def test_saved_and_opened(large):
    conversation, steps, structure = large
    saved = Saved(conversation, "turn", "segment-tree", {}, "none", steps)
    data = dump(saved)
    again = parse(data)
    assert dump(again) == data
    np.testing.assert_array_equal(replay(again.steps).edges, structure.edges)
