"""Defines the records every format is read into: turns, sessions, questions.

Loaders produce them; every later stage reads them. All are frozen.

Text is data, never markup: nothing here is escaped, and every sink must show it
literally.
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
"""LoCoMo's category numbers with the meaning its evaluation code gives them.

Papers permute these names, so every view shows the number beside the name."""

UNANSWERABLE = frozenset((5, "abstention"))
"""Categories of questions whose answer is that it was not mentioned."""

Category = int | str
"""What kind of question a data set calls one: a number, or a name (``temporal-reasoning``)."""


def category_label(category: Category | None) -> str:
    """A number with LoCoMo's name, e.g. ``"2 temporal"``, or the name a data set gives."""
    if category is None:
        return "no category"
    if isinstance(category, str):
        return category
    return f"{category} {CATEGORY_NAMES.get(category, 'other')}"


def category_order(category: Category | None) -> tuple[bool, bool, Category]:
    """Sorts numbers before names, no category last."""
    return category is None, isinstance(category, str), category or 0


SPEAKER = re.compile(r"^(?![\s\-*#>•|]|\d+[.)])([^\n:*]{1,60}): (?=\S)")
"""The ``Speaker: `` at the start of a line of a unit or an annotation; list items are none."""

_LOOKS_SPOKEN = re.compile(SPEAKER.pattern[1:].join(("(?<=\n)", "")))


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. ``caption`` describes a shared image and is part of the content."""

    id: str
    speaker: str
    text: str
    caption: str | None = None

    @property
    def content(self) -> str:
        """The text, followed by the image caption in brackets."""
        words = self.text.strip()
        if not self.caption:
            return words
        return f"{words} [image: {self.caption}]".strip()

    @property
    def spoken(self) -> str:
        """The turn as a unit holds it, ``Speaker: content``.

        A further line that looks like ``Speaker: content`` ("Oven: 200 degrees") is indented by a
        blank, so that only speakers begin a line.
        """
        content = self.content
        if "\n" in content:
            content = _LOOKS_SPOKEN.sub(r" \g<0>", content)
        return f"{self.speaker}: {content}"


Made = TypeVar("Made")


class Lazy(Sequence[Made]):
    """Like a tuple, but what is in it is made when it is asked for; once it has been gone through
    it is one."""

    def __init__(self, make: Callable[[int], Made], places: range) -> None:
        """``make(place)`` for each of the places."""
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
    """A dated block of turns.

    ``start`` is None where ``raw_date`` could not be read. ``summary`` is that of the data set.
    """

    id: str
    start: datetime | None
    raw_date: str
    turns: tuple[Turn, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text that a memory keeps, with the turns it came from.

    ``sources`` are ids of turns, the most likely first; empty where none is known. ``session`` is
    the id of the session it was written from and ``time`` when it was written, where known;
    ``ended`` is when it stopped being true, where the memory says so. ``confidence`` in [0, 1] is
    that of attributed sources, 1 for given ones.
    """

    id: str
    text: str
    sources: tuple[str, ...] = ()
    session: str = ""
    time: datetime | None = None
    ended: datetime | None = None
    confidence: float = 1.0

    def among(self, turns: Collection[str]) -> StoredText:
        """Returns the text with those of its sources that are ids of ``turns``, as a store may
        name messages by ids of its own."""
        return replace(self, sources=tuple(each for each in self.sources if each in turns))


@dataclass(frozen=True, slots=True)
class Question:
    """A dataset question.

    ``answer`` is None where the dataset gives none (LoCoMo category 5, whose
    ``adversarial`` field holds the tempting *wrong* answer). ``index`` is its position in
    the file, ``category`` the dataset's number or name of its kind. ``evidence`` holds ids of
    turns of the conversation; ids that name no turn are kept verbatim in ``unresolved``.
    ``asked_at`` is the id of the turn in whose place the question is asked: only what was said
    before that turn is known; None asks after the whole conversation.
    """

    index: int
    text: str
    answer: str | None
    category: Category | None
    evidence: tuple[str, ...]
    unresolved: tuple[str, ...] = ()
    adversarial: str | None = None
    asked_at: str | None = None

    @property
    def category_label(self) -> str:
        """See :func:`category_label`."""
        return category_label(self.category)
