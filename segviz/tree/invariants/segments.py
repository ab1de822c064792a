"""Defines the invariants of trees over segments of time.

They are those of the segment tree (SegTreeMem §4.1 and §4.2), and those that survive its
compression, rebuilding and merging.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from segviz.tree.invariants.violation import Violation
from segviz.tree.structure import Structure


def one_tree(s: Structure) -> Iterator[Violation]:
    """At most one parent each and exactly one root, which spans everything (§4.1)."""
    above = np.bincount(s.edges[:, 1], minlength=len(s))
    for node in np.flatnonzero(s.active & (above > 1)).tolist():
        yield Violation("one tree", node, "one parent", str(s.parents[node]))
    if len(s) and len(s.roots) != 1:
        yield Violation("one tree", -1, "one root", str(s.roots))
    for root in s.roots:
        whole = (0, len(s.leaves))
        if (int(s.start[root]), int(s.stop[root])) != whole:
            found = f"({s.start[root]}, {s.stop[root]})"
            yield Violation("one tree", root, f"the whole span {whole}", found)


def levels_are_even(s: Structure) -> Iterator[Violation]:
    """A child is exactly one level below its parent, so all leaves share one depth."""
    parents, children = s.edges.T
    uneven = np.flatnonzero(s.level[children] != s.level[parents] - 1)
    for parent, child in s.edges[uneven].tolist():
        yield Violation(
            "levels", child, f"level {int(s.level[parent]) - 1}", f"level {s.level[child]}"
        )
    # Where every edge goes down one level, the levels of the roots are the depths of the leaves.
    if len(uneven) or len(set(s.level[list(s.roots)].tolist())) > 1:
        depths = {int(s.depth[leaf]) for leaf in s.leaves}
        if len(depths) > 1:
            yield Violation("levels", -1, "all leaves at one depth", f"depths {sorted(depths)}")


def leaves_are_chronological(s: Structure) -> Iterator[Violation]:
    """The i-th leaf, in creation order, holds exactly unit i."""
    leaves = np.array(s.leaves, dtype=np.int64)
    unit = np.arange(len(leaves))
    for index in np.flatnonzero((s.start[leaves] != unit) | (s.stop[leaves] != unit + 1)).tolist():
        leaf = s.leaves[index]
        found = f"[{s.start[leaf]}, {s.stop[leaf]})"
        yield Violation("chronology", leaf, f"[{index}, {index + 1})", found)


def children_are_consecutive(s: Structure) -> Iterator[Violation]:
    """Children, in order, cover consecutive disjoint spans (equation 1)."""
    parents, children = s.edges[np.argsort(s.edges[:, 0], kind="stable")].T
    siblings = parents[1:] == parents[:-1]
    for left in np.flatnonzero(siblings & (s.stop[children[:-1]] != s.start[children[1:]])):
        right = children[left + 1]
        expected = f"child {right} to start at {s.stop[children[left]]}"
        yield Violation("consecutive", int(parents[left]), expected, f"start {s.start[right]}")


def frontier_is_a_chain(s: Structure) -> Iterator[Violation]:
    """One frontier node per level, from the newest leaf up to the root (§4.2)."""
    levels = [int(s.level[node]) for node in s.frontier]
    if levels != list(range(len(levels))):
        yield Violation("frontier", -1, "one node on each level from 0", f"levels {levels}")
    if s.frontier and s.frontier[-1] not in s.roots:
        yield Violation("frontier", s.frontier[-1], "the root on top", "a node with a parent")


def one_root(s: Structure) -> Iterator[Violation]:
    """Exactly one root, which spans all units heard."""
    if len(s) and len(s.roots) != 1:
        yield Violation("one root", -1, "one root", str(s.roots))
    whole = (0, int(s.stop[s.active].max(initial=0)))
    for root in s.roots:
        span = (int(s.start[root]), int(s.stop[root]))
        if span != whole:
            yield Violation("one root", root, f"the whole span {whole}", str(span))


def leaves_tile(s: Structure) -> Iterator[Violation]:
    """Leaves cover the units without a gap, in the order of their ids; one may hold several."""
    reached = 0
    for leaf in s.leaves:
        if s.start[leaf] != reached:
            yield Violation("tiling", leaf, f"a leaf from unit {reached}", f"from {s.start[leaf]}")
        reached = int(s.stop[leaf])


def frontier_rises(s: Structure) -> Iterator[Violation]:
    """At most one frontier node per level, the root on top."""
    levels = [int(s.level[node]) for node in s.frontier]
    if len(set(levels)) < len(levels):
        yield Violation("frontier", -1, "one node on each level", f"levels {levels}")
    if s.frontier and s.frontier[-1] not in s.roots:
        yield Violation("frontier", s.frontier[-1], "the root on top", "a node with a parent")
