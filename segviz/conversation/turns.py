"""Defines the records every format is read into: turns, sessions, questions.

Loaders produce them; every later stage reads them. All are frozen.

Text is data, never markup: nothing here is escaped, and every output must show it literally.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar, overload

CATEGORY_NAMES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""LoCoMo's category numbers with their meaning in its evaluation code.

Papers permute these names, so every view shows the number with the name."""

UNANSWERABLE = frozenset((5, "abstention"))
"""Categories of questions whose correct answer is “not mentioned”."""

Category = int | str
"""Kind of a question in its data set: a number, or a name (``temporal-reasoning``)."""


def category_label(category: Category | None) -> str:
    """Returns the label of a category.

    A number gets LoCoMo's name for it (``"2 temporal"``), a name stays, None is "no category".
    """
    if category is None:
        return "no category"
    if isinstance(category, str):
        return category
    return f"{category} {CATEGORY_NAMES.get(category, 'other')}"


def category_order(category: Category | None) -> tuple[bool, bool, Category]:
    """Returns a sort key: numbers before names, no category last."""
    return category is None, isinstance(category, str), category or 0


SPEAKER = re.compile(r"^(?![\s\-*#>•|]|\d+[.)])([^\n:*]{1,60}): (?=\S)")
"""Pattern of ``Speaker: `` at the start of a line; items of a list do not match."""

_LOOKS_SPOKEN = re.compile(SPEAKER.pattern[1:].join(("(?<=\n)", "")))


@dataclass(frozen=True, slots=True)
class Turn:
    """Message of a conversation; ``caption`` describes a shared image.

    ``time`` is its own time, with its zone if the file writes one; None if the file has no time of
    this message, even if it dates the session.
    """

    id: str
    speaker: str
    text: str
    caption: str | None = None
    time: datetime | None = None

    @property
    def content(self) -> str:
        """Text of the turn, followed by its image caption in brackets."""
        words = self.text.strip()
        if not self.caption:
            return words
        return f"{words} [image: {self.caption}]".strip()

    @property
    def spoken(self) -> str:
        """Turn as it appears in the text of a unit: ``Speaker: content``.

        A later line that looks like ``Speaker: content`` ("Oven: 200 degrees") is indented by a
        space, so that only speakers begin a line.
        """
        content = self.content
        if "\n" in content:
            content = _LOOKS_SPOKEN.sub(r" \g<0>", content)
        return f"{self.speaker}: {content}"


Made = TypeVar("Made")


class Lazy(Sequence[Made]):
    """Sequence that creates its items on access; the first iteration stores all for the next.

    Access by index always creates the item anew.
    """

    def __init__(self, make: Callable[[int], Made], places: range) -> None:
        """Stores ``make(place)``, which creates one item, and the place of each item."""
        self._make = make
        self._places = places
        self._made: tuple[Made, ...] | None = None

    def __iter__(self) -> Iterator[Made]:
        if self._made is None:
            self._made = tuple(map(self._make, self._places))
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Made: ...
    @overload
    def __getitem__(self, place: slice) -> Lazy[Made]: ...

    def __getitem__(self, place: int | slice) -> Made | Lazy[Made]:
        if isinstance(place, slice):
            return self._at(self._places[place])
        return self._make(self._places[place])

    def _at(self, places: range) -> Lazy[Made]:
        return Lazy(self._make, places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lazy | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, slots=True)
class Session:
    """A block of turns without a long silence.

    ``start`` is the time of the first turn that has one; if no turn has, that of the session in the
    file, None if unknown. ``raw_date`` is this time as the file writes it. ``summary`` is the data
    set's own. ``chat`` names the conversation that it comes from, if several were joined.
    """

    id: str
    start: datetime | None
    raw_date: str
    turns: tuple[Turn, ...]
    summary: str = ""
    chat: str = ""

    @property
    def times(self) -> list[datetime | None]:
        """Time of every turn: its own, else that of the turn before; ``start`` without one."""
        times, last = [], self.start
        for turn in self.turns:
            last = turn.time or last
            times.append(last)
        return times


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text that a memory stores, with the turns it came from.

    ``sources`` are the ids of these turns, the most likely first; empty if unknown. ``session`` is
    the id of the session the text was written from, "" if unknown. ``time`` is when it was written,
    ``ended`` when it stopped being true, None if unknown. ``confidence`` in [0, 1] is that of
    attributed sources; it is 1 for sources from the file. ``of_event`` is True if ``time`` is that
    of an event in the text. ``contradicted`` is True if its words are of a turn after its time.
    ``owner`` is the collection, user or conversation that the store keeps it for, "" if unknown.
    ``newer`` is the id of the text that replaced it, "" if the store names none.
    """

    id: str
    text: str
    sources: tuple[str, ...] = ()
    session: str = ""
    time: datetime | None = None
    ended: datetime | None = None
    confidence: float = 1.0
    of_event: bool = False
    contradicted: bool = False
    owner: str = ""
    newer: str = ""

    def among(self, turns: Collection[str]) -> StoredText:
        """Returns the text with those sources, or ids listed in one, that are of ``turns``."""
        parts = [[each] if each in turns else re.split(r"[\s,;|]+", each) for each in self.sources]
        known = dict.fromkeys(each for ids in parts for each in ids if each in turns)
        return replace(self, sources=tuple(known))


@dataclass(frozen=True, slots=True)
class Dispute:
    """Objection of an audit to the gold answer or evidence of a question.

    ``kind`` names the error ("wrong citation"), ``reason`` explains it. ``evidence`` has the ids of
    the turns that the audit cites instead, ``answer`` its answer, None if it does not correct
    these. ``unresolved`` are cited ids that name no turn.
    """

    kind: str
    evidence: tuple[str, ...] | None = None
    unresolved: tuple[str, ...] = ()
    answer: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a data set.

    Attributes:
        index: position of the question in the file.
        text: the question.
        answer: the gold answer; None if the data set has none (LoCoMo category 5).
        category: the data set's number or name of its kind.
        evidence: ids of turns of the conversation.
        unresolved: evidence ids that name no turn.
        adversarial: a tempting *wrong* answer (LoCoMo category 5).
        asked_at: id of the turn before which the question is asked; None for the end.
        disputed: objection of an audit (``segviz.load(..., audit=...)``); None without one.
    """

    index: int
    text: str
    answer: str | None
    category: Category | None
    evidence: tuple[str, ...]
    unresolved: tuple[str, ...] = ()
    adversarial: str | None = None
    asked_at: str | None = None
    disputed: Dispute | None = None

    @property
    def category_label(self) -> str:
        """Label of the category; see :func:`category_label`."""
        return category_label(self.category)

    @property
    def corrected(self) -> Question:
        """This question with the audit's evidence and answer in place of those it disputes."""
        dispute = self.disputed
        if dispute is None:
            return self
        answer = self.answer if dispute.answer is None else dispute.answer
        if dispute.evidence is None:
            return replace(self, answer=answer)
        evidence, unresolved = dispute.evidence, dispute.unresolved
        return replace(self, answer=answer, evidence=evidence, unresolved=unresolved)
