"""Reads a system's departures from its paper, from the file next to it."""

from __future__ import annotations

import re
from importlib.resources import files

_ITEM = re.compile(r"^\* (.+(?:\n  .+)*)", re.M)


def departures_of(package: str, name: str) -> tuple[str, ...]:
    """Returns the departures of a system from its paper, a few sentences each.

    Args:
        package: the system's package; its ``departures.md`` has an item for each.
        name: the system's name in ``SYSTEMS``. An item of ``common/departures.md`` applies to the
            systems it begins with ("* memtree, raptor: …").

    Returns:
        The system's own, then those it shares with others.
    """
    shared = (item.partition(": ") for item in _items(__package__))
    return _items(package) + tuple(text for of, _, text in shared if name in of.split(", "))


def _items(package: str) -> tuple[str, ...]:
    file = files(package).joinpath("departures.md")
    items = _ITEM.findall(file.read_text("utf-8")) if file.is_file() else []
    return tuple(" ".join(item.split()) for item in items)
