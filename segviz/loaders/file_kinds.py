"""Kinds of file that are often loaded by mistake, told by how they begin or are built."""

from __future__ import annotations

import json
from collections.abc import Iterable

from segviz.loaders.errors import LoadError
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
"""First bytes -> what the file is."""

_OFFICE = {
    "word/": "a Word document (docx)",
    "xl/": "an Excel workbook (xlsx)",
    "ppt/": "a PowerPoint file (pptx)",
}
"""Names of zip members -> the office format that holds them."""

_TEXT = {
    "version https://git-lfs": "a Git LFS pointer, not the data: run git lfs pull",
    "<!doctype html": "an HTML page",
    "<html": "an HTML page",
    "<": "a text with markup (HTML or XML)",
}
"""First characters, in lower case -> what the file is."""


def _refused(kind: str) -> LoadError:
    unpack = "archive" in kind
    remedy = "unpack it and load the file inside" if unpack else "export the conversation as JSON"
    return LoadError(f"this is {kind}", remedy=remedy)


def reject_binary(data: bytes) -> None:
    """Raise LoadError naming the kind when the bytes are a known binary format."""
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            raise _refused(kind)
    if data[257:262] == b"ustar":
        raise _refused("a tar archive")


def reject_office(paths: Iterable[str]) -> None:
    """Raise LoadError naming the kind when files with these paths make an office document."""
    known = list(paths)
    for part, kind in _OFFICE.items():
        if any(path.startswith(part) for path in known):
            raise _refused(kind)


def is_binary(head: bytes) -> bool:
    """Whether a file that begins like this is surely neither text nor Parquet."""
    if head.startswith(MAGIC):
        return False
    if any(head.startswith(magic) for magic in _MAGIC):
        return True
    return b"\0" in head and json.detect_encoding(head).startswith("utf-8")


def reject_text(text: str) -> None:
    """Raise LoadError naming the kind when the text is a known format other than JSON."""
    start = text[:400].lstrip().lower()
    for prefix, kind in _TEXT.items():
        if start.startswith(prefix):
            raise _refused(kind)
