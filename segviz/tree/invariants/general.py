"""Defines the invariants of every system's structure."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from segviz.tree.invariants.violation import Violation
from segviz.tree.structure import Structure


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
