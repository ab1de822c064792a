"""Splits text tables into cells: CSV with commas, semicolons, tabs or bars, and a header row.

Python's ``csv`` splits them. pandas' ``read_csv`` reports neither the line of a row nor where an
unclosed quote was opened. It drops rows with too many cells or rejects the file, cannot
distinguish a short row from an empty text, and is slower, with 0.6 s of import.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

from segviz.loaders.budget import GZIP, Budget, gunzip
from segviz.loaders.chat import unused
from segviz.loaders.decode import read_document
from segviz.loaders.document import Line, PlainText
from segviz.loaders.errors import LoadError
from segviz.loaders.report import Notes
from segviz.text.captions import one_line, quoted

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SAYS = re.compile(r"sep=([,;\t|])(?:\r\n|\n|\r)", re.IGNORECASE)
_SAMPLE = 20_000
_END = "\0"
"""Sentinel row after the last one, to detect an open quote; no text contains this character."""


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one row, and the line it begins in."""

    line: Line
    cells: tuple[str, ...]


class _Open(Exception):
    """Quote that is opened in this line and never closed."""


def delimiter_of(text: str) -> tuple[str, str] | None:
    """Returns the delimiter and the text of the table; None for other texts.

    A first line ``sep=;`` decides, else the first rows: the delimiter that occurs in all of them
    equally often, at least once. The most frequent one wins.
    """
    if said := _SAYS.match(text):
        return said[1], text[said.end() :]
    best: tuple[int, str] | None = None
    for mark in DELIMITERS:
        rows = _first(text, mark, 20)
        width = len(rows[0].cells) if rows else 0
        # One or two ragged rows are still a table.
        same = sum(len(row.cells) == width for row in rows)
        if width > 1 and same * 10 >= len(rows) * 6:
            best = max(best or (0, ""), (width, mark))
    return (best[1], text) if best else None


def read_table(text: str, mark: str) -> list[Row]:
    """Returns all rows that are not empty; LoadError names the line of an unclosed quote."""
    try:
        return list(_rows(text, mark))
    except _Open as found:
        what = "a quote is opened here and never closed"
        remedy = "close it, or double the quotes inside the text"
        raise LoadError(what, f"line {found.args[0]}", "a table", remedy) from None


def _first(text: str, mark: str, most: int) -> list[Row]:
    """Returns the first rows, within the first characters."""
    rows: list[Row] = []
    with suppress(_Open):  # the quote may be closed after these characters
        rows.extend(islice(_rows(text[:_SAMPLE], mark), most))
    return rows


def _rows(text: str, mark: str) -> Iterator[Row]:
    """Yields the rows that are not empty; lines end at CR LF, LF and CR only."""
    if len(text) > csv.field_size_limit():
        # The limit is the whole process's, so it is only ever raised.
        csv.field_size_limit(len(text))
    # In 'Ann, "hi, there"' the quote follows a space.
    spaced = re.search(rf'(?:^|{re.escape(mark)}) +"', text[:_SAMPLE], re.MULTILINE) is not None
    lines = chain(io.StringIO(text, newline=""), (_END,))
    reader = csv.reader(lines, delimiter=mark, skipinitialspace=spaced)
    began = 1
    for cells in reader:
        if cells == [_END] and reader.line_num == began:
            return  # the sentinel is a separate line, unless a quote is open
        if cells and cells[-1].endswith(_END):
            # Earlier cells of this row may contain line ends.
            before = "\0".join(cells[:-1])
            raise _Open(began + before.count("\n") + before.count("\r") - before.count("\r\n"))
        if any(cell.strip() for cell in cells):
            yield Row(Line(began), tuple(cells))
        began = reader.line_num + 1


def table_of(document: object) -> tuple[str, str] | None:
    """Returns the delimiter and the text of a table; None for other documents."""
    if not isinstance(document, PlainText) or document.text.lstrip()[:1] in ("[", "{"):
        return None  # broken JSON has commas too
    return delimiter_of(document.text)


def header(document: object) -> list[str]:
    """Returns the names of the columns as written; [] for other texts."""
    found = table_of(document)
    if found is None:
        return []
    top = _first(found[1], found[0], 1)
    return list(top[0].cells) if top else []


def named_rows(document: PlainText) -> list[dict[str, str]]:
    """Returns the cells of every row by column name; raises LoadError for other texts."""
    found = table_of(document)
    if found is None:
        raise document.error
    top, *rows = read_table(found[1], found[0])
    names = column_names(top, Notes())
    return [dict(zip(names, row.cells, strict=False)) for row in rows]


def column_names(top: Row, notes: Notes) -> list[str]:
    """Names of the columns: repeated ones carry ``#2``, nameless ones ``column 3``."""
    names: list[str] = []
    for position, cell in enumerate(top.cells, start=1):
        wanted = one_line(cell.strip()) or f"column {position}"
        fresh = unused(wanted, names)
        if fresh == f"{wanted}#2":
            what = f"the column {quoted(wanted)} occurs more than once; the first is used"
            notes.repaired((top.line,), what)
        names.append(fresh)
    return names


def is_table(document: object) -> bool:
    """Returns True if the text is a table, whatever its columns are called."""
    return len(header(document)) > 1


def read_records(data: bytes) -> tuple[object, Notes]:
    """Returns the document in a file, which may be gzip; the rows by column name for a table.

    Raises LoadError as ``read_document`` does, and for other texts.
    """
    budget = Budget()
    if data.startswith(GZIP):
        data = b"".join(gunzip(data, budget))
    document, notes = read_document(data, budget)
    return (named_rows(document) if isinstance(document, PlainText) else document), notes
