"""Checks the sizes, order and times of the trees of a forest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from segviz.tree import Structure
from segviz.tree.invariants import Violation, fact


def forest_is_balanced(s: Structure) -> Iterator[Violation]:
    """Checks that nodes have at most k children one level below, in the order of time.

    A node other than the root has at least 2. Its times and item count are those of its children.
    """
    for node in np.flatnonzero(s.active & (s.level > 1)).tolist():
        children, root = s.children[node], node
        # Levels must rise, so that the loop also ends in a corrupt file with a cycle.
        while above := [p for p in s.parents[root] if s.level[p] > s.level[root]]:
            root = above[0]
        if len(s.parents[node]) > 1:
            yield Violation("forest", node, "one parent", str(s.parents[node]))
        k, least = fact(s, root, "k"), 1 if root == node else 2
        if not least <= len(children) <= k:
            yield Violation("forest", node, f"{least} to {k:g} children", str(len(children)))
        if {int(s.level[c]) for c in children} - {int(s.level[node]) - 1}:
            yield Violation("forest", node, "children one level below", str(children))
        starts = [fact(s, c, "from") for c in children]
        if starts != sorted(starts):
            yield Violation("forest", node, "children in the order of time", str(starts))
        for name, expected in (
            ("from", min(starts, default=0.0)),
            ("to", max((fact(s, c, "to") for c in children), default=0.0)),
            ("items", sum(fact(s, c, "items") for c in children)),
        ):
            if fact(s, node, name) != expected:
                yield Violation("forest", node, f"{name} {expected}", str(s.facts[node].get(name)))
