"""Recognizes files that are often loaded by mistake, by their first bytes or their structure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from segviz.loaders.errors import LoadError, OtherKind
from segviz.loaders.parquet import MAGIC

_MAGIC = {
    b"%PDF-": "a PDF document",
    b"\x89PNG\r\n\x1a\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"SQLite format 3\x00": "an SQLite database",
}
"""Maps first bytes to the name of the format."""

_OFFICE = {
    "word/": "a Word document (docx)",
    "xl/": "an Excel workbook (xlsx)",
    "ppt/": "a PowerPoint file (pptx)",
}
"""Maps a folder inside a zip archive to the office format that has it."""

_TEXT = {
    "version https://git-lfs": "a Git LFS pointer, not the data: run git lfs pull",
    "<!doctype html": "an HTML page",
    "<html": "an HTML page",
    "<": "a text with markup (HTML or XML)",
}
"""Maps first characters, in lower case, to the name of the format."""


_STORES = [
    set(keys.split())
    for keys in (
        *("memory hash", "memory user_id", "old_memory new_memory", "namespace key value", "fact"),
        *("core_memory", "agent_type blocks", "embedding archive_id"),
    )
]
"""Keys of records in the memory stores of mem0, LangGraph, Zep, Graphiti and Letta."""

_HOLDERS = ("results", "memories", "facts", "edges", "items", "agents", "passages", "data")


_TRACE = {"nodes", "edges", "operations", "sessions"}


def _refused(kind: str) -> LoadError:
    unpack = "archive" in kind
    remedy = "unpack it and load the file inside" if unpack else "export the conversation as JSON"
    return OtherKind(f"this is {kind}", remedy=remedy)


def other_kind(document: object) -> LoadError | None:
    """Returns the error for a document of stored memories, or of questions alone; else None."""
    rows = document if isinstance(document, list) else [document]
    results = (row for row in rows if isinstance(row, dict))
    if is_trace(document):
        what = "this is a trace of a memory system as a graph (smartcomment), not a conversation"
        remedy = "load the conversation that the system was given, and its memories as a store"
    elif is_store(document):
        what = "these are memories that a system has written, not a conversation"
        remedy = "compare them with their conversation by segviz audit --store"
    elif any(
        isinstance(r.get("qa"), list) or isinstance(r.get("hypothesis"), str) for r in results
    ):
        what = "these are questions or results of an evaluation, without their conversation"
        remedy = "load the conversation's file, and compare these with it by segviz audit --run"
    else:
        return None
    return OtherKind(what, remedy=remedy)


def is_trace(document: object) -> bool:
    """Returns True for smartcomment's graph of values, in which messages are some of the nodes."""
    return isinstance(document, dict) and document.keys() >= _TRACE


def is_store(document: object) -> bool:
    """Returns True if a document holds memories that a memory system has written."""
    if isinstance(document, dict):
        lists = [rows for key in _HOLDERS if isinstance(rows := document.get(key), list)]
        return _is_memory(document) or any(map(is_store, lists))
    rows = document[:20] if isinstance(document, list) else []
    return bool(rows) and all(isinstance(row, dict) and _is_memory(row) for row in rows)


def _is_memory(row: dict[str, object]) -> bool:
    return any(keys <= row.keys() for keys in _STORES)


def reject_binary(data: bytes) -> None:
    """Raises LoadError if the bytes are a known binary format, and names it."""
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            raise _refused(kind)
    if data[257:262] == b"ustar":
        raise _refused("a tar archive")


def reject_office(paths: Iterable[str]) -> None:
    """Raises LoadError if the paths in an archive are those of an office document."""
    known = list(paths)
    for part, kind in _OFFICE.items():
        if any(path.startswith(part) for path in known):
            raise _refused(kind)


def is_binary(head: bytes) -> bool:
    """Returns True if a file that begins with these bytes is neither text nor Parquet."""
    if head.startswith(MAGIC):
        return False
    if any(head.startswith(magic) for magic in _MAGIC):
        return True
    return b"\0" in head and json.detect_encoding(head).startswith("utf-8")


def reject_text(text: str) -> None:
    """Raises LoadError if the text is HTML, XML or a Git LFS pointer."""
    start = re.sub(r"\A\s*<!--.*?-->", "", text[:400], flags=re.DOTALL).lstrip().lower()
    for prefix, kind in _TEXT.items():
        if start.startswith(prefix):
            raise _refused(kind)
