"""Reads the texts of a memory store, from dumps of any program, by usual key names.

Known are mem0 (``memory``), Zep and Graphiti (``fact``, ``summary``), Letta (``text``, ``value`` of
a block), LangGraph stores (``value`` with a text in it) and Hindsight (``text``). It also reads
plain lists of texts, any CSV, JSON, JSON Lines or Parquet of records with such a key, and the
lines of a text or Markdown file.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from segviz import files
from segviz.conversation import StoredText, distinct
from segviz.loaders.budget import Budget
from segviz.loaders.cells import named_rows, read_packed
from segviz.loaders.document import PlainText, spelled, usual_keys
from segviz.loaders.errors import LoadError
from segviz.text.captions import describe, printable
from segviz.text.dates import read_time

NAMES: dict[str, tuple[str, ...]] = {
    "text": tuple(
        "memory fact text content document data pagecontent statement observation note summary "
        "value body message".split()
    ),
    "id": tuple("id uuid memoryid key label hash".split()),
    "sources": tuple(
        "turns turnids turn turnid sources sourceturns sourceids source sourceid diaid diaids "
        "messageids messageid evidence".split()
    ),
    "session": tuple("session sessionid runid threadid".split()),
    "time": tuple(
        "createdat mentionedat timestamp time date eventdate occurredstart validat "
        "updatedat".split()
    ),
    "ended": tuple("invalidat expiredat validuntil deletedat".split()),
    "owner": tuple(
        "collection collectionname namespace conversation conversationid sampleid userid groupid "
        "graphid agentid owner".split()
    ),
    "newer": tuple("supersededby replacedby invalidatedby".split()),
}
"""Usual names of a record's keys by meaning, the best first (``document.spelled``)."""

_EVENT_TIMES = ("eventdate", "occurredstart", "validat")
"""Keys of the time of an event in a text, which is not when the text was stored."""

_INSIDE = ("metadata", "payload", "item", "value", "content", "node")
"""Keys of objects with further fields of their record."""

COLUMNS = ("documents", "texts", "contents", "memories")
"""Keys of a column of texts, beside columns such as ``ids`` and ``metadatas``."""

_LISTS = ("memories", "facts", "results", "memory", "items", "notes", "data", "texts")
"""Keys of lists whose plain texts are memories."""

_TALK = ("messages", "history", "chathistory", "conversation", "conversations")
"""Keys of conversation messages, which are no memories."""

_SQLITE = b"SQLite format 3\0"
_NOTES = re.compile(r"\.(?:txt|md)$", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


def read_stored(
    source: str | Path | bytes, name: str = "", budget: Budget | None = None
) -> tuple[StoredText, ...]:
    """Reads the texts in the dump of a memory system; raises LoadError if there are none.

    ``source`` is its path, or its bytes with a ``name``; ``budget`` limits what it unpacks to.
    """
    if isinstance(source, bytes):
        data = source
    else:
        data, name = files.read(source), Path(source).name
    expected = "records with a text, such as {memory, id, created_at}, or a list of texts"
    try:
        document: object
        if data.startswith(_SQLITE):
            document = _chroma_rows(data)
        else:
            document, _ = read_packed(data, budget)
        if isinstance(document, PlainText):
            if _NOTES.search(name):
                # A text for each line, without headings and the marks of lists.
                lines = [line for _, line in document.lines() if not line.startswith("#")]
                document = [_BULLET.sub("", line) for line in lines]
            else:
                document = named_rows(document, one_column=True)
        texts = stored_texts(document)
        if not texts:
            raise LoadError(f"no stored text; the file holds {describe(document)}")
    except LoadError as error:
        raise error.in_file(name, expected) from None
    return texts


def _chroma_rows(data: bytes) -> list[dict[str, object]]:
    """Returns the records of the collections in a chroma SQLite file, with their metadata.

    Raises:
        LoadError: It is damaged, or has not chroma's tables.
    """
    # A file in write-ahead mode cannot be opened in memory, so the header says rollback mode.
    data = data[:18] + b"\x01\x01" + data[20:]
    rows: dict[int, dict[str, object]] = {}
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(data)
            # Tables only: a view could compute for ever.
            kinds = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = [str(name) for (name,) in kinds]
            if not {"embeddings", "embedding_metadata"} <= {*tables}:
                expected = "the tables embeddings and embedding_metadata of chroma"
                raise LoadError(f"its tables are {', '.join(tables)[:200]}", expected=expected)
            collection = "NULL"
            if {"segments", "collections"} <= {*tables}:
                collection = (
                    "(SELECT c.name FROM segments s JOIN collections c ON c.id = s.collection "
                    "WHERE s.id = e.segment_id)"
                )
            values = database.execute(
                f"SELECT e.id, e.embedding_id, {collection}, m.key, "
                "coalesce(m.string_value, m.int_value, m.float_value) FROM embeddings e "
                "JOIN embedding_metadata m ON m.id = e.id ORDER BY e.id"
            )
            for number, name, owner, key, value in values:
                row = rows.setdefault(number, {"id": name, "collection": owner})
                row["document" if key == "chroma:document" else str(key)] = value
    except sqlite3.Error as error:
        raise LoadError(f"the SQLite file cannot be read ({error})") from None
    return [*rows.values()]


def stored_texts(document: object) -> tuple[StoredText, ...]:
    """Returns the stored texts of a document in its order, with distinct ids."""
    texts = [stored_text(record) for record in records_in(document)]
    ids = distinct([each.id or f"memory {place}" for place, each in enumerate(texts, start=1)])
    return tuple(replace(each, id=name) for each, name in zip(texts, ids, strict=True))


def stored_text(record: Mapping[str, object]) -> StoredText:
    """Reads a record of a memory system; its id is "" if it has none."""
    fields = {meaning: field_of(record, meaning) for meaning in NAMES}
    sources = parsed_cell(fields["sources"])
    several = sources if isinstance(sources, list | tuple) else [sources]
    named = (each.get("id") if isinstance(each, dict) else each for each in several)
    text, _ = printable(str(fields["text"]).strip())
    owner = parsed_cell(fields["owner"])  # a namespace is a list
    return StoredText(
        id=str(fields["id"] if fields["id"] is not None else ""),
        text=text,
        sources=tuple(dict.fromkeys(str(each) for each in named if isinstance(each, str | int))),
        session=str(fields["session"] or ""),
        time=read_time(fields["time"]),
        ended=read_time(fields["ended"]),
        newer=str(fields["newer"] or ""),
        of_event=has_event_time(record),
        owner="/".join(map(str, owner)) if isinstance(owner, list | tuple) else str(owner or ""),
    )


def records_in(document: object, key: str = "") -> Iterator[dict[str, object]]:
    """Yields the records with a text in a document, at any depth; ``key`` is the key above it.

    Messages of conversations are left out.
    """
    if isinstance(document, str):
        if document.strip():
            yield {"text": document}
    elif isinstance(document, list | tuple):
        plain = key in ("", *_LISTS)
        for each in document:
            if isinstance(each, dict | list) or (plain and isinstance(each, str)):
                yield from records_in(each, key)
    elif isinstance(document, dict):
        yield from _records_of(document)


def _records_of(document: dict[str, object]) -> Iterator[dict[str, object]]:
    """Yields the record that an object is, or those inside it."""
    parts = {spelled(str(name)): each for name, each in document.items()}
    parts = {name: each for name, each in parts.items() if name not in _TALK}
    if columns := _rows_of_columns(parts):
        yield from records_in(columns)
        return
    # Lists of objects hold records, lists of texts only under one of the usual names.
    lists = [
        name
        for name, each in parts.items()
        if isinstance(each, list)
        and any(isinstance(one, (dict, str) if name in _LISTS else dict) for one in each)
    ]
    record = _flat(document)
    if not lists and str(field_of(record, "text") or "").strip():
        yield record
        return
    # Beside such lists, objects such as ``metadata`` are no records. An unusual key above records
    # may be a conversation or user.
    keys = {spelled(str(name)): name for name in document}
    for name, each in parts.items():
        if name in lists or (isinstance(each, dict) and not (lists and name in _INSIDE)):
            above = {} if name in (*_LISTS, *_INSIDE) else {"owner": keys[name]}
            yield from (above | record for record in records_in(each, name))


def _rows_of_columns(parts: Mapping[str, object]) -> list[dict[str, object]]:
    """Returns the records of an object of columns, such as a chroma collection; [] for any other.

    A column is a list of values, one a record, under a plural such as ``documents``. The result of
    a query has a list of such lists, one for each question.
    """
    texts = next((parts[name] for name in COLUMNS if isinstance(parts.get(name), list)), None)
    if not isinstance(texts, list) or not texts:
        return []
    if all(isinstance(each, list) for each in texts):
        several: list[dict[str, object]] = []
        for place in range(len(texts)):
            lists = {n: c for n, c in parts.items() if isinstance(c, list) and len(c) > place}
            several += _rows_of_columns({name: column[place] for name, column in lists.items()})
        return several
    if not all(isinstance(each, str) or each is None for each in texts):
        return []
    columns = {
        name.removesuffix("s"): column
        for name, column in parts.items()
        if isinstance(column, list) and len(column) == len(texts)
    }
    if len(columns) < 2:  # a list of texts, not a table
        return []
    return [{n: column[place] for n, column in columns.items()} for place in range(len(texts))]


def _flat(value: Mapping[str, object]) -> dict[str, object]:
    """Returns the fields of a record, and those of the objects inside it, in one object.

    Such objects, or their JSON in the cell of a table, are under the keys of ``_INSIDE``. The
    record's own fields win.
    """
    own: dict[str, object] = {}
    inside: dict[str, object] = {}
    for name, each in value.items():
        within = spelled(str(name)) in _INSIDE
        part = parsed_cell(each) if within else each
        if not isinstance(part, dict):
            own[str(name)] = each
        elif within:
            inside |= _flat(part)
    return inside | own


def parsed_cell(value: object) -> object:
    """Parses the JSON list or object in a cell of a table; returns any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def has_event_time(record: Mapping[str, object]) -> bool:
    """Returns True if the time of a record is that of an event in its text."""
    keys = usual_keys(tuple(record), NAMES["time"])
    return spelled(next((key for key in keys if record[key]), "")) in _EVENT_TIMES


def field_of(record: Mapping[str, object], meaning: str) -> object:
    """Returns a record's value for a meaning such as "text", under the best usual key."""
    for key in usual_keys(tuple(record), NAMES[meaning]):
        value = record[key]
        if value not in (None, "") and (meaning != "text" or isinstance(value, str)):
            return value
    return None
