"""Lays out the axis by clock, and structures that do not follow time.

Where a node gathers units from all over the conversation its span is only a hull, and boxes over
spans would overlap. :func:`unfold` puts the leaves in the order of the tree instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import seconds
from segviz.tree.structure import IntArray, Structure, once_per_structure

_COPIES = 4
"""Limit of the nodes of an unfolded structure per active node of the original."""


@dataclass(frozen=True, eq=False)
class Unfolded:
    """Structure laid out without overlaps.

    ``structure`` is a forest whose spans count positions on the axis. ``node`` int32 (n,) has the
    original of each of its nodes, ``unit`` int32 (p,) the unit at each position.
    """

    structure: Structure
    node: IntArray
    unit: IntArray

    def copies(self, node: int) -> tuple[int, ...]:
        """Returns the copies of an original node, from left to right; () for a retired one."""
        return tuple(np.flatnonzero(self.node == node).tolist())

    def first(self, nodes: Iterable[int]) -> list[int]:
        """Returns the leftmost copy of each of these nodes, without retired ones."""
        places = (self.copies(node) for node in nodes)
        return [copies[0] for copies in places if copies]

    def every(self, nodes: Iterable[int]) -> list[int]:
        """Returns all copies of these nodes."""
        return [copy for node in nodes for copy in self.copies(node)]


WAITED: Final = 0.4
"""Share of an axis by clock that waits take; every unit has an equal part of the rest."""

LONGEST_WAIT: Final = 5.0
"""Multiple of the median wait to which longer waits are shortened."""


@dataclass(frozen=True, eq=False)
class Waits:
    """Waits before the units of an axis by clock.

    ``room`` float32 (u,) is the room before each unit, in widths of a unit on the axis by order, so
    that both axes are equally long. ``shortened`` has the units whose wait is drawn shorter than it
    was, with the wait in seconds.
    """

    room: NDArray[np.float32]
    shortened: dict[int, float]


def waits(times: Sequence[datetime | None]) -> Waits | None:
    """Returns the waits between units on an axis by clock; None if all have one time, or none.

    A unit takes ``1 - WAITED`` of its width on the axis by order. Waits take the rest: the time
    from the start of a unit to that of the next, up to ``LONGEST_WAIT`` times the median wait. A
    unit without a time, or with an earlier one than before, has no wait.

    Args:
        times: time of every unit.
    """
    first = next((seconds(time) for time in times if time), 0.0)
    known = np.array([seconds(time) if time else first for time in times], np.float64)
    latest = np.maximum.accumulate(np.maximum(known, first))
    apart = np.diff(latest, prepend=first)
    if not apart.any():
        return None
    limit = LONGEST_WAIT * float(np.median(apart[apart > 0]))
    drawn = np.minimum(apart, limit)
    room = (WAITED * len(times) / drawn.sum() * drawn).astype(np.float32)
    longer = np.flatnonzero(apart > limit).tolist()
    return Waits(room, {unit: float(apart[unit]) for unit in longer})


def follows_time(structure: Structure) -> bool:
    """Returns True if nodes cover their whole spans and have one parent: no overlaps over time."""
    active = np.flatnonzero(structure.active)
    if any(len(structure.parents[node]) > 1 for node in active.tolist()):
        return False
    covered = np.zeros(len(structure), dtype=np.int64)
    leaf = structure.active & (structure.level == 0)
    covered[leaf] = (structure.stop - structure.start)[leaf]
    for node in active[np.argsort(structure.level[active], kind="stable")].tolist():
        for parent in structure.parents[node]:
            covered[parent] += covered[node]
    return bool((covered == structure.stop - structure.start)[active].all())


@once_per_structure(lambda: ())
def unfold(structure: Structure) -> Unfolded:
    """Lays the nodes out depth first from every root, oldest first, children in their order.

    Once copies exceed four times the nodes, a node is drawn under its first parent only.
    """
    limit = _COPIES * max(1, int(structure.active.sum()))
    origin: list[int] = []
    parent: list[int] = []
    seen: set[int] = set()
    # Preorder with an explicit stack of (original node, copy of its parent). Entries on the
    # stack count towards the limit; beyond it only nodes not drawn yet are laid out.
    stack = [(root, -1) for root in reversed(structure.roots)]
    while stack:
        node, above = stack.pop()
        if node in seen and len(origin) + len(stack) >= limit:
            continue
        seen.add(node)
        here = len(origin)
        origin.append(node)
        parent.append(above)
        stack += [(child, here) for child in reversed(structure.children[node])]
    return _lay_out(structure, np.array(origin, dtype=np.int32), np.array(parent, dtype=np.int32))


def _lay_out(structure: Structure, origin: IntArray, parent: IntArray) -> Unfolded:
    """Places childless copies side by side in preorder and every other copy over its children.

    ``origin`` has the node of each copy, ``parent`` the copy above it (-1 for a root).
    """
    n = len(origin)
    bottom = np.ones(n, dtype=np.bool_)
    bottom[parent[parent >= 0]] = False
    width = np.where(bottom, structure.stop[origin] - structure.start[origin], 0)
    width[bottom & (structure.level[origin] > 0)] = 1  # its children were cut by the limit
    # In preorder the width before a node is its start. Its stop is the largest of its
    # children's, found by going backwards, because children come after their parents.
    start: NDArray[np.int64] = np.cumsum(width) - width
    stop = start + width
    for here in range(n - 1, 0, -1):
        above = int(parent[here])
        if above >= 0:
            stop[above] = max(stop[above], stop[here])
    unit = np.zeros(int(width.sum()), dtype=np.int32)
    for here in np.flatnonzero(bottom).tolist():
        first = int(structure.start[origin[here]])
        unit[start[here] : stop[here]] = np.arange(first, first + int(width[here]))
    edges = np.column_stack([parent, np.arange(n)])[parent >= 0].astype(np.int32)
    drawn = replace(
        structure,
        level=structure.level[origin],
        start=start.astype(np.int32),
        stop=stop.astype(np.int32),
        text=tuple(structure.text[node] for node in origin.tolist()),
        vector=structure.vector[origin],
        active=np.ones(n, dtype=np.bool_),
        edges=edges.reshape(-1, 2),
        kind=tuple(structure.kind[node] for node in origin.tolist()),
        facts=tuple(structure.facts[node] for node in origin.tolist()),
        relations=(),
        chain=np.arange(n, dtype=np.int32),
        top=structure.top[origin],
    )
    return Unfolded(drawn, origin, unit)
