"""The formats segviz reads: a module and a row of ``LOADERS`` each, told apart by shape."""

from __future__ import annotations

from segviz.loaders.document import Options
from segviz.loaders.formats import (
    chatgpt,
    claude,
    locomo,
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
from segviz.loaders.loader import Loader

LOADERS: dict[str, Loader] = {
    "locomo": locomo.LOADER,
    "longmemeval": longmemeval.LOADER,
    "realmem": realmem.LOADER,
    "memoryagentbench": memoryagentbench.LOADER,
    "chatgpt": chatgpt.LOADER,
    "claude": claude.LOADER,
    "slack": slack.LOADER,
    "sharegpt": sharegpt.LOADER,
    "openai": openai_messages.LOADER,
    "records": records.LOADER,
    "whatsapp": whatsapp.LOADER,
    "table": table.LOADER,
    "transcript": transcript.LOADER,
}
"""Name -> loader, in the order in which they are asked."""


def loader_of(document: object, options: Options) -> Loader | None:
    """The first loader that knows the shape. Where the user says what columns mean, a table or a
    list of records is read as one even if its columns have no usual names."""
    if options.columns is not None:
        if table.is_table(document):
            return table.LOADER
        if records.has_rows(document):
            return records.LOADER
    return next((loader for loader in LOADERS.values() if loader.matches(document)), None)


def accepted() -> str:
    """The phrase for error messages that says what can be loaded."""
    return f"a file in one of these formats: {', '.join(row.label for row in LOADERS.values())}"
