"""MemForest's cells: units of one session, a few turns of one talk, read for facts when closed."""

from __future__ import annotations

import re

from segviz.construct import Arrival
from segviz.construct.tasks.words import lines
from segviz.conversation import Moment
from segviz.systems.common.draft import Draft
from segviz.tree import as_number

CELL = "cell"
_CHARACTERS = 8000
_GAP = 6 * 3600.0
_MARKER = re.compile(r"\b(?:by the way|anyway|changing the subject|on another note)\b", re.I)


class Cells:
    """The cells of a draft; the last may still be open."""

    def __init__(self, draft: Draft, turns: int) -> None:
        """Take up the cells as they stand in ``draft``; one of ``turns`` turns is full."""
        self._draft = draft
        self._turns = turns

    def waiting(self) -> int | None:
        """The last cell, where it is still open."""
        for node in range(len(self._draft) - 1, -1, -1):
            if self._draft.kind[node] == CELL and self._draft.active[node]:
                return None if self._draft.facts[node]["closed"] else node
        return None

    def fitting(self, arrival: Arrival, when: Moment) -> int | None:
        """The open cell, where a unit carries its talk on."""
        cell = self.waiting()
        if cell is None or self._draft.facts[cell]["session"] != arrival.session:
            return None
        gap = when.seconds - as_number(self._draft.facts[cell], "to")
        longer = len(self._draft.text[cell]) + len(arrival.text) > _CHARACTERS
        return None if gap > _GAP or longer or _MARKER.search(arrival.text) else cell

    def begin(self, leaf: int, arrival: Arrival, when: Moment) -> int:
        """A new cell over its first unit."""
        return self._draft.add(
            1,
            [leaf],
            arrival.text,
            CELL,
            {
                "session": arrival.session,
                "from": when.seconds,
                "to": when.seconds,
                "dated": when.dated,
                "closed": False,
                "items": 1,
            },
            arrival.vector,
        )

    def carry_on(self, cell: int, leaf: int, arrival: Arrival, when: Moment) -> None:
        """One more unit in an open cell."""
        draft = self._draft
        draft.link(cell, leaf)
        draft.note(cell, to=max(when.seconds, as_number(draft.facts[cell], "to")))
        draft.rewrite([cell], [f"{draft.text[cell]}\n{arrival.text}"])

    def full(self, cell: int) -> bool:
        """Whether a cell has turns or text enough to be closed."""
        text = self._draft.text[cell]
        return len(lines(text)) >= self._turns or len(text) > _CHARACTERS
