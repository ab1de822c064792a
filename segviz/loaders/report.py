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
    """Notes of one document: the first 100 in order, and the number of others by kind.

    ``headers`` and ``columns`` are a table's columns and their meanings.
    """

    def __init__(self) -> None:
        super().__init__()
        self.beyond = Counter[Kind]()
        self.headers: tuple[str, ...] = ()
        self.columns: Mapping[str, str] = {}

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

    def take(self, more: Iterable[Note], within: Place = ()) -> None:
        """Adds the notes of a part of the document, whose place is ``within``."""
        for note in more:
            self.add(Note(note.kind, (*within, *note.place), note.what))
        if isinstance(more, Notes):
            self.beyond += more.beyond
            self.headers, self.columns = more.headers, more.columns


class Tally:
    """Collects the notes of a file, or of all files of an archive, for its load report."""

    def __init__(self) -> None:
        self._listed: list[Finding] = []
        self._counts = Counter[Kind]()
        self._columns: tuple[tuple[str, ...], Mapping[str, str]] = ((), {})

    def add(self, document: object, *readings: Iterable[Note], within: str = "") -> None:
        """Adds the notes of one document, from any number of ``readings`` of it.

        Places in JSON Lines become line numbers of the ``document``. ``within`` is its path in an
        archive.
        """
        notes = Notes()
        for reading in readings:
            notes.take(reading)
        self._columns = notes.headers, notes.columns
        self._counts += notes.beyond + Counter(note.kind for note in notes)
        for note in notes[: LISTED - len(self._listed)]:
            place = note.place
            # A position in JSON Lines that is no line yet.
            if isinstance(document, JsonLines) and place and type(place[0]) is int:
                place = (Line(document.lines[place[0]]), *place[1:])
            where = shown(place)
            if within:
                member = shown((Member(within),))
                where = member if where == "file" else f"{member}, {where}"
            self._listed.append(Finding(note.kind, where, note.what))

    def skipped(self, what: str, where: str = "file") -> None:
        """Adds a note that something was left out of the whole input."""
        self._counts["skipped"] += 1
        if len(self._listed) < LISTED:
            self._listed.append(Finding("skipped", where, what))

    def report(
        self, name: str, source_format: str, conversations: Sequence[Conversation]
    ) -> LoadReport:
        """Returns the load report of these conversations."""
        kept = sum(len(conversation.turns) for conversation in conversations)
        findings, counts = tuple(self._listed), dict(self._counts)
        sessions = [session for each in conversations for session in each.sessions]
        known = {
            "times": any(session.start or session.raw_date for session in sessions),
            "speakers": any(set(each.speakers) - {"Unknown"} for each in conversations),
        }
        lacks = tuple(what for what, each in known.items() if not each)
        return LoadReport(name, source_format, kept, findings, counts, *self._columns, lacks)


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
