"""Defines the invariants of memories with kinds of nodes and facts: H-Mem, MemForest, xMemory."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from segviz.tree.events import as_number
from segviz.tree.invariants.violation import Violation
from segviz.tree.structure import Structure


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
