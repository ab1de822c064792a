"""MemTree against a literal restatement of §3.1 with the paper's copies and its root."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.construct.annotate import Extractive
from segviz.embedding import HashingEmbedder
from segviz.systems import SYSTEMS
from segviz.systems.memtree import MemTree
from segviz.systems.raptor import Raptor
from segviz.tree import Add, Revise, history, replay
from segviz.tree.inspect import path_from_root
from segviz.tree.invariants import check
from tests.systems.common import Letters, bracket, run
from tests.trees import small_chat


def nested(structure, node):
    """(span, level, text, children by start) of the tree below a node."""
    children = sorted(structure.children[node], key=lambda c: structure.start[c])
    return (
        (int(structure.start[node]), int(structure.stop[node])),
        int(structure.level[node]),
        structure.text[node],
        [nested(structure, child) for child in children],
    )


# --- the literal restatement -----------------------------------------------------------


@dataclass
class Node:
    text: str = ""
    unit: int | None = None
    children: list[Node] = field(default_factory=list)

    def units(self):
        return [self.unit] if not self.children else [u for c in self.children for u in c.units()]

    def nested(self):
        below = sorted((c.nested() for c in self.children), key=lambda n: n[0][0])
        units = self.units()
        level = 1 + max(n[1] for n in below) if below else 0
        return ((min(units), max(units) + 1), level, self.text, below)


class Literal:
    """A contentless root; expanding a leaf copies it; every ancestor is merged."""

    def __init__(self, embedder, base, rate, deepest):
        self.embedder, self.base, self.rate, self.deepest = embedder, base, rate, deepest
        self.root = Node()

    def cosine(self, a, b):
        x, y = self.embedder.embed([a, b]).astype(float)
        lengths = np.linalg.norm(x) * np.linalg.norm(y)
        return round(float(x @ y) / lengths, 6) if lengths else 0.0

    def insert(self, unit, text):
        v, d, path = self.root, 0, []
        while v.children and d < self.deepest:
            scores = [self.cosine(text, child.text) for child in v.children]
            best = scores.index(max(scores))  # the first, which is the older
            if max(scores) < self.base * math.exp(self.rate * d / self.deepest):
                break
            child = v.children[best]
            if not child.children:
                if d + 2 > self.deepest:
                    break
                child.children = [Node(child.text, child.unit)]
                path.append(child)
                v = child
                break
            v, d = child, d + 1
            path.append(v)
        v.children.append(Node(text, unit))
        for ancestor in path:
            ancestor.text = bracket([ancestor.text, text])


WORDS = ["a", "b", "c", "d", "ab", "cd", "aab", "abc", "x"]


@given(
    st.lists(st.sampled_from(WORDS), max_size=20),
    # Thresholds that no quotient of small counts meets exactly.
    st.sampled_from([0.123, 0.4321, 0.654, 0.871]),
    st.sampled_from([0.0, 0.31]),
    st.sampled_from([1, 2, 3, 4, 8]),
)
def test_any_stream_gives_the_literal_tree(texts, base, rate, deepest):
    literal = Literal(Letters(), base, rate, deepest)
    system = MemTree(base=base, rate=rate, max_depth=deepest, annotate=bracket)
    for (i, text), structure in zip(enumerate(texts), history(run(system, texts)), strict=True):
        literal.insert(i, text)
        assert check(structure, SYSTEMS["memtree"].invariants) == []
        ours = sorted(nested(structure, root) for root in structure.roots)
        assert ours == sorted(child.nested() for child in literal.root.children)


class TestHandWorked:
    def test_four_units_and_what_is_said_of_the_last(self):
        r"""θ = .5 everywhere. The second a joins the first; ab is as near to (a a) as to b,
        and goes to the older, where it meets two equal a's and takes the older again.

        ::

            after 2      after 3          after 4
                            3                3
             0   1         / \    1         / \     1
             a   b        0   2   b        5   2    b
                          a   a           / \  a
                                         0   4
                                         a   ab
        """
        steps = run(MemTree(base=0.5, rate=0, max_depth=3, annotate=bracket), ["a", "b", "a", "ab"])
        s = replay(steps)
        assert s.roots == (1, 3)
        assert set(s.children[3]) == {2, 5}
        assert s.children[5] == (0, 4)
        assert (s.text[5], s.text[3]) == ("(a ab)", "((a a) ab)")
        # The decision tells the walk from the bottom.
        walk = steps[3].decision
        assert [c.node for c in walk.candidates] == [0, 3]
        assert [c.score for c in walk.candidates] == pytest.approx([0.7071, 0.7071], abs=1e-4)
        assert [c.threshold for c in walk.candidates] == [0.5, 0.5]
        assert walk.chosen == 0
        assert "becomes a topic" in walk.why
        assert steps[1].decision.chosen is None
        assert "stays below" in steps[1].decision.why
        assert steps[0].decision is None


class TestThreshold:
    @pytest.mark.parametrize("deepest", [1, 2, 3, 8])
    def test_equal_texts_end_at_the_greatest_depth(self, deepest):
        steps = run(MemTree(max_depth=deepest), ["a b c"] * 60)
        s = replay(steps)
        assert len(s.leaves) == 60
        assert check(s, SYSTEMS["memtree"].invariants) == []
        # The root counts in the paper, hence one edge less here.
        assert s.depth.max() == deepest - 1


class TestChanges:
    def test_only_one_path_changes(self):
        rng = random.Random(3)
        texts = [rng.choice(WORDS) for _ in range(60)]
        steps = run(MemTree(base=0.3, annotate=bracket), texts)
        for step, after in zip(steps, history(steps), strict=True):
            added = {e.node for e in step.events if isinstance(e, Add)}
            changed = added | {e.node for e in step.events if isinstance(e, Revise)}
            assert changed == {min(added), *path_from_root(after, min(added))}

    def test_texts_shrink_with_the_number_of_children(self):
        asked = []

        class Spy(Extractive):
            def __call__(self, texts):
                asked.append((self.max_words, len(texts)))
                return texts[0]

        # The topic's text stays "a", so every later a joins it on the top level.
        run(MemTree(base=0.5, rate=4, max_depth=3, annotate=Spy(max_words=60)), ["a"] * 2)
        assert asked == [(60, 2)]
        asked.clear()
        run(
            MemTree(base=0.5, rate=3, max_depth=2, brevity=5, annotate=Spy(max_words=60)), ["a"] * 7
        )
        assert asked == [(words, 2) for words in (60, 60, 55, 50, 45, 40)]


@pytest.fixture(scope="module")
def memory():
    return segviz.build(small_chat(), "memtree", unit="turn", embedder=HashingEmbedder(), least=-1)


class TestRecall:
    def test_it_is_cosine_with_a_threshold(self, memory):
        s, question = memory.structure, "red bicycle gears"
        query = memory.embedder.embed([question])[0].astype(float)
        near = {n: round(float(s.vector[n].astype(float) @ query), 6) for n in range(len(s))}
        least = sorted(near.values())[len(near) // 2]
        model = MemTree(least=least - 1e-6)
        expected = sorted((n for n in near if near[n] >= least), key=lambda n: (-near[n], n))
        assert list(model.retrieve(question, memory.view("dense")).ranked) == expected

    @pytest.mark.parametrize("system", [MemTree, Raptor])
    @pytest.mark.parametrize("width", [1, 2, 99])
    def test_traversal_keeps_the_best_of_each_level(self, memory, system, width):
        s, view = memory.structure, memory.view("dense")
        score = (s.vector @ memory.embedder.embed(["bread"])[0]).round(6)
        kept, layer = [], list(s.roots)
        while layer:
            best = sorted(layer, key=lambda n: (-score[n], n))[:width]
            kept += best
            layer = [c for n in best for c in s.children[n]]
        found = system(retrieval="traversal", width=width).retrieve("bread", view)
        assert set(found.ranked) == set(kept)
