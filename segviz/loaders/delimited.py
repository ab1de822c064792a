"""Delimited text (CSV) -> rows, with the line each begins in.

A reader of its own because Python's ``csv`` limits the length of a field by a setting of
the whole process, and takes a quote that is never closed for the rest of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from segviz.loaders.errors import LoadError
from segviz.loaders.notes import Line

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SAYS = re.compile(r"sep=([,;\t|])(?:\r\n|\n|\r)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one row."""

    line: Line
    cells: tuple[str, ...]


def delimiter_of(text: str) -> tuple[str, str] | None:
    """The delimiter and the text of the table; None for a text that is no table.

    Told by a first line ``sep=;``, else by the first rows: the mark they all have equally
    often, at least once, the more the better.
    """
    if said := _SAYS.match(text):
        return said[1], text[said.end() :]
    best: tuple[int, str] | None = None
    for mark in DELIMITERS:
        rows = _filled(_rows(text[:_SAMPLE], mark, whole=False, most=20))
        width = len(rows[0].cells) if rows else 0
        # A ragged row or two do not hide a table.
        same = sum(len(row.cells) == width for row in rows)
        if width > 1 and same * 10 >= len(rows) * 6:
            best = max(best or (0, ""), (width, mark))
    return (best[1], text) if best else None


def read_table(text: str, mark: str) -> list[Row]:
    """All rows that are not empty. LoadError names the line of a quote that is not closed."""
    return _filled(_rows(text, mark))


def _filled(rows: list[Row]) -> list[Row]:
    return [row for row in rows if any(cell.strip() for cell in row.cells)]


def header_of(text: str, mark: str) -> tuple[str, ...]:
    """The cells of the first row; () where there is none within reach."""
    rows = _rows(text[:_SAMPLE], mark, whole=False, most=1)
    return rows[0].cells if rows else ()


def _pattern(mark: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    # What follows the closing quote up to the delimiter is kept, as spreadsheets do.
    bare = rf"[^{re.escape(mark)}\r\n]*+"
    return re.compile(rf'[ ]*+"((?:[^"]|"")*+)"({bare})'), re.compile(bare)


_PATTERNS = {mark: _pattern(mark) for mark in DELIMITERS}
_SAMPLE = 20_000


def _rows(text: str, mark: str, whole: bool = True, most: int | None = None) -> list[Row]:
    quoted, bare = _PATTERNS[mark]
    rows: list[Row] = []
    cells: list[str] = []
    position, line, began = 0, 1, 1
    while position < len(text) and (most is None or len(rows) < most):
        match = quoted.match(text, position)
        if match is not None:
            cells.append(match[1].replace('""', '"') + match[2])
            line += _breaks(match[1])
        elif text.startswith('"', position):
            if not whole:  # the quote may be closed in what was not looked at
                return rows
            what = "a quote is opened here and never closed"
            remedy = "close it, or double the quotes inside the text"
            raise LoadError(what, f"line {line}", "a table", remedy)
        else:
            match = bare.match(text, position)
            cells.append(match[0] if match else "")
        position = match.end() if match else position
        if text.startswith(mark, position):
            position += 1
            if position < len(text):
                continue
            cells.append("")
        position += 2 if text.startswith("\r\n", position) else 1
        rows.append(Row(Line(began), tuple(cells)))
        cells = []
        line += 1
        began = line
    if cells and (most is None or len(rows) < most):
        rows.append(Row(Line(began), tuple(cells)))
    return rows


def _breaks(text: str) -> int:
    """Line ends inside a quoted cell."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")
