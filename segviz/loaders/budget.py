"""What one input may unpack to, and gzip unpacked within it."""

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
    """What is left of the ``most`` bytes that an input may hold when unpacked (None: no limit).

    Everything the input unpacks to, at any place of the program, is taken from the same one.
    """

    def __init__(self, most: int | None = WHOLE) -> None:
        self.most = most
        self._bytes = 0

    def take(self, count: int) -> None:
        """Unpack so many bytes. LoadError when they are not left."""
        self._bytes += count
        if self.most is not None and self._bytes > self.most:
            what = f"it holds more than the {size(self.most)} that are read at once"
            raise LoadError(what, remedy="unpack it and load the file inside by its path")


def gunzip(source: bytes | BinaryIO, budget: Budget) -> Iterator[bytes]:
    """What a gzip file holds, in parts. LoadError when it is damaged or beyond the budget."""
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
