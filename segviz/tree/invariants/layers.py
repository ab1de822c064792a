"""Defines the invariants of trees by similarity (clustering, MemTree, RAPTOR) and flat memories."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from segviz.tree.invariants.violation import Violation
from segviz.tree.structure import Structure


def leaves_are_units(s: Structure) -> Iterator[Violation]:
    """Each leaf holds one unit, in order of arrival; deleted units may be missing."""
    before = -1
    for leaf in s.leaves:
        start, stop = int(s.start[leaf]), int(s.stop[leaf])
        if stop != start + 1:
            yield Violation("units", leaf, "a leaf to hold one unit", f"[{start}, {stop})")
        if start <= before:
            yield Violation("units", leaf, f"a unit after {before}", f"unit {start}")
        before = start


def one_parent(s: Structure) -> Iterator[Violation]:
    """At most one parent each."""
    for node, parents in enumerate(s.parents):
        if len(parents) > 1:
            yield Violation("one parent", node, "at most one parent", str(parents))


def nothing_above_units(s: Structure) -> Iterator[Violation]:
    """A flat memory has leaves only."""
    for node in np.flatnonzero(s.active & (s.level > 0)).tolist():
        yield Violation("flat", node, "level 0", f"level {s.level[node]}")


def topics_branch(s: Structure) -> Iterator[Violation]:
    """A topic has at least two children, and its level is its height (MemTree §3.1)."""
    for node in np.flatnonzero(s.active & (s.level > 0)).tolist():
        children = s.children[node]
        if len(children) < 2:
            yield Violation("topics", node, "two children or more", f"{len(children)}")
        height = 1 + max((int(s.level[child]) for child in children), default=-1)
        if s.level[node] != height:
            yield Violation("topics", node, f"level {height}", f"level {s.level[node]}")


def children_are_one_below(s: Structure) -> Iterator[Violation]:
    """A child is exactly one level below each of its parents."""
    for parent, child in s.edges.tolist():
        if s.level[child] != s.level[parent] - 1:
            expected = f"level {s.level[parent] - 1}"
            yield Violation("levels", child, expected, f"level {s.level[child]}")


def layers_shrink(s: Structure) -> Iterator[Violation]:
    """Each layer is smaller than the one below, and every node under the top has a parent,
    but for units heard since the layers were built (RAPTOR)."""
    nodes = np.flatnonzero(s.active)
    sizes = np.bincount(s.level[nodes])
    for level, (below, above) in enumerate(pairwise(sizes.tolist()), start=1):
        heard = sum(bool(s.parents[leaf]) for leaf in s.leaves) if level == 1 else below
        if not 0 < above < heard:
            yield Violation("layers", -1, f"fewer than {heard} nodes on level {level}", f"{above}")
    if len(sizes) < 2:
        return
    waiting = False
    for node in nodes[s.level[nodes] < len(sizes) - 1].tolist():
        if s.level[node] > 0 and not s.parents[node]:
            yield Violation("layers", node, "a parent below the top layer", "none")
        if s.level[node] == 0:
            if waiting and s.parents[node]:
                yield Violation("layers", node, "no parent after a unit without one", "a parent")
            waiting = waiting or not s.parents[node]


def three_levels(s: Structure) -> Iterator[Violation]:
    """Root, clusters, units: the root on level 2, nothing higher (SegTreeMem App. F)."""
    for root in s.roots:
        if s.level[root] != 2:
            yield Violation("three levels", root, "the root on level 2", f"{s.level[root]}")
