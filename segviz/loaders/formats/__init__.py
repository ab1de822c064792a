"""Registers the formats that segviz reads; the shape of a document decides its format."""

from __future__ import annotations

from segviz.loaders.cells import is_table
from segviz.loaders.document import Options
from segviz.loaders.formats import (
    haystacks,
    lines,
    locomo,
    realmem,
    records,
    slack,
    table,
)
from segviz.loaders.loader import Loader

LOADERS: dict[str, Loader] = {
    "locomo": locomo.LOADER,
    "longmemeval": haystacks.LONGMEMEVAL,
    "realmem": realmem.LOADER,
    "memoryagentbench": haystacks.MEMORYAGENTBENCH,
    "chatgpt": records.LOADERS["chatgpt"],
    "claude": records.LOADERS["claude"],
    "slack": slack.LOADER,
    "sharegpt": records.LOADERS["sharegpt"],
    "openai": records.LOADERS["openai"],
    "records": records.LOADERS["records"],
    "log": lines.LOG,
    "table": table.LOADER,
    "transcript": lines.TRANSCRIPT,
}
"""Maps a name to the loader of a format; the first loader that fits a document reads it."""


def loader_of(document: object, options: Options) -> Loader | None:
    """Returns the first loader whose format fits the document; None if there is none.

    If the user says which columns mean what, any table or list of records fits.
    """
    if options.columns is not None:
        if is_table(document):
            return table.LOADER
        if records.has_rows(document, options.columns.get("text")):
            known = (each for each in records.LOADERS.values() if each.matches(document))
            return next(known, LOADERS["records"])
    return next((loader for loader in LOADERS.values() if loader.matches(document)), None)


def accepted() -> str:
    """Returns the names of all formats, for error messages."""
    return f"a file in one of these formats: {', '.join(row.label for row in LOADERS.values())}"
