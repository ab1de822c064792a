"""Defines documents, the stage between bytes and conversations, and places in them.

A document is a JSON value, several of them (``JsonLines``), the rows of a Parquet file, other text
(``PlainText``), or a ``Folder`` of documents, for formats that spread over several files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from segviz.loaders.errors import LoadError

# Not str.splitlines(): that splits at U+2028, form feeds and others, which people paste.
_LINE_END = re.compile(r"\r\n|\n|\r")

GAP_HOURS = 8.0
"""Hours of silence after which a session starts, in files without sessions."""

Place = tuple[str | int, ...]
"""The way from the document's root to a value: keys and list positions,
``(3, "conversation", "session_7", 12, "text")``. It may begin with a ``Member`` of an archive
or folder and a ``Line`` of a text."""


class Line(int):
    """Number of a line in a text, from 1, as a step of a place in a document."""


class Member(str):
    """Path of a file in an archive or folder, as a step of a place in a document."""

    __slots__ = ()


class JsonLines(list[object]):
    """Values of a JSON Lines file; ``lines`` are the numbers of the lines where they begin."""

    lines: list[int]


class Rows(list[object]):
    """Rows of a Parquet table, as objects by column name."""


class Folder(dict[str, object]):
    """Documents of an archive or folder, by path."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """Text that is not JSON, with the error of the JSON parser."""

    text: str
    error: LoadError

    def lines(self) -> Iterator[tuple[Line, str]]:
        """Yields the text's lines with their numbers; lines end at CR LF, LF and CR only."""
        number, begin = 1, 0
        for end in _LINE_END.finditer(self.text):
            yield Line(number), self.text[begin : end.start()]
            number, begin = number + 1, end.end()
        yield Line(number), self.text[begin:]


@dataclass(frozen=True, slots=True)
class Options:
    """User's choices for ambiguous files; a loader uses those that apply to its format.

    ``columns`` maps a meaning (``text``, ``speaker``, ``time``, ``session``, ``conversation``) to a
    column or key. ``day_first`` is True if 03/04/2025 is 3 April, None to infer it. A silence
    longer than ``gap_hours`` starts a session, in files with times but without sessions.
    """

    columns: Mapping[str, str] | None = None
    day_first: bool | None = None
    gap_hours: float = GAP_HOURS

    def __post_init__(self) -> None:
        if not self.gap_hours >= 0:
            what = f"gap_hours is {self.gap_hours}"
            raise LoadError(what, expected="0 hours or more", remedy="correct it")


def spelled(name: str) -> str:
    """Normalizes a key: lower case, without blanks, dots, hyphens and underscores."""
    return re.sub(r"[\s_.-]+", "", name).casefold()


@lru_cache(1_000)  # the rows of a file have few sets of keys
def usual_keys(keys: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the keys that spell one of these names, in the order of the names.

    Case, blanks, dots, hyphens and underscores do not count.
    """
    known = {spelled(key): key for key in reversed(keys)}
    return tuple(known[name] for name in names if name in known)
