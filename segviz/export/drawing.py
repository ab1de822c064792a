"""What of a view is drawn where: on the time axis, or unfolded where it does not follow time.

As on the pages: a structure whose boxes would lie over each other is drawn in the order of
its branches, nodes with several parents under each of them (``segviz.tree.unfold``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from segviz.export.view import View
from segviz.tree import Add, Decision, IntArray, Revise, Structure
from segviz.tree.unfold import Unfolded, follows_time, unfold


@dataclass(frozen=True, eq=False)
class Drawing:
    """A structure to draw.

    ``structure`` is the view's own or the unfolded one, ``node`` int32 (n,) the view's node
    for each of its nodes, ``sessions`` the session at each place of the axis (-1: none).
    """

    view: View
    structure: Structure
    node: IntArray
    sessions: Sequence[int]
    unfolded: Unfolded | None = None

    def first(self, nodes: Iterable[int]) -> list[int]:
        """The leftmost place of each of the view's nodes."""
        return list(nodes) if self.unfolded is None else self.unfolded.first(nodes)

    def every(self, nodes: Iterable[int]) -> list[int]:
        """All places of the view's nodes."""
        return list(nodes) if self.unfolded is None else self.unfolded.every(nodes)

    @property
    def selected(self) -> int | None:
        """Where the selected node is drawn."""
        node = self.view.bookmark.node
        known = node is not None and node < len(self.view.structure)
        return next(iter(self.first([node] if known and node is not None else [])), None)

    @property
    def added(self) -> list[int]:
        """The nodes the step made."""
        return self._touched(Add)

    @property
    def revised(self) -> list[int]:
        """The nodes the step changed."""
        return self._touched(Revise)

    def _touched(self, kind: type[Add | Revise]) -> list[int]:
        found = [event.node for event in self.view.events if isinstance(event, kind)]
        return self.every(node for node in found if node < len(self.view.structure))

    @property
    def frontier(self) -> list[int]:
        """The nodes a new unit may join."""
        return self.every(self.view.structure.frontier)

    @property
    def decision(self) -> Decision | None:
        """The step's decision, its candidates where they are drawn."""
        decision = self.view.step.decision if self.view.step else None
        if decision is None or self.unfolded is None:
            return decision
        return self.unfolded.decision(decision)


def drawing(view: View) -> Drawing:
    """How a view is drawn."""
    structure, sessions = view.structure, view.unit_sessions
    if view.memory.laws == "segment-tree" or follows_time(structure):
        return Drawing(view, structure, np.arange(len(structure), dtype=np.int32), sessions)
    found = unfold(structure)
    return Drawing(
        view,
        found.structure,
        found.node,
        [sessions[unit] if unit < len(sessions) else -1 for unit in found.unit.tolist()],
        found,
    )
