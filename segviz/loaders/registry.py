"""The formats segviz reads: one row each, told apart by shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from segviz.conversation import Conversation, Entry
from segviz.loaders.document import Options
from segviz.loaders.formats import (
    chatgpt,
    claude,
    longmemeval,
    memoryagentbench,
    openai_messages,
    realmem,
    records,
    sharegpt,
    slack,
    table,
    transcript,
    whatsapp,
)
from segviz.loaders.formats.locomo import samples as locomo
from segviz.loaders.items import Item
from segviz.loaders.notes import Note


@dataclass(frozen=True, slots=True)
class Loader:
    """One format.

    ``label`` is its name for people. ``matches(document)`` looks at the shape of a document
    (see ``segviz.loaders.document``) and never raises. ``read(document, name, options)``
    gives the conversations and notes in any order; it raises LoadError when no turn is
    usable. ``asks`` names the ``Options`` it heeds. Where a document is a list with one
    conversation per item, ``entry(item)`` tells from the item's outline what a list of
    conversations shows, so that large files are read item by item.
    """

    label: str
    matches: Callable[[object], bool]
    read: Callable[[object, str, Options], tuple[Sequence[Conversation], Sequence[Note]]]
    asks: tuple[str, ...] = ()
    entry: Callable[[Item], Entry] | None = None


LOADERS: dict[str, Loader] = {
    "locomo": Loader(locomo.LABEL, locomo.matches, locomo.read),
    "longmemeval": Loader(
        longmemeval.LABEL, longmemeval.matches, longmemeval.read, entry=longmemeval.entry
    ),
    "realmem": Loader(realmem.LABEL, realmem.matches, realmem.read),
    "memoryagentbench": Loader(
        memoryagentbench.LABEL, memoryagentbench.matches, memoryagentbench.read
    ),
    "chatgpt": Loader(
        chatgpt.LABEL, chatgpt.matches, chatgpt.read, ("gap_hours",), entry=chatgpt.entry
    ),
    "claude": Loader(claude.LABEL, claude.matches, claude.read, ("gap_hours",), entry=claude.entry),
    "slack": Loader(slack.LABEL, slack.matches, slack.read),
    "sharegpt": Loader(sharegpt.LABEL, sharegpt.matches, sharegpt.read, entry=sharegpt.entry),
    "openai": Loader(openai_messages.LABEL, openai_messages.matches, openai_messages.read),
    "records": Loader(
        records.LABEL, records.matches, records.read, ("columns", "day_first", "gap_hours")
    ),
    "whatsapp": Loader(whatsapp.LABEL, whatsapp.matches, whatsapp.read, ("day_first", "gap_hours")),
    "table": Loader(table.LABEL, table.matches, table.read, ("columns", "day_first", "gap_hours")),
    "transcript": Loader(transcript.LABEL, transcript.matches, transcript.read),
}
"""Name -> loader, in the order in which they are asked."""


def loader_of(document: object, options: Options) -> Loader | None:
    """The first loader that knows the shape.

    Where the user says what columns mean, a table or a list of records is read as one even
    if its columns have no usual names.
    """
    if options.columns is not None:
        if table.is_table(document):
            return LOADERS["table"]
        if records.has_rows(document):
            return LOADERS["records"]
    return next((loader for loader in LOADERS.values() if loader.matches(document)), None)


def accepted() -> str:
    """The phrase for error messages that says what can be loaded."""
    return f"a file in one of these formats: {', '.join(row.label for row in LOADERS.values())}"
