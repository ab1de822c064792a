"""What a file's bytes become before a loader looks at them.

A document is a JSON value, several of them (``JsonLines``), a text that is no JSON
(``PlainText``), or, for formats that spread over several files, a ``Folder`` of documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from segviz.loaders.errors import LoadError
from segviz.loaders.notes import Line

# Not str.splitlines(): that splits at U+2028, form feeds and others, which people paste.
_LINE_END = re.compile(r"\r\n|\n|\r")


class JsonLines(list[object]):
    """The values of a JSON Lines file; ``lines`` are the numbers of the lines they begin in."""

    lines: list[int]


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


DEFAULTS = Options()
