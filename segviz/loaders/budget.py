"""What one input may cost, and gzip unpacked within it.

A budget belongs to a whole input: everything it unpacks to, at any place of the program, is
taken from the same one. Work grows with bytes and members, so that bounding them bounds time
and memory; a clock would refuse on a slow machine what a fast one reads.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from segviz.loaders.captions import size
from segviz.loaders.errors import WHOLE, LoadError

RATIO = 20
"""Most times its own size that a packed input may expand to, beyond ``SMALL``. Conversations
pack 3 to 6 times smaller."""

SMALL = 10 * 1024**2
"""Bytes that any input may expand to."""

FEW = 300_000
"""Values and lines that any packed input may hold; beyond, one for two bytes of its own size. Those
of conversations take four bytes and more. A value of two bytes costs as much as one of a page."""

MEMBERS = 100_000
"""Most files of an archive or folder that are looked at."""

DEEPEST = 200
"""Most levels of lists and objects in a document."""

GZIP = b"\x1f\x8b"
DAMAGED = "download it again"

_MARKS = (b",", b"[", b"{", b"\n", b"\r")

_PART = 1 << 14
"""Packed bytes taken at a time: what follows a member is copied for each, so this is little."""

_MOST = 1 << 20


class Budget:
    """What is left of it for one input of ``packed`` bytes (None: it is not packed), of which
    ``most`` bytes are read at once (None: as many as there are)."""

    def __init__(self, packed: int | None = None, most: int | None = WHOLE) -> None:
        self.most = most
        self.members = MEMBERS
        self._bytes = self._values = 0
        self._most_bytes = None if packed is None else max(SMALL, packed * RATIO)
        self._most_values = None if packed is None else max(FEW, packed // 2)

    def take(self, count: int, values: int = 0) -> None:
        """Unpack so many bytes and values. LoadError when they are not left."""
        self._bytes += count
        self._values += values
        if self.most is not None and self._bytes > self.most:
            what = f"it holds more than the {size(self.most)} that are read at once"
            raise LoadError(what, remedy="unpack it and load the file inside by its path")
        remedy = "unpack it and load the file inside if you trust it"
        if self._most_bytes is not None and self._bytes > self._most_bytes:
            what = f"it expands to more than {RATIO} times its size, as no conversation does"
            raise LoadError(what, remedy=remedy)
        if self._most_values is not None and self._values > self._most_values:
            what = f"it expands to more than {self._most_values:,} values, which is too much"
            raise LoadError(f"{what} for its size", remedy=remedy)

    def take_text(self, part: bytes) -> None:
        """Unpack a part of a text: its values are told by the marks between them."""
        self.take(len(part), sum(map(part.count, _MARKS)))

    def expect(self, count: int) -> None:
        """As :func:`take`, for what is only announced yet."""
        self.take(count)
        self._bytes -= count

    def meet(self, count: int = 1) -> None:
        """Look at so many files. LoadError when there are too many."""
        self.members -= count
        if self.members < 0:
            what = f"there are more than {MEMBERS:,} files in it"
            raise LoadError(what, remedy="unpack it and load the file that is meant")


def gunzip(source: bytes | BinaryIO, budget: Budget) -> Iterator[bytes]:
    """What a gzip file holds, in parts. LoadError when it is damaged or beyond the budget."""
    stream = BytesIO(source) if isinstance(source, bytes) else source
    rest = stream.read(_PART)
    try:
        while rest.startswith(GZIP):
            budget.meet()
            engine = zlib.decompressobj(wbits=31)
            while not engine.eof:
                if not rest and not (rest := stream.read(_PART)):
                    raise LoadError("the archive is damaged: it ends too early", remedy=DAMAGED)
                part = engine.decompress(rest, _MOST)
                rest = engine.unconsumed_tail
                budget.take_text(part)
                yield part
            rest = engine.unused_data
            if len(rest) < len(GZIP):
                rest += stream.read(_PART)
    except zlib.error:
        raise LoadError("the archive is damaged", remedy=DAMAGED) from None
