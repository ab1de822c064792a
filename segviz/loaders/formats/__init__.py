"""The formats segviz reads: a row of ``LOADERS`` each, told apart by shape."""

from __future__ import annotations

from segviz.loaders.document import Options
from segviz.loaders.formats import (
    locomo,
    longmemeval,
    memoryagentbench,
    realmem,
    records,
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
    "chatgpt": records.LOADERS["chatgpt"],
    "claude": records.LOADERS["claude"],
    "slack": slack.LOADER,
    "sharegpt": records.LOADERS["sharegpt"],
    "openai": records.LOADERS["openai"],
    "records": records.LOADERS["records"],
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
        if records.has_rows(document, options.columns.get("text")):
            known = (each for each in records.LOADERS.values() if each.matches(document))
            return next(known, LOADERS["records"])
    return next((loader for loader in LOADERS.values() if loader.matches(document)), None)


def accepted() -> str:
    """The phrase for error messages that says what can be loaded."""
    return f"a file in one of these formats: {', '.join(row.label for row in LOADERS.values())}"
