"""Limits what an input may unpack to and how many parts it has, and unpacks gzip within that."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from segviz.loaders.errors import WHOLE, LoadError
from segviz.text.captions import size

GZIP = b"\x1f\x8b"
DAMAGED = "download it again"

_STEP = 1 << 20


class Budget:
    """Limit on the bytes that one input unpacks to, and on its parts; None for no limit.

    All code that unpacks parts of the input counts their bytes here. A part is a line of a text, an
    object or list of JSON, or a row of Parquet, so an input has no more turns than parts.
    """

    def __init__(self, most: int | None = WHOLE, parts: int | None = None) -> None:
        self.most, self.parts = most, parts
        self._bytes = self._parts = 0

    def take(self, count: int) -> None:
        """Counts unpacked bytes; raises LoadError if their sum exceeds the limit."""
        self._bytes += count
        if self.most is not None and self._bytes > self.most:
            what = f"it holds more than the {size(self.most)} that are read at once"
            raise LoadError(what, remedy="unpack it and load the file inside by its path")

    def split(self, count: int) -> None:
        """Counts parts before they are read; raises LoadError if their sum exceeds the limit."""
        self._parts += count
        if self.parts is not None and self._parts > self.parts:
            what = f"it has more than the {self.parts:,} lines or objects that are read here"
            raise LoadError(what, remedy="take a part of it")


def gunzip(source: bytes | BinaryIO, budget: Budget) -> Iterator[bytes]:
    """Yields the unpacked parts of gzip data; raises LoadError if it is damaged or too large."""
    stream = BytesIO(source) if isinstance(source, bytes) else source
    try:
        with gzip.GzipFile(fileobj=stream) as file:
            while part := file.read(_STEP):
                budget.take(len(part))
                yield part
    except EOFError:
        what = "the archive is damaged: it ends too early"
        raise LoadError(what, remedy=DAMAGED) from None
    except (gzip.BadGzipFile, zlib.error):
        raise LoadError("the archive is damaged", remedy=DAMAGED) from None
