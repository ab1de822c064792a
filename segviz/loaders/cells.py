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

from segviz.conversation import distinct
from segviz.loaders.budget import GZIP, Budget, gunzip
from segviz.loaders.decode import read_document
from segviz.loaders.document import Line, PlainText
from segviz.loaders.errors import LoadError
from segviz.loaders.report import Notes
from segviz.text.captions import one_line, quoted

DELIMITERS = ",;\t|"
_SAYS = re.compile(r"sep=([,;\t|])(?:\r\n|\n|\r)", re.IGNORECASE)
_SAMPLE = 20_000
_END = "\0"
"""Extra row after the last one, to detect an open quote; no text contains this character."""


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a row of a table, and the line of the file where the row begins."""

    line: Line
    cells: tuple[str, ...]


class _Open(Exception):
    """Raised for a quote that is never closed, with the line that opens it."""


def delimiter_of(text: str) -> tuple[str, str] | None:
    """Returns the delimiter of a table, and the table; None if the text is no table.

    A first line such as ``sep=;`` decides, and is removed from the text. Else it is a delimiter
    that splits most of the first rows into as many cells as the header; of several, the one with
    the most cells.
    """
    if match := _SAYS.match(text):
        return match[1], text[match.end() :]
    widest = 0, ""
    for mark in DELIMITERS:
        rows = _first(text, mark, most=20)
        width = len(rows[0].cells) if rows else 0
        # One or two ragged rows are still a table.
        full = sum(len(row.cells) == width for row in rows)
        if width > 1 and full * 10 >= len(rows) * 6:
            widest = max(widest, (width, mark))
    _, mark = widest
    return (mark, text) if mark else None


def read_table(text: str, mark: str) -> list[Row]:
    """Returns the rows of a table that are not empty; LoadError names the line of an open quote."""
    try:
        return list(_rows(text, mark))
    except _Open as error:
        what = "a quote is opened here and never closed"
        remedy = "close it, or double the quotes inside the text"
        raise LoadError(what, f"line {error.args[0]}", "a table", remedy) from None


def _first(text: str, mark: str, most: int) -> list[Row]:
    """Returns the first rows of a table, at most ``most``."""
    rows: list[Row] = []
    with suppress(_Open):  # the quote may be closed after these characters
        rows.extend(islice(_rows(text[:_SAMPLE], mark), most))
    return rows


def _rows(text: str, mark: str) -> Iterator[Row]:
    """Yields a table's rows that are not empty; a cell in quotes may hold line ends."""
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
            # The quote is open since the last cell; earlier cells may contain line ends.
            before = "\0".join(cells[:-1])
            raise _Open(began + before.count("\n") + before.count("\r") - before.count("\r\n"))
        if any(cell.strip() for cell in cells):
            yield Row(Line(began), tuple(cells))
        began = reader.line_num + 1


def table_of(document: object) -> tuple[str, str] | None:
    """Returns the delimiter and the text of a table; None if the document is no table."""
    if not isinstance(document, PlainText) or document.text.lstrip()[:1] in ("[", "{"):
        return None  # broken JSON has commas too
    return delimiter_of(document.text)


def header(document: object) -> list[str]:
    """Returns the names of a table's columns as written; [] if the document is no table."""
    table = table_of(document)
    if table is None:
        return []
    mark, text = table
    top = _first(text, mark, most=1)
    return list(top[0].cells) if top else []


def first_rows(document: PlainText, most: int) -> list[dict[str, str]]:
    """Returns the first rows below the header by column name; [] without one that ends soon."""
    mark, text = table_of(document) or ("", "")
    rows = _first(text, mark, most + 1) if mark else []
    return [dict(zip(rows[0].cells, row.cells, strict=False)) for row in rows[1:]]


def named_rows(document: PlainText, one_column: bool = False) -> list[dict[str, str]]:
    """Returns the rows of a table as objects by column name; raises LoadError for other texts.

    With ``one_column``, a text without a delimiter is a table of one column.
    """
    table = table_of(document) or ((",", document.text) if one_column else None)
    if table is None:
        raise document.error
    mark, text = table
    top, *rows = read_table(text, mark)
    names = column_names(top, Notes())
    return [dict(zip(names, row.cells, strict=False)) for row in rows]


def column_names(top: Row, notes: Notes) -> list[str]:
    """Returns distinct names: a repeated column gets ``#2``, one without name ``column 3``."""
    wanted = [
        one_line(cell.strip()) or f"column {at}" for at, cell in enumerate(top.cells, start=1)
    ]
    names = distinct(wanted)
    for name, fresh in zip(wanted, names, strict=True):
        if fresh == f"{name}#2":
            what = f"the column {quoted(name)} occurs more than once; the first is used"
            notes.repaired((top.line,), what)
    return names


def is_table(document: object) -> bool:
    """Returns True if the document is a text with at least two columns."""
    return len(header(document)) > 1


def read_packed(data: bytes, budget: Budget | None = None) -> tuple[object, Notes]:
    """Parses a file, plain or gzip, as ``read_document`` does; LoadError for a damaged file."""
    budget = budget or Budget()
    if data.startswith(GZIP):
        data = b"".join(gunzip(data, budget))
    return read_document(data, budget)


def read_records(data: bytes, budget: Budget | None = None) -> tuple[object, Notes]:
    """Parses a file as ``read_packed``; a table becomes its rows by column name.

    Raises LoadError also for texts that are no table.
    """
    document, notes = read_packed(data, budget)
    return (named_rows(document) if isinstance(document, PlainText) else document), notes
