"""Collects notes on repairs and omissions, and makes the load report of them.

A file may be wrong in millions of places, so all notes are counted and only the first are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from segviz.conversation import Conversation, Finding, Kind, LoadReport
from segviz.loaders.document import JsonLines, Line, Member, Place
from segviz.text.captions import one_line, quoted, shorten

_PLAIN_KEY = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Note:
    """Repair or omission in a file, with its place as keys and positions."""

    kind: Kind
    place: Place
    what: str


LISTED = 100
"""Findings that a load report lists; further ones are only counted."""


class Notes(list[Note]):
    """Notes of a file or a part of it: the first 100, and the number of others by kind.

    ``headers`` and ``columns`` are a table's columns and their meanings; ``passed`` are texts of
    messages that are left out on purpose and counted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.beyond = Counter[Kind]()
        self.headers: tuple[str, ...] = ()
        self.columns: Mapping[str, str] = {}
        self.passed: list[str] = []

    def repaired(self, place: Place, what: str) -> None:
        """Adds a note that a record was repaired and kept."""
        self.add(Note("repaired", place, what))

    def skipped(self, place: Place, what: str) -> None:
        """Adds a note that a record was left out."""
        self.add(Note("skipped", place, what))

    def add(self, note: Note) -> None:
        """Adds a note; after the first 100 it is only counted."""
        if len(self) < LISTED:
            self.append(note)
        else:
            self.beyond[note.kind] += 1

    def take(self, *parts: Iterable[Note], within: Place = (), document: object = None) -> None:
        """Adds the notes of parts of the file, whose place is ``within``.

        Positions in a ``document`` of JSON Lines become numbers of lines.
        """
        for part in parts:
            for note in part:
                place = note.place
                if isinstance(document, JsonLines) and place and type(place[0]) is int:
                    place = (Line(document.lines[place[0]]), *place[1:])
                self.add(Note(note.kind, (*within, *place), note.what))
            if isinstance(part, Notes):
                self.beyond += part.beyond
                self.headers, self.columns = part.headers, part.columns

    def report(
        self, name: str, source_format: str, conversations: Sequence[Conversation]
    ) -> LoadReport:
        """Returns the load report of these conversations."""
        kept = sum(len(conversation.turns) for conversation in conversations)
        findings = tuple(Finding(note.kind, shown(note.place), note.what) for note in self)
        counts = dict(Counter(note.kind for note in self) + self.beyond)
        sessions = [session for each in conversations for session in each.sessions]
        known = {
            "times": any(session.start or session.raw_date for session in sessions),
            "speakers": any(set(each.speakers) - {"Unknown"} for each in conversations),
        }
        lacks = tuple(what for what, each in known.items() if not each)
        table = self.headers, self.columns
        return LoadReport(name, source_format, kept, findings, counts, *table, lacks)


def shown(place: Place) -> str:
    """Formats a place: ``[3].conversation.session_7[12].text``, ``line 4, text``, ``file``."""
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
