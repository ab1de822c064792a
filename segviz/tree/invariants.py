"""Checks structures against invariants and reports the violations.

``check(structure, invariants)`` returns every violation; an empty list means clean. The general
invariants hold for every structure. A system's class lists further ones in its ``invariants``. Each
is a function from a structure to its violations. Those of the segment tree are in SegTreeMem §4.1
and §4.2 (levelled tree, consecutive disjoint children, chronological leaves, one frontier node per
level).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from segviz.tree.events import as_number
from segviz.tree.structure import Structure


@dataclass(frozen=True, slots=True)
class Violation:
    """Broken invariant: its name, the node (-1: all), what was expected and what was found."""

    invariant: str
    node: int
    expected: str
    found: str

    def __str__(self) -> str:
        """Returns ``spans: node 4: expected …, found …``."""
        return f"{self.invariant}: node {self.node}: expected {self.expected}, found {self.found}"


Invariant = Callable[[Structure], Iterator[Violation]]


# --- every structure -------------------------------------------------------------------------


def columns_agree(s: Structure) -> Iterator[Violation]:
    """Checks that every column has one row per node and every edge names existing nodes."""
    n = len(s.level)
    for name in ("start", "stop", "text", "vector", "active", "kind", "facts"):
        length = len(getattr(s, name))
        if length != n:
            yield Violation("columns", -1, f"{n} rows in {name}", f"{length}")
    if s.edges.size and not (0 <= s.edges.min() and s.edges.max() < n):
        yield Violation("columns", -1, f"edges between nodes 0..{n - 1}", str(s.edges.tolist()))


def edges_are_sound(s: Structure) -> Iterator[Violation]:
    """Checks that edges are unique, join active nodes and lead to a lower level (so no cycles)."""
    # Sorted by parent and child, a repeated edge follows its first occurrence.
    parents, children = s.edges.T
    key = parents.astype(np.int64) * len(s) + children
    order = np.argsort(key, kind="stable")
    repeated = np.zeros(len(s.edges), dtype=np.bool_)
    repeated[order[1:]] = key[order[1:]] == key[order[:-1]]
    gone, rising = ~s.active[s.edges].all(axis=1), s.level[children] >= s.level[parents]
    for edge in np.flatnonzero(repeated | gone | rising).tolist():
        parent, child = s.edges[edge].tolist()
        if repeated[edge]:
            yield Violation("edges", parent, f"one edge to {child}", "a repeated edge")
        for node in (parent, child):
            if not s.active[node]:
                yield Violation("edges", node, "no edge at a retired node", f"{parent}->{child}")
        if rising[edge]:
            yield Violation(
                "edges", child, f"a level below {s.level[parent]}", f"level {s.level[child]}"
            )


def spans_are_hulls(s: Structure) -> Iterator[Violation]:
    """Checks that spans are not empty, and that inner nodes span exactly their children's hull."""
    # The hull of the children: the least start and the largest stop over the edges of a parent.
    parents, children = s.edges.T
    first, last = np.full(len(s), _FAR, dtype=np.int32), np.zeros(len(s), dtype=np.int32)
    np.minimum.at(first, parents, s.start[children])
    np.maximum.at(last, parents, s.stop[children])
    childless = np.ones(len(s), dtype=np.bool_)
    childless[parents] = False
    off = np.where(childless, s.level > 0, (first != s.start) | (last != s.stop))
    for node in np.flatnonzero(s.active & (off | (s.start >= s.stop))).tolist():
        start, stop = int(s.start[node]), int(s.stop[node])
        if start >= stop:
            yield Violation("spans", node, "start < stop", f"[{start}, {stop})")
        if childless[node] and off[node]:
            yield Violation("spans", node, "children above level 0", "none")
        elif off[node]:
            hull = (int(first[node]), int(last[node]))
            yield Violation("spans", node, f"the hull {hull} of its children", f"({start}, {stop})")


_FAR = np.iinfo(np.int32).max


def vectors_are_finite(s: Structure) -> Iterator[Violation]:
    """Checks that no embedding has NaN or infinity."""
    rows = max(1, _PART // max(1, s.vector.shape[1]))
    sound = [np.isfinite(s.vector[i : i + rows]).all(axis=1) for i in range(0, len(s), rows)]
    for node in np.flatnonzero(~np.concatenate([*sound, np.ones(0, np.bool_)])).tolist():
        yield Violation("vectors", node, "finite numbers", "NaN or infinity")


_PART = 1 << 18  # numbers checked at a time, which bounds the memory


def relations_are_sound(s: Structure) -> Iterator[Violation]:
    """Checks that relations join two active nodes and have a finite weight other than 0."""
    for relation in s.relations:
        for node in (relation.source, relation.target):
            if not (0 <= node < len(s) and s.active[node]):
                yield Violation("relations", node, "an active node at both ends", str(relation))
        if not math.isfinite(relation.weight) or relation.weight == 0:
            yield Violation("relations", relation.source, "a finite weight, not 0", str(relation))


# --- trees over segments of time -------------------------------------------------------------


def levels_are_even(s: Structure) -> Iterator[Violation]:
    """Checks that children are exactly one level below, so that all leaves share one depth."""
    uneven = list(children_are_one_below(s))
    yield from uneven
    # Where every edge goes down one level, the levels of the roots are the depths of the leaves.
    if uneven or len(set(s.level[list(s.roots)].tolist())) > 1:
        depths = {int(s.depth[leaf]) for leaf in s.leaves}
        if len(depths) > 1:
            yield Violation("levels", -1, "all leaves at one depth", f"depths {sorted(depths)}")


def leaves_are_chronological(s: Structure) -> Iterator[Violation]:
    """Checks that the i-th leaf, in creation order, has exactly unit i."""
    leaves = np.array(s.leaves, dtype=np.int64)
    unit = np.arange(len(leaves))
    for index in np.flatnonzero((s.start[leaves] != unit) | (s.stop[leaves] != unit + 1)).tolist():
        leaf = s.leaves[index]
        span = f"[{s.start[leaf]}, {s.stop[leaf]})"
        yield Violation("chronology", leaf, f"[{index}, {index + 1})", span)


def children_are_consecutive(s: Structure) -> Iterator[Violation]:
    """Checks that children, in order, cover consecutive disjoint spans (equation 1)."""
    parents, children = s.edges[np.argsort(s.edges[:, 0], kind="stable")].T
    siblings = parents[1:] == parents[:-1]
    for left in np.flatnonzero(siblings & (s.stop[children[:-1]] != s.start[children[1:]])):
        right = children[left + 1]
        expected = f"child {right} to start at {s.stop[children[left]]}"
        yield Violation("consecutive", int(parents[left]), expected, f"start {s.start[right]}")


def frontier_is_a_chain(s: Structure) -> Iterator[Violation]:
    """Checks for one frontier node per level, from the newest leaf up to the root (§4.2)."""
    levels = [int(s.level[node]) for node in s.frontier]
    if levels != list(range(len(levels))):
        yield Violation("frontier", -1, "one node on each level from 0", f"levels {levels}")
    if s.frontier and s.frontier[-1] not in s.roots:
        yield Violation("frontier", s.frontier[-1], "the root on top", "a node with a parent")


def one_root(s: Structure) -> Iterator[Violation]:
    """Checks for exactly one root, which spans all units so far."""
    if len(s) and len(s.roots) != 1:
        yield Violation("one root", -1, "one root", str(s.roots))
    whole = (0, int(s.stop[s.active].max(initial=0)))
    for root in s.roots:
        span = (int(s.start[root]), int(s.stop[root]))
        if span != whole:
            yield Violation("one root", root, f"the whole span {whole}", str(span))


# --- trees by similarity and flat memories ---------------------------------------------------


def leaves_are_units(s: Structure) -> Iterator[Violation]:
    """Checks that each leaf has one unit, in order of arrival; deleted units may be missing."""
    before = -1
    for leaf in s.leaves:
        start, stop = int(s.start[leaf]), int(s.stop[leaf])
        if stop != start + 1:
            yield Violation("units", leaf, "a leaf to hold one unit", f"[{start}, {stop})")
        if start <= before:
            yield Violation("units", leaf, f"a unit after {before}", f"unit {start}")
        before = start


def one_parent(s: Structure) -> Iterator[Violation]:
    """Checks that every node has at most one parent."""
    above = np.bincount(s.edges[:, 1], minlength=len(s))
    for node in np.flatnonzero(above > 1).tolist():
        yield Violation("one parent", node, "at most one parent", str(s.parents[node]))


def nothing_above_units(s: Structure) -> Iterator[Violation]:
    """Checks that a flat memory has leaves only."""
    for node in np.flatnonzero(s.active & (s.level > 0)).tolist():
        yield Violation("flat", node, "level 0", f"level {s.level[node]}")


def children_are_one_below(s: Structure) -> Iterator[Violation]:
    """Checks that a child is exactly one level below each of its parents."""
    parents, children = s.edges.T
    off = s.level[children] != s.level[parents] - 1
    for parent, child in s.edges[off].tolist():
        expected = f"level {int(s.level[parent]) - 1}"
        yield Violation("levels", child, expected, f"level {s.level[child]}")


# --- shared by invariants --------------------------------------------------------------------


def fact(s: Structure, node: int, name: str) -> float:
    """Returns a fact of a node as a number; NaN if it is missing, which fails every comparison."""
    return as_number(s.facts[node], name, math.nan)


GENERAL: tuple[Invariant, ...] = (
    columns_agree,
    edges_are_sound,
    spans_are_hulls,
    vectors_are_finite,
    relations_are_sound,
)
"""The invariants of every structure."""


def check(structure: Structure, invariants: Sequence[Invariant] = ()) -> list[Violation]:
    """Returns the violations of the general invariants, then those of ``invariants``.

    Args:
        structure: the memory at one moment. If its columns disagree, only that is reported, since
            nothing else can be read.
        invariants: those of a system (``memory.invariants``, ``type(system).invariants``).

    Returns:
        One violation for each broken place; empty for a sound structure.
    """
    broken = list(columns_agree(structure))
    if broken:
        return broken
    return [
        violation for invariant in (*GENERAL, *invariants) for violation in invariant(structure)
    ]


def are_invariants(value: object) -> bool:
    """Returns True if ``value`` is a tuple of functions, as ``invariants`` of a system must be."""
    return isinstance(value, tuple) and all(map(callable, value))
