"""Registers the formats that segviz reads; the shape of a document decides its format."""

from __future__ import annotations

from segviz.loaders.cells import is_table
from segviz.loaders.document import Folder, Options, PlainText
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
from segviz.loaders.questions import are_questions

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
    "table": table.LOADER,
    "log": lines.LOG,
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


def accepted(document: object = None) -> str:
    """Returns the formats nearest to a document, for error messages, and where all are listed."""
    if isinstance(document, Folder):
        near = ["chatgpt", "claude", "slack"]
    elif isinstance(document, PlainText) and document.text.lstrip()[:1] not in ("[", "{"):
        near = ["log", "transcript", "table"]
    elif are_questions(document):
        near = ["locomo", "longmemeval"]
    else:
        near = ["openai", "records", "log"]
    *first, last = (LOADERS[name].label for name in near)
    every = f"all {len(LOADERS)} formats: segviz/loaders/README.md"
    return f"a file such as {', '.join(first)} or {last} ({every})"
