"""Layer 1: what must hold of a structure, and who breaks it.

``check(structure)`` returns every violation; an empty list means clean. The general laws
hold for every system. A system names further laws in its ``laws`` attribute, one of
``LAWS``; the segment tree's are those of SegTreeMem §4.1 and §4.2 (levelled tree,
consecutive disjoint children, chronological leaves, one frontier node per level).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from segviz.structure import Structure


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken law: which, at which node (-1: the whole structure), what was expected
    and what was found."""

    law: str
    node: int
    expected: str
    found: str

    def __str__(self) -> str:
        """``spans: node 4: expected …, found …``."""
        return f"{self.law}: node {self.node}: expected {self.expected}, found {self.found}"


Law = Callable[[Structure], Iterator[Violation]]


def columns_agree(s: Structure) -> Iterator[Violation]:
    """Every column has one row per node and every edge names existing nodes."""
    n = len(s.level)
    lengths = {
        "start": len(s.start),
        "stop": len(s.stop),
        "text": len(s.text),
        "vector": len(s.vector),
        "active": len(s.active),
        "kind": len(s.kind),
        "facts": len(s.facts),
    }
    for name, length in lengths.items():
        if length != n:
            yield Violation("columns", -1, f"{n} rows in {name}", f"{length}")
    if s.edges.size and not (0 <= s.edges.min() and s.edges.max() < n):
        yield Violation("columns", -1, f"edges between nodes 0..{n - 1}", str(s.edges.tolist()))


def edges_are_sound(s: Structure) -> Iterator[Violation]:
    """Edges join active nodes, are not repeated, and go from a higher to a lower level
    (which also rules out cycles)."""
    seen: set[tuple[int, int]] = set()
    for parent, child in map(tuple, s.edges.tolist()):
        if (parent, child) in seen:
            yield Violation("edges", parent, f"one edge to {child}", "a repeated edge")
        seen.add((parent, child))
        for node in (parent, child):
            if not s.active[node]:
                yield Violation("edges", node, "no edge at a retired node", f"{parent}->{child}")
        if s.level[child] >= s.level[parent]:
            yield Violation(
                "edges", child, f"a level below {s.level[parent]}", f"level {s.level[child]}"
            )


def spans_are_hulls(s: Structure) -> Iterator[Violation]:
    """Spans are not empty; an inner node spans exactly the hull of its children; a node
    above level 0 has children."""
    for node in np.flatnonzero(s.active).tolist():
        start, stop = int(s.start[node]), int(s.stop[node])
        if start >= stop:
            yield Violation("spans", node, "start < stop", f"[{start}, {stop})")
        children = s.children[node]
        if not children:
            if s.level[node] > 0:
                yield Violation("spans", node, "children above level 0", "none")
            continue
        hull = (min(int(s.start[c]) for c in children), max(int(s.stop[c]) for c in children))
        if (start, stop) != hull:
            yield Violation("spans", node, f"the hull {hull} of its children", f"({start}, {stop})")


def vectors_are_finite(s: Structure) -> Iterator[Violation]:
    """No embedding holds NaN or infinity."""
    for node in np.flatnonzero(~np.isfinite(s.vector).all(axis=1)).tolist():
        yield Violation("vectors", node, "finite numbers", "NaN or infinity")


def relations_are_sound(s: Structure) -> Iterator[Violation]:
    """Relations join two active nodes and weigh a finite amount other than 0."""
    for relation in s.relations:
        for node in (relation.source, relation.target):
            if not (0 <= node < len(s) and s.active[node]):
                yield Violation("relations", node, "an active node at both ends", str(relation))
        if not math.isfinite(relation.weight) or relation.weight == 0:
            yield Violation("relations", relation.source, "a finite weight, not 0", str(relation))


def one_tree(s: Structure) -> Iterator[Violation]:
    """At most one parent each and exactly one root, which spans everything (§4.1)."""
    for node in np.flatnonzero(s.active).tolist():
        if len(s.parents[node]) > 1:
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
    for parent, child in s.edges.tolist():
        if s.level[child] != s.level[parent] - 1:
            yield Violation(
                "levels", child, f"level {int(s.level[parent]) - 1}", f"level {s.level[child]}"
            )
    if s.leaves:
        depths = {int(s.depth[leaf]) for leaf in s.leaves}
        if len(depths) > 1:
            yield Violation("levels", -1, "all leaves at one depth", f"depths {sorted(depths)}")


def leaves_are_chronological(s: Structure) -> Iterator[Violation]:
    """The i-th leaf, in creation order, holds exactly unit i."""
    for index, leaf in enumerate(s.leaves):
        if (int(s.start[leaf]), int(s.stop[leaf])) != (index, index + 1):
            yield Violation(
                "chronology", leaf, f"[{index}, {index + 1})", f"[{s.start[leaf]}, {s.stop[leaf]})"
            )


def children_are_consecutive(s: Structure) -> Iterator[Violation]:
    """Children, in order, cover consecutive disjoint spans (equation 1)."""
    for node, children in enumerate(s.children):
        for left, right in pairwise(children):
            if s.stop[left] != s.start[right]:
                yield Violation(
                    "consecutive",
                    node,
                    f"child {right} to start at {s.stop[left]}",
                    f"start {s.start[right]}",
                )


def frontier_is_a_chain(s: Structure) -> Iterator[Violation]:
    """One frontier node per level, from the newest leaf up to the root (§4.2)."""
    levels = [int(s.level[node]) for node in s.frontier]
    if levels != list(range(len(levels))):
        yield Violation("frontier", -1, "one node on each level from 0", f"levels {levels}")
    if s.frontier and s.frontier[-1] not in s.roots:
        yield Violation("frontier", s.frontier[-1], "the root on top", "a node with a parent")


GENERAL: tuple[Law, ...] = (
    columns_agree,
    edges_are_sound,
    spans_are_hulls,
    vectors_are_finite,
    relations_are_sound,
)

LAWS: dict[str, tuple[Law, ...]] = {
    "general": GENERAL,
    "segment-tree": (
        *GENERAL,
        one_tree,
        levels_are_even,
        leaves_are_chronological,
        children_are_consecutive,
        frontier_is_a_chain,
    ),
}


def check(structure: Structure, laws: str = "general") -> list[Violation]:
    """Every violation of the named laws, in the order the laws are listed.

    ``laws`` is a key of ``LAWS``; ValueError lists the keys for any other. When the
    columns themselves disagree only that is reported, since nothing else can be read.
    """
    if laws not in LAWS:
        raise ValueError(f"unknown laws {laws!r}; choose one of {', '.join(LAWS)}")
    broken = list(columns_agree(structure))
    if broken:
        return broken
    return [violation for law in LAWS[laws] for violation in law(structure)]
