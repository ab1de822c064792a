"""Reads conversation files into a Corpus; the content decides the format, never the name.

``load(path)`` and ``parse(bytes, name)`` return a Corpus whose report lists repairs and omissions.
They raise LoadError, and nothing else, if nothing usable remains. ``decode``, ``parquet`` and
``archives`` turn bytes into a document. The first loader in ``formats`` that fits the document
makes conversations of it. README.md tells how to add a format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from segviz import files
from segviz.conversation import Corpus
from segviz.loaders.archives import ZIP, FolderMembers, Members, ZipMembers, read_members
from segviz.loaders.audit import with_audit
from segviz.loaders.budget import GZIP, Budget, gunzip
from segviz.loaders.cells import first_rows, header, is_table, read_records
from segviz.loaders.columns import settle
from segviz.loaders.decode import read_document
from segviz.loaders.document import GAP_HOURS, Folder, Options, PlainText, Rows
from segviz.loaders.errors import WHOLE, LoadError, NeedsColumns, opening, too_large
from segviz.loaders.file_kinds import other_kind, reject_office
from segviz.loaders.formats import LOADERS, accepted, loader_of
from segviz.loaders.lazy import BY_ITEMS, LazyCorpus, list_file
from segviz.loaders.loader import Loader
from segviz.loaders.multi_conversation import JOINED, joined
from segviz.loaders.report import Notes
from segviz.loaders.unread import note_unread
from segviz.text.captions import describe, one_line, printable, shorten

__all__ = [
    "GAP_HOURS",
    "JOINED",
    "LOADERS",
    "Budget",
    "LazyCorpus",
    "LoadError",
    "Loader",
    "NeedsColumns",
    "joined",
    "load",
    "parse",
    "read_document",
    "table_rows",
    "with_audit",
]


def load(
    path: str | Path,
    *,
    limit: int = WHOLE,
    by_items: int = BY_ITEMS,
    columns: Mapping[str, str] | None = None,
    day_first: bool | None = None,
    gap_hours: float = GAP_HOURS,
    audit: str | Path | None = None,
    join: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Corpus:
    """Reads a conversation file, archive (zip, gzip) or folder.

    Args:
        path: the file or folder; ``~`` is the home folder.
        limit: most bytes of a file that is read whole, packed or unpacked.
        by_items: size in bytes from which a JSON list of conversations is only listed, if its
            format allows that. Each conversation is then read on access (``LazyCorpus``), and
            ``limit`` does not apply.
        columns: column or key of each meaning: text, speaker, time, session, conversation.
        day_first: True if 03/04/2025 is 3 April; None to infer it.
        gap_hours: a longer silence starts a session in a file without sessions.
        audit: file of disputed gold evidence and answers, to mark the questions by.
        join: True for all conversations as one, their sessions in the order of time.
        progress: called with the bytes listed so far and the bytes of the file; an exception that
            it raises ends the reading.

    Raises:
        LoadError: The path cannot be read, its content is not a conversation, or conversations to
            join have no times.
    """
    corpus = _load(path, limit, by_items, Options(columns, day_first, gap_hours), progress)
    corpus = corpus if audit is None else with_audit(corpus, audit)
    return joined(corpus) if join else corpus


def _load(
    path: str | Path,
    limit: int,
    by_items: int,
    options: Options,
    progress: Callable[[int, int], None],
) -> Corpus:
    """Reads a path: a folder or zip archive by its members, a large list lazily, else the whole."""
    shown = _label(str(Path(path)), limit=160)
    file = Path(os.path.expanduser(path))
    if not str(path).strip():
        # An empty path would mean the folder the program happens to run in.
        raise LoadError("no path is given", expected=accepted(), remedy="name a file or folder")
    with opening(shown):
        if file.is_dir():
            return _read_members(
                lambda: FolderMembers(file, Budget(limit)), _label(file.name or shown), options
            )
        label = _label(file.name)
        with files.opened(file) as stream:
            head = stream.read(4) or b""  # a pipe without data returns None
        if head.startswith(ZIP):
            return _read_members(lambda: ZipMembers(file, Budget(limit)), label, options)
        total = file.stat().st_size
        if total >= by_items and (listed := list_file(file, label, options, progress)) is not None:
            return listed
        if total > limit:
            remedy = "keep the part you need in a file of its own"
            raise too_large(total, limit, shown, remedy)
        data = files.read(file)
    return _parse(data, file.name, Budget(limit), options)


def parse(
    data: bytes,
    name: str,
    *,
    limit: int | Budget = WHOLE,
    columns: Mapping[str, str] | None = None,
    day_first: bool | None = None,
    gap_hours: float = GAP_HOURS,
) -> Corpus:
    """Parses the bytes of a conversation file or archive.

    Args:
        data: content of the file.
        name: name of the file, for messages; it does not decide the format.
        limit: most bytes, packed or unpacked; a ``Budget`` also limits lines and objects.
        columns: as in ``load``.
        day_first: as in ``load``.
        gap_hours: as in ``load``.

    Raises:
        LoadError: The content is not a conversation. The error names the file, the place, what was
            expected and what to do.
    """
    budget = limit if isinstance(limit, Budget) else Budget(limit)
    if budget.most is not None and len(data) > budget.most:
        remedy = (
            "give its path on the machine that runs segviz, where large files are read in parts"
        )
        raise too_large(len(data), budget.most, _label(name), remedy)
    return _parse(data, name, budget, Options(columns, day_first, gap_hours))


def table_rows(data: bytes, name: str) -> list[dict[str, object]]:
    """Reads the rows of a table as objects by column name.

    Args:
        data: bytes of a CSV, TSV, Parquet or JSON Lines file, of a JSON list of objects, or of a
            JSON object with such a list under ``nodes``; plain or gzip.
        name: name of the file, for messages.

    Returns:
        One object per row. Cells of CSV and TSV are strings.

    Raises:
        LoadError: The file holds no rows of objects.
    """
    try:
        document, _ = read_records(data)
    except LoadError as error:
        raise error.in_file(_label(name), "a table with a row per node") from None
    rows = document.get("nodes") if isinstance(document, dict) else document
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        what = f"expected a list of objects, found {describe(rows)}"
        raise LoadError(what, remedy="write a row per node, with id, parent and text")
    return rows


def _parse(data: bytes, name: str, budget: Budget, options: Options) -> Corpus:
    """Reads the bytes of a file, which may be a zip archive, gzip or plain."""
    label = _label(name)
    if data.startswith(ZIP):
        return _read_members(lambda: ZipMembers(data, budget), label, options)
    document: object = None
    try:
        if data.startswith(GZIP):
            data, label = b"".join(gunzip(data, budget)), label.removesuffix(".gz")
        document, notes = read_document(data, budget)
        loader = loader_of(document, options)
        if loader is None:
            raise _unknown(document, options)
        conversations, more = loader.read(document, label, options)
        note_unread(document, conversations, more, notes)
    except LoadError as error:
        raise error.in_file(_label(name), accepted(document)) from None
    whole = Notes()
    whole.take(notes, more, document=document)
    return Corpus(tuple(conversations), whole.report(label, loader.label, conversations))


def _read_members(opened: Callable[[], Members], label: str, options: Options) -> Corpus:
    """Opens an archive or folder and reads its members; errors name the archive."""
    try:
        with closing(opened()) as members:
            reject_office(members.paths)
            return read_members(members, label, options)
    except LoadError as error:
        raise error.in_file(label, accepted(Folder())) from None


def _unknown(document: object, options: Options) -> LoadError:
    """Returns or raises the error for a document that no loader reads; it says what it holds."""
    if isinstance(document, PlainText):
        if is_table(document):
            settle(header(document), options.columns, first_rows(document, 50))
        return document.error
    if (known := other_kind(document)) is not None:
        return known
    rows = [raw for raw in document if isinstance(raw, dict)] if isinstance(document, list) else []
    texts = [sum(isinstance(value, str) for value in raw.values()) for raw in rows]
    if rows and (isinstance(document, Rows) or (len(rows) > 1 and min(texts) > 1)):
        settle(list(rows[0]), options.columns, rows)  # as for a table of text
    what = f"no known conversation format: the file holds {describe(document)}"
    return LoadError(what, remedy="convert the file to one of them")


def _label(name: str, limit: int = 60) -> str:
    text, _ = printable(name)
    return shorten(one_line(text), limit, tail=20)
