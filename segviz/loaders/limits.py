"""How much is read at once. A JSON file of 264 MB takes 2.3 GB of memory when read whole."""

from __future__ import annotations

from segviz.loaders.errors import LoadError

WHOLE = 200 * 1024**2
"""Bytes of a file, or of what an archive expands to, that are read whole."""

BY_ITEMS = 16 * 1024**2
"""Bytes from which a file on disk is listed and read item by item, where its format allows."""

RATIO = 200
"""Most times its packed size that a file in an archive may expand to, once beyond ``SMALL``."""

SMALL = 10 * 1024**2

MEMBERS = 100_000
"""Most files of an archive or folder that are looked at."""


def size(number: int) -> str:
    """``12.3 MB``, in units of 1024."""
    if number < 1024:
        return f"{number} bytes"
    for unit, power in (("kB", 1), ("MB", 2)):
        if number < 1024 ** (power + 1):
            return f"{number / 1024**power:.1f} {unit}".replace(".0 ", " ")
    return f"{number / 1024**3:.2f} GB"


def too_large(found: int, limit: int, where: str, remedy: str) -> LoadError:
    """The error that names the limit and what to do instead."""
    what = f"the file has {size(found)}, more than the {size(limit)} that are read at once"
    return LoadError(what, where, f"at most {size(limit)}", remedy)
