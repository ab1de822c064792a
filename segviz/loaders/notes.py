"""What loaders jot down while reading, and how it becomes the report's findings.

A ``Place`` is the way from the document's root to a value: keys and list positions,
``(3, "conversation", "session_7", 12, "text")``. It may begin with a ``Member`` of an archive
or folder and a ``Line`` of a text. Loaders read in the order that suits them (turns before
the questions that cite them); ``findings.in_file_order`` sorts afterwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from segviz.conversation import Kind
from segviz.loaders.captions import one_line, quoted, shorten

Place = tuple[str | int, ...]


class Line(int):
    """A step of a place: a line of a text, counted from 1."""


class Member(str):
    """A step of a place: a file of an archive or folder."""

    __slots__ = ()


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
