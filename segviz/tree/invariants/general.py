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
