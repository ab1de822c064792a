"""Defines documents, and places in them: the stage between bytes and conversations.

A document is a JSON value (or the rows of a Parquet file), several of them (``JsonLines``), other
text (``PlainText``), or, for formats that spread over several files, a ``Folder`` of documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from segviz.loaders.errors import LoadError

# Not str.splitlines(): that splits at U+2028, form feeds and others, which people paste.
_LINE_END = re.compile(r"\r\n|\n|\r")

Place = tuple[str | int, ...]
"""The way from the document's root to a value: keys and list positions,
``(3, "conversation", "session_7", 12, "text")``. It may begin with a ``Member`` of an archive
or folder and a ``Line`` of a text."""


class Line(int):
    """A step of a place: a line of a text, counted from 1."""


class Member(str):
    """A step of a place: a file of an archive or folder."""

    __slots__ = ()


class JsonLines(list[object]):
    """Values of a JSON Lines file; ``lines`` are the numbers of their first lines."""

    lines: list[int]


class Rows(list[object]):
    """The rows of a table with named columns, as Parquet holds them."""


class Folder(dict[str, object]):
    """Documents by the path they have inside an archive or folder."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """Text other than JSON, with the error of its JSON parser."""

    text: str
    error: LoadError

    def lines(self) -> Iterator[tuple[Line, str]]:
        """Yields lines with their numbers, split at CR LF, LF and CR only."""
        for number, line in enumerate(_LINE_END.split(self.text), start=1):
            yield Line(number), line


@dataclass(frozen=True, slots=True)
class Options:
    """User's choices for ambiguous files; each loader uses those that apply to it.

    ``columns`` maps a meaning (``text``, ``speaker``, ``time``, ``session``, ``conversation``) to a
    column or key. ``day_first`` is True if 03/04/2025 is 3 April, None to infer it. A silence
    longer than ``gap_hours`` starts a session, in sources with times but without sessions.
    """

    columns: Mapping[str, str] | None = None
    day_first: bool | None = None
    gap_hours: float = 8.0

    def __post_init__(self) -> None:
        if not self.gap_hours >= 0:
            what = f"gap_hours is {self.gap_hours}"
            raise LoadError(what, expected="0 hours or more", remedy="correct it")


def spelled(name: str) -> str:
    """Normalizes a key: lower case, without blanks, dots, hyphens and underscores."""
    return re.sub(r"[\s_.-]+", "", name).casefold()


@lru_cache(1_000)  # the rows of a file have few sets of keys
def usual_keys(keys: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the keys that are among the usual ``names`` in any spelling, the best first."""
    known = {spelled(key): key for key in reversed(keys)}
    return tuple(known[name] for name in names if name in known)
