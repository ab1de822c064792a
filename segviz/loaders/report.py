"""What loaders jot down while reading, and how it becomes the report's findings.

Loaders read in the order that suits them (turns before the questions that cite them);
``in_file_order`` sorts afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from segviz.conversation import Finding, Kind
from segviz.loaders.captions import one_line, quoted, shorten
from segviz.loaders.document import JsonLines, Line, Member, Place

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
    """``[3].conversation.session_7[12].text``, ``line 4, text``; the root is ``file``."""
    if not place:
        return "file"
    if isinstance(place[0], Line | Member):
        first = place[0]
        head = f"line {first}" if isinstance(first, Line) else one_line(shorten(first, tail=16))
        return f"{head}, {shown(place[1:])}" if place[1:] else head
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
        ranks: list[int] = []
        for step in note.place:
            if isinstance(step, Line):
                ranks.append(step)
                node = None
            elif isinstance(node, dict) and isinstance(step, str):
                order = rows.setdefault(id(node), {})
                if not order:
                    order.update((key, row) for row, key in enumerate(node))
                ranks.append(order.get(step, len(node)))
                node = node.get(step)
            elif isinstance(node, list) and isinstance(step, int):
                ranks.append(node.lines[step] if isinstance(node, JsonLines) else step)
                node = node[step] if step < len(node) else None
            else:
                ranks.append(0)
                node = None
        return ranks

    return tuple(
        Finding(note.kind, shown(_with_line(document, note.place)), note.what)
        for note in sorted(notes, key=position)
    )


def _with_line(document: object, place: Place) -> Place:
    """The place with the line where a document of JSON Lines begins instead of its position."""
    if not isinstance(document, JsonLines) or not place or not isinstance(place[0], int):
        return place
    first = place[0]
    return place if isinstance(first, Line) else (Line(document.lines[first]), *place[1:])
