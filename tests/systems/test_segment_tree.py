"""SegTreeMem's construction against a slow, literal restatement of Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.construct import Services
from segviz.systems import SYSTEMS
from segviz.systems.segment_tree.system import SegmentTree
from segviz.tree import Add, Revise, history, replay
from segviz.tree.invariants import check
from tests.systems.common import Blank, bracket
from tests.trees import arrival


class Scripted:
    """A compatibility model that follows a list of fractions; None means NONE."""

    def __init__(self, script):
        self.script = iter(script)
        self.seen = []

    def choose(self, unit, candidates):
        self.seen.append((unit.index, [c.level for c in candidates]))
        fraction = next(self.script)
        if fraction is None or not candidates:
            return None
        return int(fraction * len(candidates))


# --- the literal restatement: a tree of objects, levels from 1, spans closed ---------------


@dataclass
class Node:
    level: int
    left: int = 0
    right: int = 0
    text: str = ""
    children: list[Node] = field(default_factory=list)


class Literal:
    """Algorithm 1, line by line, scanning the whole tree for the frontier each time."""

    def __init__(self):
        self.root = None
        self.nodes = []  # in creation order
        self.touched = []

    def insert(self, t, text, choose):
        z = Node(1, t, t, text)  # line 3
        self.nodes.append(z)
        self.touched = []
        if self.root is None:  # lines 4-6
            self.root = z
            return
        frontier = sorted(  # line 7
            (v for v in self.nodes[:-1] if v.right == t - 1), key=lambda v: v.level
        )
        m = len(frontier)
        position = choose(m - 1)  # line 8, over the non-leaf frontier
        if position is not None:  # lines 9-12
            target = frontier[position + 1]
            chain = self._chain(z, target.level - 2)
            target.children.append(chain[-1] if chain else z)
            update = [*chain, target, *self._ancestors(target)]
        else:  # lines 13-17
            chain = self._chain(z, m - 1)
            root = Node(m + 1, children=[self.root, chain[-1] if chain else z])
            self.nodes.append(root)
            self.root = root
            update = [*chain, root]
        for u in update:  # lines 19-22
            u.left = min(c.left for c in u.children)
            u.right = max(c.right for c in u.children)
            only = len(u.children) == 1
            u.text = u.children[0].text if only else bracket([c.text for c in u.children])
        self.touched = update

    def _chain(self, z, length):
        chain = []
        below = z
        for _ in range(length):
            below = Node(below.level + 1, children=[below])
            chain.append(below)
            self.nodes.append(below)
        return chain

    def _ancestors(self, node):
        above = [v for v in self.nodes if node in v.children]
        return [above[0], *self._ancestors(above[0])] if above else []


def place(structure, node):
    return tuple(int(row[node]) for row in (structure.level, structure.start, structure.stop))


def as_nested(structure, node=None):
    """(level, start, stop, text, children) as nested tuples, from the root."""
    node = structure.roots[0] if node is None else node
    children = tuple(as_nested(structure, child) for child in structure.children[node])
    return (*place(structure, node), structure.text[node], children)


def literal_nested(node):
    children = tuple(map(literal_nested, node.children))
    return (node.level - 1, node.left - 1, node.right, node.text, children)


def run_both(script):
    units = [arrival(i) for i in range(len(script) + 1)]
    system = SegmentTree(compatibility=Scripted(script), annotate=bracket)
    steps = list(system.steps(units, Services(Blank())))
    literal = Literal()
    fractions = iter(script)

    def choose(count):
        fraction = next(fractions)
        return None if fraction is None or count == 0 else int(fraction * count)

    return units, steps, literal, choose


@given(st.lists(st.none() | st.floats(0, 1, exclude_max=True), max_size=40))
def test_any_sequence_agrees_with_the_literal_algorithm_after_every_step(script):
    units, steps, literal, choose = run_both(script)
    for t, (unit, step, structure) in enumerate(zip(units, steps, history(steps), strict=True), 1):
        literal.insert(t, unit.text, choose)
        assert check(structure, SYSTEMS["segment-tree"].invariants) == []
        assert as_nested(structure) == literal_nested(literal.root)
        # Exactly U and the new nodes are written: nothing else changes.
        revised = {e.node for e in step.events if isinstance(e, Revise)}
        added = {e.node for e in step.events if isinstance(e, Add)}
        spans = {(n.level - 1, n.left - 1, n.right) for n in literal.touched}
        leaf = (0, unit.index, unit.index + 1)
        assert {place(structure, n) for n in revised | added} == spans | {leaf}


@pytest.mark.parametrize("units", [1, 2, 3, 10, 60])
def test_all_none_cascades_to_height_t_and_quadratic_nodes(units):
    _, steps, _, _ = run_both([None] * (units - 1))
    structure = replay(steps)
    assert structure.level.max() == units - 1
    # Step t > 1 adds a leaf, t - 2 chain nodes and a root: t nodes; step 1 adds one.
    assert len(structure) == units * (units + 1) // 2


class TestHandWorked:
    def test_candidates_are_the_non_leaf_frontier_from_low_to_high(self):
        model = Scripted([None, None, 0.99])
        list(SegmentTree(model, bracket).steps([arrival(i) for i in range(4)], Services(Blank())))
        assert model.seen == [(1, []), (2, [1]), (3, [1, 2])]

    def test_unary_nodes_cost_no_annotation(self):
        calls = []

        def counted(texts):
            calls.append(list(texts))
            return bracket(texts)

        arrivals = [arrival(i) for i in range(6)]
        list(SegmentTree(Scripted([None] * 5), counted).steps(arrivals, Services(Blank())))
        assert len(calls) == 5  # one new root each; the chains copy
        assert all(len(texts) == 2 for texts in calls)


class TestOnline:
    def test_steps_are_lazy(self):
        generator = SegmentTree(Scripted([None, None]), bracket).steps(
            [arrival(i) for i in range(3)], Services(Blank())
        )
        assert next(generator).unit.index == 0
