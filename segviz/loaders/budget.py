"""Limits the bytes an input may unpack to, and unpacks gzip within that limit."""

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
    """Limit on the bytes that one input unpacks to; None for no limit.

    All code that unpacks parts of the input counts their bytes here.
    """

    def __init__(self, most: int | None = WHOLE) -> None:
        self.most = most
        self._bytes = 0

    def take(self, count: int) -> None:
        """Counts unpacked bytes; raises LoadError if their sum exceeds the limit."""
        self._bytes += count
        if self.most is not None and self._bytes > self.most:
            what = f"it holds more than the {size(self.most)} that are read at once"
            raise LoadError(what, remedy="unpack it and load the file inside by its path")


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
