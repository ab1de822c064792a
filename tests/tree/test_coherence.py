"""Coherence against a naive restatement, and where there is none."""

import math

import numpy as np
import pytest

from segviz.tree import Structure
from segviz.tree.shape import coherence
from segviz.view.coloring import MANY, known_coherence
from tests.memories import built


def structure(level, edges, vectors, active=None):
    """A structure of so many nodes; spans do not matter here."""
    n = len(level)
    return Structure(
        level=np.array(level, np.int32),
        start=np.zeros(n, np.int32),
        stop=np.ones(n, np.int32),
        text=("",) * n,
        vector=np.array(vectors, np.float32).reshape(n, -1 if n else 4),
        active=np.ones(n, np.bool_) if active is None else np.array(active),
        edges=np.array(edges, np.int32).reshape(-1, 2),
    )


def naive(tree):
    """Node by node: a copy of its only child is the node it copies."""

    def below(node):
        children = tree.children[node]
        return below(children[0]) if len(children) == 1 else node

    def above(node):
        """The first nodes above that are no copies."""
        found = []
        for parent in tree.parents[node]:
            found += above(parent) if len(tree.children[parent]) == 1 else [parent]
        return found

    def cosine(a, b):
        u, v = (tree.vector[node].astype(float).tolist() for node in (a, b))
        dot = sum(x * y for x, y in zip(u, v, strict=True))
        return dot / math.sqrt(sum(x * x for x in u)) / math.sqrt(sum(y * y for y in v))

    values = []
    for node in range(len(tree)):
        real = below(node)
        if not tree.active[node]:
            values.append(math.nan)
            continue
        if tree.level[real] == 0:
            others = above(real)
        else:
            others = [below(child) for child in tree.children[real]]
        values.append(np.mean([cosine(real, other) for other in others]) if others else math.nan)
    return values


@pytest.mark.parametrize("system", ["segment-tree", "raptor"])
def test_it_equals_the_restatement(system):
    memory = built(system, sessions=5)
    tree = memory.structure
    assert coherence(tree) == pytest.approx(naive(tree), abs=1e-5, nan_ok=True)


def test_a_chain_of_copies_is_as_coherent_as_what_it_copies():
    #  5 — 4 — 3 over leaves 0 and 1; leaf 2 under its copy 6, which hangs on 4's parent 5
    vectors = [[1, 0], [0, 1], [1, 1], [1, 0], [1, 0], [1, 1], [1, 1]]
    edges = [(3, 0), (3, 1), (4, 3), (5, 4), (6, 2), (5, 6)]
    value = coherence(structure([0, 0, 0, 1, 2, 3, 1], edges, vectors))
    half = math.sqrt(0.5)
    assert value == pytest.approx([1, 0, 1, 0.5, 0.5, (half + 1) / 2, 1], abs=1e-6)


def test_what_cannot_be_compared_has_no_coherence():
    edges = [(2, 0), (2, 1)]
    value = coherence(structure([0, 0, 1, 0], edges, [[1, 0], [0, 0], [1, 0], [1, 1]]))
    assert value == pytest.approx([1, math.nan, 1, math.nan], nan_ok=True)
    value = coherence(structure([0, 0, 1], edges, [[1], [1], [1]], [True, False, True]))
    assert math.isnan(value[1])
    assert np.isnan(coherence(structure([0, 0, 1], edges, np.zeros((3, 0))))).all()
    assert len(coherence(structure([], [], []))) == 0


def test_it_is_offered_where_there_are_vectors_and_computed_unasked_where_that_is_cheap():
    tree = structure([0, 0, 1], [(2, 0), (2, 1)], np.ones((3, 2)))
    assert known_coherence(tree, False) == pytest.approx([1, 1, 1])
    assert known_coherence(structure([0, 0, 1], [(2, 0)], np.zeros((3, 0))), True) is None
    assert known_coherence(structure([0, 0], [], np.ones((2, 2))), True) is None
    assert known_coherence(structure([0, 1], [(1, 0)], np.zeros((2, 2))), True) is None
    n = MANY + 1
    star = structure([1] + [0] * (n - 1), [(0, i) for i in range(1, n)], np.ones((n, 1)))
    assert len(known_coherence(star, False)) == 0
    assert known_coherence(star, True) == pytest.approx(np.ones(n))
