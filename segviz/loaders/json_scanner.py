"""Finds the items of a JSON list in a file, without holding the file in memory.

One pass over the bytes, a block at a time, counts brackets outside strings; nothing is parsed. So a
file of any size can be listed, and single items read on demand. Works on UTF-8 and other encodings
that keep ASCII; the items must be objects or lists.

ijson is not used: it gives no positions, so that reading one conversation would mean parsing all
before it. For a list of 280 MB this pass takes 2.5 s; ijson's takes 3.1 s with its C library and 24
s in pure Python, its fallback without a wheel. The last conversation is then read in 10 ms instead
of another 3.1 s. ijson also stops at the first error in any item, where here the other
conversations are still read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from segviz.loaders.decode import clean
from segviz.loaders.errors import WHOLE

BLOCK = 1 << 22
OUTLINE = 1 << 16
"""Most bytes of an outline of an item that are kept."""

_DEPTHS = 6

# Possessive: everything up to the next bracket outside strings, and the bracket, in one step.
_NEXT = re.compile(rb'((?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+)([\[\]{}])', re.DOTALL)
_BETWEEN = re.compile(rb"[\s,]*")


class NotItems(Exception):
    """Raised for a file that is not one JSON list of objects and lists."""


@dataclass(frozen=True, slots=True)
class Item:
    """Item of a JSON list in a file: the bytes from ``start`` up to ``stop``.

    ``outline`` is its JSON with ``null`` for each nested object and list; b"" if that is too long.
    ``objects`` and ``lists`` are the numbers of objects and lists at each depth; the item itself
    has depth 0.
    """

    start: int
    stop: int
    outline: bytes
    objects: tuple[int, ...]
    lists: tuple[int, ...]

    def scalars(self) -> dict[str, object]:
        """Returns the item's own texts and numbers by key; {} if they cannot be parsed."""
        try:
            outline, _ = clean(json.loads(self.outline, strict=False))
        except (ValueError, RecursionError):
            return {}
        return outline if isinstance(outline, dict) else {}


def find_items(stream: BinaryIO, block: int = BLOCK) -> Iterator[Item]:
    """Yields the items of a JSON list that begins at the first byte of a stream.

    Raises NotItems as soon as the bytes turn out to be something else. Errors inside an item are
    not detected.
    """
    depth, closed = 0, False
    separator = b""  # b"," after the first item
    for text, mark, place in _brackets(stream, block):
        if depth < 2 and not _BETWEEN.fullmatch(text):
            raise NotItems("there is something else than objects and lists")
        if not mark:
            continue
        opens = mark in b"[{"
        # Outside the items there may be the list's brackets and a comma between two items.
        outside = depth == 0 and (mark != b"[" or closed)
        if outside or (depth < 2 and text.strip() != (separator if opens else b"")):
            raise NotItems("the file is not one list, or a comma is missing or too many")
        # The outline holds an item's own fields, and null for what is nested.
        if depth == 1 and opens:
            start, outline, separator = place, bytearray(mark), b","
            objects, lists = [0] * _DEPTHS, [0] * _DEPTHS
        elif depth == 2 and len(outline) <= OUTLINE:
            outline += text + (b"null" if opens else b"")
        if opens and 0 < depth <= _DEPTHS:
            (objects if mark == b"{" else lists)[depth - 1] += 1
        # The bracket that leads back to the list ends the item.
        depth += 1 if opens else -1
        if depth == 1 and not opens:
            whole = bytes(outline + mark) if len(outline) <= OUTLINE else b""
            yield Item(start, place + 1, whole, tuple(objects), tuple(lists))
        closed = depth == 0
    if not closed or text.strip():
        raise NotItems("the list does not end where the file does")


def _brackets(stream: BinaryIO, block: int) -> Iterator[tuple[bytes, bytes, int]]:
    """Yields each bracket of JSON bytes outside strings, as (text before it, bracket, position).

    After each chunk it yields the rest of the chunk, with b"" as the bracket.
    """
    offset, rest = 0, b""
    while part := stream.read(max(block, len(rest))):
        if not offset and part.startswith(b"\xef\xbb\xbf"):
            part = b"   " + part[3:]  # spaces keep the positions right
        data, position, offset = rest + part, 0, offset + len(part)
        while match := _NEXT.match(data, position):
            yield match[1], match[2], offset - len(data) + match.start(2)
            position = match.end()
        rest = data[position:]
        yield rest, b"", offset
        if len(rest) > WHOLE:
            raise NotItems("a text takes more than can be read")
