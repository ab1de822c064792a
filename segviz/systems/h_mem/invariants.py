"""Checks that events and summaries lie in the windows of their parents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from segviz.tree import Structure
from segviz.tree.invariants import Violation, fact


def events_have_a_place(s: Structure) -> Iterator[Violation]:
    """Checks that events and summaries have at most one parent summary, one level up.

    They must have been opened in its window.
    """
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
            opened = fact(s, node, "opened")
            start, stop = fact(s, parent, "window_from"), fact(s, parent, "window_to")
            if not start <= opened < stop:
                yield Violation("windows", node, f"opened in [{start}, {stop})", str(opened))
