"""What stands between a file's bytes and its conversations: documents, places in them, loaders.

A document is a JSON value (the rows of a Parquet file are one too), several of them
(``JsonLines``), a text that is no JSON (``PlainText``), or, for formats that spread over
several files, a ``Folder`` of documents. A ``Loader`` makes conversations of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from segviz.loaders.errors import LoadError

if TYPE_CHECKING:
    from segviz.conversation import Conversation, Entry
    from segviz.loaders.items import Item
    from segviz.loaders.report import Note

Reading: TypeAlias = "tuple[Sequence[Conversation], Sequence[Note]]"
"""The conversations of a document, and notes on what was mended or left out, in any order."""

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
    """The values of a JSON Lines file; ``lines`` are the numbers of the lines they begin in."""

    lines: list[int]


class Rows(list[object]):
    """The rows of a table with named columns, as Parquet holds them."""


class Folder(dict[str, object]):
    """Documents by the path they have inside an archive or folder."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """A text that is no JSON, and the error that says so."""

    text: str
    error: LoadError

    def lines(self) -> Iterator[tuple[Line, str]]:
        """Lines with their numbers, split at CR LF, LF and CR only."""
        for number, line in enumerate(_LINE_END.split(self.text), start=1):
            yield Line(number), line


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may decide where a file leaves it open; loaders take what concerns them.

    ``columns``: meaning (``text``, ``speaker``, ``time``, ``session``, ``conversation``) ->
    name of the column or key. ``day_first``: whether 03/04/2025 is 3 April; None: told from
    the file. ``gap_hours``: a silence longer than this begins a new session, where the
    source has messages with times but no sessions.
    """

    columns: Mapping[str, str] | None = None
    day_first: bool | None = None
    gap_hours: float = 8.0

    def __post_init__(self) -> None:
        if not self.gap_hours >= 0:
            what = f"gap_hours is {self.gap_hours}"
            raise LoadError(what, expected="0 hours or more", remedy="correct it")


@dataclass(frozen=True, slots=True)
class Loader:
    """One format.

    ``label`` is its name for people. ``matches(document)`` looks at the shape of a document
    and never raises. ``read(document, name, options)`` gives the ``Reading``; ``name`` is the
    file's, and its stem names conversations that bear no name of their own. It raises LoadError
    when no turn is usable. ``asks`` names the ``Options`` it heeds. Where a document is a list
    with one conversation per item, ``entry(item)`` tells from the item's outline what a list of
    conversations shows, so that large files are read item by item.
    """

    label: str
    matches: Callable[[object], bool]
    read: Callable[[object, str, Options], Reading]
    asks: tuple[str, ...] = ()
    entry: Callable[[Item], Entry] | None = None
