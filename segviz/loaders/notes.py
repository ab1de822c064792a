"""What loaders jot down while reading, and how it becomes the report's findings.

A ``Place`` is the way from the document's root to a value: keys and list positions,
``(3, "conversation", "session_7", 12, "text")``. Loaders read in the order that suits
them (turns before the questions that cite them); ``in_file_order`` sorts afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from segviz.conversation import Finding, Kind
from segviz.loaders.wording import quoted, shorten

Place = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Note:
    """A finding whose place is still a path of keys and positions."""

    kind: Kind
    place: Place
    what: str


class Notes(list[Note]):
    """The notes of one reading, in the order they were made."""

    def repaired(self, place: Place, what: str) -> None:
        """A record was kept after a mend."""
        self.append(Note("repaired", place, what))

    def skipped(self, place: Place, what: str) -> None:
        """A record was left out."""
        self.append(Note("skipped", place, what))


def shown(place: Place) -> str:
    """``[3].conversation.session_7[12].text``; the root is ``file``."""
    if not place:
        return "file"
    parts = []
    for step in place:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_KEY.fullmatch(step):
            parts.append(f".{shorten(step)}")
        else:
            parts.append(f"[{quoted(step)}]")
    return "".join(parts).removeprefix(".")


def in_file_order(document: object, notes: Sequence[Note]) -> tuple[Finding, ...]:
    """The notes as findings, sorted by where their place stands in the document.

    A missing key counts as standing after the keys there are; notes about one place keep
    the order in which they were made.
    """
    rows: dict[int, dict[str, int]] = {}

    def position(note: Note) -> list[int]:
        node: object = document
        ranks = []
        for step in note.place:
            if isinstance(node, dict) and isinstance(step, str):
                order = rows.setdefault(id(node), {})
                if not order:
                    order.update((key, row) for row, key in enumerate(node))
                ranks.append(order.get(step, len(node)))
                node = node.get(step)
            elif isinstance(node, list) and isinstance(step, int):
                ranks.append(step)
                node = node[step] if step < len(node) else None
            else:
                ranks.append(0)
                node = None
        return ranks

    return tuple(
        Finding(note.kind, shown(note.place), note.what) for note in sorted(notes, key=position)
    )
