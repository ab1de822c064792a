"""Reads tables of messages: a header row, and a message in each row below it.

Cells are text and nothing else: a formula stays as it is written. Rows with too many or too few
cells are read as far as possible, and counted.
"""

from __future__ import annotations

from segviz.loaders.cells import column_names, header, read_table, table_of
from segviz.loaders.columns import Keys, guess, read_chats, settle
from segviz.loaders.document import Options, Place
from segviz.loaders.errors import LoadError
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import Block, WrittenChat, stem
from segviz.loaders.report import Notes
from segviz.loaders.unread import note_unread
from segviz.text.captions import counted

LABEL = "table (CSV, TSV)"


def matches(document: object) -> bool:
    """Returns True if the header row has a usual name for the texts."""
    return "text" in guess(header(document))


def read(document: object, name: str, options: Options) -> Reading:
    """Reads each row below the header as a message.

    Raises LoadError if no column holds the texts, or a quote is never closed.
    """
    notes = Notes()
    table = table_of(document)
    if table is None:
        raise LoadError("this is no table", expected="a table with a header row")
    mark, text = table
    top, *rows = read_table(text, mark)
    headers = column_names(top, notes)
    columns = settle(list(headers), options.columns)
    if not rows:
        what = "the table has a header and no rows"
        raise LoadError(what, expected="one row per message", remedy="export it again")
    ragged = sum(len(row.cells) != len(top.cells) for row in rows)
    if ragged:
        what = f"{counted(ragged, 'row')} with more or fewer cells than the header"
        notes.repaired((), what)
    # Rows become records by column name.
    records: list[tuple[Place, object]] = []
    text_at = headers.index(columns["text"])
    for row in rows:
        cells = list(row.cells)
        if text_at == len(headers) - 1 and len(cells) > len(headers):
            # Delimiters inside an unquoted text in the last column.
            cells[len(headers) - 1 :] = [mark.join(cells[len(headers) - 1 :])]
        if len(cells) <= text_at:
            notes.skipped((row.line,), "the row ends before its text; it is left out")
        else:
            records.append(((row.line,), dict(zip(headers, cells, strict=False))))
    chat = WrittenChat(stem(name), (), [Block(records)])
    conversations = read_chats([chat], Keys(columns, columns), LABEL, options, notes)
    notes.headers, notes.columns = tuple(headers), columns
    note_unread([record for _, record in records], conversations, notes, notes)
    return conversations, notes


LOADER = Loader(
    LABEL,
    matches,
    read,
    ("columns", "day_first", "gap_hours"),
    about=(
        "the file, or one per `conversation`: columns by usual names, or by `columns=`",
        "other columns",
    ),
)
