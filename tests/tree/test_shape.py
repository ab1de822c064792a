import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.evaluation.published import printed_shapes
from segviz.tree import Relate, replay
from segviz.tree.shape import Shape, boundary_f1, diagnose, random_f1, session_starts, shape
from tests.systems.test_segment_tree import run_both
from tests.trees import chain, grown, random_graph, random_tree, shown_as, toy


def random_structure(rng, n, make):
    """Nodes as high as their longest path to a leaf; some nodes are wrappers of one child."""
    if make == "graph":
        _, edges = random_graph(rng, n)
    else:
        share = {"tree": 1, "forest": 0.7}[make]
        edges = [edge for edge in random_tree(rng, n) if rng.random() < share]
    below = {node: [child for parent, child in edges if parent == node] for node in range(n)}

    def height(node):
        return max((1 + height(child) for child in below[node]), default=0)

    return grown([(height(node), 0, 1) for node in range(n)], edges)


class SlowShape:
    """The same numbers, by listing every path."""

    def __init__(self, structure):
        shown = shown_as(structure)
        self.nodes = sorted(set(shown))
        edges = {(shown[p], shown[c]) for p, c in structure.edges.tolist()}
        self.below = {n: [c for p, c in edges if p == n and c != n] for n in self.nodes}
        self.above = {n: [p for p, c in edges if c == n and p != n] for n in self.nodes}
        self.roots = [n for n in self.nodes if not self.above[n]]
        self.leaves = [n for n in self.nodes if structure.level[n] == 0]

    def paths(self, node):
        """All ways down from a node, as tuples of nodes."""
        return [(node,)] + [(node, *path) for c in self.below[node] for path in self.paths(c)]

    def depth(self, leaf):
        return max(len(p) - 1 for root in self.roots for p in self.paths(root) if p[-1] == leaf)


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(0, 9),
    make=st.sampled_from(["graph", "tree", "forest"]),
)
def test_every_number_is_that_of_all_paths(seed, n, make):
    structure = random_structure(random.Random(seed), n, make)
    slow, measured = SlowShape(structure), shape(structure)
    depths = [slow.depth(leaf) for leaf in slow.leaves]
    widths = [len(slow.below[node]) for node in slow.nodes if slow.below[node]]
    assert (measured.leaves, measured.nodes) == (len(slow.leaves), len(slow.nodes))
    assert measured.unary == n - len(slow.nodes)
    assert measured.max_depth == max(depths, default=0)
    assert measured.mean_depth == pytest.approx(np.mean(depths) if depths else 0)
    assert measured.depth_std == pytest.approx(np.std(depths) if depths else 0)
    assert measured.branching == pytest.approx(np.mean(widths) if widths else 0)
    assert measured.nodes_per_leaf == pytest.approx(len(slow.nodes) / max(len(slow.leaves), 1))
    assert measured.widest == max(widths, default=0)
    assert measured.trees == len(slow.roots)
    assert measured.shared == sum(len(above) > 1 for above in slow.above.values())
    several = len(slow.roots) > 1
    wanted = "graph" if measured.shared else "tree"
    if several and not measured.shared:
        wanted = "forest" if widths else "flat"
    assert measured.kind == wanted
    if not several or wanted == "flat":
        assert measured.families == ()
        return
    (family,) = measured.families
    heights = [max(len(path) - 1 for path in slow.paths(root)) for root in slow.roots]
    assert (family.kind, family.trees, family.max_depth) == ("", len(heights), max(heights))
    assert family.mean_depth == pytest.approx(np.mean(heights))
    assert family.depth_std == pytest.approx(np.std(heights))
    if wanted == "forest":
        assert family.items == pytest.approx(len(slow.leaves) / len(slow.roots))
    else:
        assert family.items is None


def test_very_deep_structures_and_cycles_end():
    deep = chain(5_000)
    own = tuple(f"text {i}" for i in range(len(deep)))
    assert shape(replace(deep, text=own)).max_depth == 4_999
    cycle = grown([(0, 0, 1), (1, 0, 1), (0, 0, 1)], [(1, 0)])
    cycle = replace(cycle, edges=np.array([[1, 0], [0, 1]], np.int32), text=("a", "b", "c"))
    assert (shape(cycle).max_depth, shape(cycle).trees) == (0, 1)


class TestFacts:
    """Five events of three units, two topics of theirs, one a wrapper; an entity over two."""

    def measured(self):
        nodes = [(0, i, i + 1) for i in range(3)]
        nodes += [(1, 0, 1), (1, 0, 1), (1, 1, 2), (1, 1, 2), (1, 2, 3)]
        nodes += [(2, 0, 2), (2, 2, 3), (1, 0, 3)]
        edges = [(3, 0), (4, 0), (5, 1), (6, 1), (7, 2), (8, 3), (8, 4), (8, 5), (8, 6), (9, 7)]
        plain = grown(nodes, [*edges, (10, 0), (10, 2)])
        texts = [f"text {node}" for node in range(11)]
        texts[9] = texts[7]
        kinds = ("", "", "", *["event"] * 5, "topic", "topic", "entity")
        facts = tuple({"items": 4} if n == 8 else {"items": 1} if n == 9 else {} for n in range(11))
        relations = (Relate(10, 8, "likes"), Relate(10, 9, "likes"), Relate(8, 9, "knows"))
        return shape(
            replace(plain, text=tuple(texts), kind=kinds, facts=facts, relations=relations)
        )

    def test_nodes_are_counted_by_level_and_kind_as_what_they_are(self):
        rows = {(layer.level, layer.kind): layer for layer in self.measured().facts.layers}
        assert {place: layer.nodes for place, layer in rows.items()} == {
            (0, ""): 3,
            (1, "entity"): 1,
            (1, "event"): 5,
            (2, "topic"): 2,
        }
        event, topic = rows[1, "event"], rows[2, "topic"]
        assert (event.single, event.repeats, event.ratio) == (5, 0, pytest.approx(5 / 3))
        assert (topic.single, topic.repeats, topic.ratio) == (0, 1, pytest.approx(2 / 5))
        assert (topic.children, topic.below) == (2.5, ((1, "event"),))
        assert rows[0, ""].ratio is None

    def test_the_rest_of_a_graph_of_facts(self):
        measured = self.measured()
        assert measured.kind == "facts"
        assert measured.facts.relations == (("likes", 2), ("knows", 1))
        assert (measured.nodes, measured.unary) == (10, 1)
        assert [(f.kind, f.trees, f.items, f.max_depth) for f in measured.families] == [
            ("topic", 2, 2.5, 2),
            ("entity", 1, None, 1),
        ]


class TestDiagnose:
    def scripted(self, script):
        return shape(replay(run_both(script)[1]))

    def test_a_cascade_of_a_tree(self):
        deep = self.scripted([None] * 39)
        (found,) = diagnose(deep)
        assert found.kind == "cascade"
        assert "39 levels deep over 40 leaves" in found.what
        for kind in ("flat", "forest", "graph", "facts"):
            assert diagnose(replace(deep, kind=kind)) == []

    def test_a_star(self):
        assert [t.kind for t in diagnose(self.scripted([0.0] * 79))] == ["star"]

    def test_small_trees_are_not_judged(self):
        assert diagnose(self.scripted([None] * 15)) == []

    def test_the_papers_shapes_are_healthy(self):
        for row in printed_shapes("segment-tree", ""):
            leaves, nodes, branching = (row[name] for name in ("leaves", "nodes", "branching"))
            depth, wide = round(row["max depth"]), round(branching * 3)
            measured = Shape(leaves, nodes, 0, depth, 3.0, 0.5, branching, wide)
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
