"""Checks structures against invariants and reports the violations.

``check(structure)`` returns every violation; an empty list means clean. The general ones
hold for every system. A system names further ones in its ``invariants`` attribute, one of
``INVARIANTS``; the segment tree's are those of SegTreeMem §4.1 and §4.2 (levelled tree,
consecutive disjoint children, chronological leaves, one frontier node per level).

An invariant is a function from a structure to its violations. To add one, write it beside its
kind and name it in a row of ``INVARIANTS``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from segviz.tree.events import as_number
from segviz.tree.structure import Structure


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken invariant: which, at which node (-1: the whole structure), what was expected
    and what was found."""

    invariant: str
    node: int
    expected: str
    found: str

    def __str__(self) -> str:
        """``spans: node 4: expected …, found …``."""
        return f"{self.invariant}: node {self.node}: expected {self.expected}, found {self.found}"


Invariant = Callable[[Structure], Iterator[Violation]]


# --- every structure -------------------------------------------------------------------------


def columns_agree(s: Structure) -> Iterator[Violation]:
    """Every column has one row per node and every edge names existing nodes."""
    n = len(s.level)
    for name in ("start", "stop", "text", "vector", "active", "kind", "facts"):
        length = len(getattr(s, name))
        if length != n:
            yield Violation("columns", -1, f"{n} rows in {name}", f"{length}")
    if s.edges.size and not (0 <= s.edges.min() and s.edges.max() < n):
        yield Violation("columns", -1, f"edges between nodes 0..{n - 1}", str(s.edges.tolist()))


def edges_are_sound(s: Structure) -> Iterator[Violation]:
    """Edges join active nodes, are not repeated, and go from a higher to a lower level
    (which also rules out cycles)."""
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
    """Spans are not empty; an inner node spans exactly the hull of its children; a node
    above level 0 has children."""
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
    """No embedding holds NaN or infinity."""
    rows = max(1, _PART // max(1, s.vector.shape[1]))
    sound = [np.isfinite(s.vector[i : i + rows]).all(axis=1) for i in range(0, len(s), rows)]
    for node in np.flatnonzero(~np.concatenate([*sound, np.ones(0, np.bool_)])).tolist():
        yield Violation("vectors", node, "finite numbers", "NaN or infinity")


_PART = 1 << 18  # numbers that are looked at together


def relations_are_sound(s: Structure) -> Iterator[Violation]:
    """Relations join two active nodes and weigh a finite amount other than 0."""
    for relation in s.relations:
        for node in (relation.source, relation.target):
            if not (0 <= node < len(s) and s.active[node]):
                yield Violation("relations", node, "an active node at both ends", str(relation))
        if not math.isfinite(relation.weight) or relation.weight == 0:
            yield Violation("relations", relation.source, "a finite weight, not 0", str(relation))


# --- trees over segments of time: the segment tree -------------------------------------------


def levels_are_even(s: Structure) -> Iterator[Violation]:
    """A child is exactly one level below its parent, so all leaves share one depth."""
    uneven = list(children_are_one_below(s))
    yield from uneven
    # Where every edge goes down one level, the levels of the roots are the depths of the leaves.
    if uneven or len(set(s.level[list(s.roots)].tolist())) > 1:
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


# --- trees by similarity (clustering, MemTree, RAPTOR) and flat memories ---------------------


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
    above = np.bincount(s.edges[:, 1], minlength=len(s))
    for node in np.flatnonzero(above > 1).tolist():
        yield Violation("one parent", node, "at most one parent", str(s.parents[node]))


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
    parents, children = s.edges.T
    off = s.level[children] != s.level[parents] - 1
    for parent, child in s.edges[off].tolist():
        expected = f"level {int(s.level[parent]) - 1}"
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


# --- memories with kinds of nodes and facts: H-Mem, MemForest, xMemory -----------------------


def events_have_a_place(s: Structure) -> Iterator[Violation]:
    """H-Mem: events and summaries have at most one parent among summaries, one level up,
    in whose window they were opened."""
    for node in np.flatnonzero(s.active).tolist():
        if s.kind[node] not in ("event", "summary"):
            continue
        above = s.parents[node]
        if len(above) > 1:
            yield Violation("windows", node, "one parent", str(above))
        for parent in above:
            if s.level[parent] != s.level[node] + 1:
                found = f"level {s.level[parent]}"
                yield Violation("windows", node, f"a parent on level {s.level[node] + 1}", found)
            opened = _fact(s, node, "opened")
            start, stop = _fact(s, parent, "window_from"), _fact(s, parent, "window_to")
            if not start <= opened < stop:
                yield Violation("windows", node, f"opened in [{start}, {stop})", str(opened))


def forest_is_balanced(s: Structure) -> Iterator[Violation]:
    """MemForest: a tree's node has at most k children one level below, at least 2 unless it
    is the root, in the order of time; its times and item count are those of its children."""
    for node in np.flatnonzero(s.active & (s.level > 1)).tolist():
        children, root = s.children[node], node
        # Levels rise, so that a file whose edges run in a circle ends, too.
        while above := [p for p in s.parents[root] if s.level[p] > s.level[root]]:
            root = above[0]
        if len(s.parents[node]) > 1:
            yield Violation("forest", node, "one parent", str(s.parents[node]))
        k, least = _fact(s, root, "k"), 1 if root == node else 2
        if not least <= len(children) <= k:
            yield Violation("forest", node, f"{least} to {k:g} children", str(len(children)))
        if {int(s.level[c]) for c in children} - {int(s.level[node]) - 1}:
            yield Violation("forest", node, "children one level below", str(children))
        starts = [_fact(s, c, "from") for c in children]
        if starts != sorted(starts):
            yield Violation("forest", node, "children in the order of time", str(starts))
        for name, expected in (
            ("from", min(starts, default=0.0)),
            ("to", max((_fact(s, c, "to") for c in children), default=0.0)),
            ("items", sum(_fact(s, c, "items") for c in children)),
        ):
            if _fact(s, node, name) != expected:
                yield Violation("forest", node, f"{name} {expected}", str(s.facts[node].get(name)))


def statements_are_parted(s: Structure) -> Iterator[Violation]:
    """xMemory: every message has one episode, every statement one theme; a theme holds at
    most as many as it may (``most``, 0: any number) and knows its size."""
    for node in np.flatnonzero(s.active).tolist():
        owner = {"": "episode", "semantic": "theme"}.get(s.kind[node])
        if owner is not None:
            kinds = [s.kind[parent] for parent in s.parents[node]]
            if kinds != [owner]:
                yield Violation("partition", node, f"one {owner} above", str(kinds))
        if s.kind[node] == "theme":
            size = len(s.children[node])
            most = _fact(s, node, "most")
            if not (size <= most or most == 0):
                yield Violation("partition", node, f"{most:g} members", str(size))
            if size != s.facts[node].get("size"):
                yield Violation("partition", node, f"size {size}", str(s.facts[node].get("size")))


def _fact(s: Structure, node: int, name: str) -> float:
    """A fact as a number; NaN, which no invariant accepts, where there is none."""
    return as_number(s.facts[node], name, math.nan)


# --- by name ---------------------------------------------------------------------------------

_GENERAL: tuple[Invariant, ...] = (
    columns_agree,
    edges_are_sound,
    spans_are_hulls,
    vectors_are_finite,
    relations_are_sound,
)

_ONE_TREE = (*_GENERAL, one_parent, one_root)

INVARIANTS: dict[str, tuple[Invariant, ...]] = {
    "general": _GENERAL,
    "segment-tree": (
        *_ONE_TREE,
        levels_are_even,
        leaves_are_chronological,
        children_are_consecutive,
        frontier_is_a_chain,
    ),
    "clustering": (*_ONE_TREE, levels_are_even, leaves_are_chronological, three_levels),
    "memtree": (*_GENERAL, one_parent, leaves_are_units, topics_branch),
    "raptor": (*_GENERAL, leaves_are_units, children_are_one_below, layers_shrink),
    "flat": (*_GENERAL, leaves_are_units, nothing_above_units),
    "h-mem": (*_GENERAL, events_have_a_place),
    "memforest": (*_GENERAL, forest_is_balanced),
    "xmemory": (*_GENERAL, statements_are_parted),
}
"""The invariants by name; every row holds the general ones."""


def check(structure: Structure, invariants: str = "general") -> list[Violation]:
    """Every violation of the named invariants by ``structure``, in the order they are listed.

    ``invariants`` is a key of ``INVARIANTS``; ValueError lists the keys for any other. When the
    columns themselves disagree only that is reported, since nothing else can be read.
    """
    if invariants not in INVARIANTS:
        raise ValueError(f"unknown laws {invariants!r}; choose one of {', '.join(INVARIANTS)}")
    broken = list(columns_agree(structure))
    if broken:
        return broken
    return [violation for invariant in INVARIANTS[invariants] for violation in invariant(structure)]
