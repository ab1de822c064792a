"""Tables of messages: CSV with commas, semicolons, tabs or bars, and a header row.

Cells are text and nothing else: a formula stays as it is written. Rows with too many or
too few cells are read as far as they go, and counted.
"""

from __future__ import annotations

from segviz.conversation import Conversation
from segviz.loaders.captions import counted, one_line, quoted
from segviz.loaders.columns import guess, settle
from segviz.loaders.delimited import Row, delimiter_of, header_of, read_table
from segviz.loaders.document import Options, PlainText
from segviz.loaders.errors import LoadError
from segviz.loaders.formats.records import read_rows
from segviz.loaders.notes import Note, Notes, Place

LABEL = "table (CSV, TSV)"


def matches(document: object) -> bool:
    """Whether the text has a header row in which a usual name for the texts stands."""
    return "text" in guess(header(document))


def is_table(document: object) -> bool:
    """Whether the text is a table at all, whatever its columns are called."""
    return len(header(document)) > 1


def read(
    document: object, name: str, options: Options
) -> tuple[tuple[Conversation, ...], list[Note]]:
    """Conversations of the rows below the header, as ``segviz.loaders.formats.records``.

    Raises LoadError for a quote that is not closed, a header without rows, and rows
    without words; NeedsColumns when nothing tells where the texts are.
    """
    notes = Notes()
    found = _table(document)
    if found is None:
        raise LoadError("this is no table", expected="a table with a header row")
    mark, text = found
    top, *rows = read_table(text, mark)
    headers = _names(top, notes)
    columns = settle(list(headers), options.columns)
    if not rows:
        what = "the table has a header and no rows"
        raise LoadError(what, expected="one row per message", remedy="export it again")
    ragged = sum(len(row.cells) != len(top.cells) for row in rows)
    if ragged:
        what = f"{counted(ragged, 'row')} with more or fewer cells than the header"
        notes.repaired((), what)
    records: list[tuple[Place, object]] = []
    for row in rows:
        cells = list(row.cells)
        if columns["text"] == headers[-1] and len(cells) > len(headers):
            # Marks inside a text that stands last and is not quoted.
            cells[len(headers) - 1 :] = [mark.join(cells[len(headers) - 1 :])]
        if len(cells) <= headers.index(columns["text"]):
            notes.skipped((row.line,), "the row ends before its text; it is left out")
        else:
            records.append(((row.line,), dict(zip(headers, cells, strict=False))))
    conversations, more = read_rows(records, columns, name, LABEL, options)
    return conversations, [*notes, *more]


def _table(document: object) -> tuple[str, str] | None:
    if not isinstance(document, PlainText) or document.text.lstrip()[:1] in ("[", "{"):
        return None  # broken JSON has commas too
    return delimiter_of(document.text)


def header(document: object) -> list[str]:
    """The names of the columns as they are written; [] for a text that is no table."""
    found = _table(document)
    if found is None:
        return []
    return list(header_of(found[1], found[0]))


def _names(top: Row, notes: Notes) -> list[str]:
    """Names of the columns: repeated ones carry ``#2``, nameless ones ``column 3``."""
    names: list[str] = []
    for position, cell in enumerate(top.cells, start=1):
        wanted = one_line(cell.strip()) or f"column {position}"
        fresh, count = wanted, 1
        while fresh in names:
            count += 1
            fresh = f"{wanted}#{count}"
        if count == 2:
            what = f"the column {quoted(wanted)} stands there more than once; the first is used"
            notes.repaired((top.line,), what)
        names.append(fresh)
    return names
