"""Kinds of file that are often loaded by mistake, told by how they begin or are built."""

from __future__ import annotations

import json
from collections.abc import Iterable

from segviz.loaders.errors import LoadError
from segviz.loaders.parquet import MAGIC

_UNPACK = "unpack it and load the file inside"

_MAGIC: dict[bytes, tuple[str, str]] = {
    b"%PDF-": ("a PDF document", "export the conversation as JSON"),
    b"\x89PNG\r\n\x1a\n": ("a PNG image", "choose the conversation file"),
    b"\xff\xd8\xff": ("a JPEG image", "choose the conversation file"),
    b"GIF8": ("a GIF image", "choose the conversation file"),
    b"PK\x03\x04": ("a zip archive", _UNPACK),
    b"PK\x05\x06": ("an empty zip archive", "download it again"),
    b"\x1f\x8b": ("a gzip archive", _UNPACK),
    b"7z\xbc\xaf": ("a 7z archive", _UNPACK),
    b"Rar!": ("a RAR archive", _UNPACK),
    b"SQLite format 3\x00": ("an SQLite database", "export the conversation as JSON"),
}
"""First bytes -> what the file is, what to do."""

_OFFICE = {
    b"word/": "a Word document (docx)",
    b"xl/": "an Excel workbook (xlsx)",
    b"ppt/": "a PowerPoint file (pptx)",
}
"""Names of zip members -> the office format that holds them."""

_TEXT: dict[str, tuple[str, str]] = {
    "version https://git-lfs": ("a Git LFS pointer, not the data", "run git lfs pull"),
    "<!doctype html": ("an HTML page", "log in and download the file itself"),
    "<html": ("an HTML page", "log in and download the file itself"),
    "<?xml": ("an XML document", "export the conversation as JSON"),
    "<": ("a text with markup (HTML or XML)", "export the conversation as JSON"),
}
"""First characters, in lower case -> what the file is, what to do."""


def reject_binary(data: bytes) -> None:
    """Raise LoadError naming the kind when the bytes are a known binary format."""
    for magic, (kind, remedy) in _MAGIC.items():
        if data.startswith(magic):
            if magic == b"PK\x03\x04":
                office = next((name for part, name in _OFFICE.items() if part in data), None)
                if office:
                    kind, remedy = office, "export the conversation as JSON"
            raise LoadError(f"this is {kind}", remedy=remedy)
    if data[257:262] == b"ustar":
        raise LoadError("this is a tar archive", remedy="unpack it and load the file or folder")


def reject_office(paths: Iterable[str]) -> None:
    """Raise LoadError naming the kind when files with these paths make an office document."""
    known = list(paths)
    for part, kind in _OFFICE.items():
        if any(path.startswith(part.decode()) for path in known):
            raise LoadError(f"this is {kind}", remedy="export the conversation as JSON")


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
    for prefix, (kind, remedy) in _TEXT.items():
        if start.startswith(prefix):
            raise LoadError(f"this is {kind}", remedy=remedy)
