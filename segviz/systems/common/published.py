"""Reads the numbers a system's paper prints, and the system's departures, from files next to it."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Reported:
    """A number as printed; ``source`` is the name of its paper."""

    source: str
    table: str
    data: str
    metric: str
    system: str
    variant: str
    value: float
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True)
class Paper:
    """A paper, by its name in ``segviz reproduce``, and its printed numbers.

    ``caveat`` is that of every number, ``tables`` has further ones by table, ``why`` says why our
    numbers differ. ``package`` is the one with ``published.csv``.
    """

    name: str
    title: str
    where: str
    caveat: str
    why: str
    package: str
    tables: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def rows(self) -> tuple[Reported, ...]:
        """Printed numbers, in the order of the tables."""

        def row(cells: dict[str, str]) -> Reported:
            low, high = (float(cells[name]) if cells[name] else None for name in ("low", "high"))
            numbers = {"value": float(cells["value"]), "low": low, "high": high}
            return Reported(**{"source": self.name, **cells, **numbers})  # type: ignore[arg-type]

        text = files(self.package).joinpath("published.csv").read_text("utf-8")
        return tuple(map(row, csv.DictReader(text.splitlines())))


def paper(package: str) -> Paper:
    """Returns the paper in ``published.toml`` of a package, for ``published`` of a system."""
    text = files(package).joinpath("published.toml").read_text("utf-8")
    return Paper(package=package, **tomllib.loads(text))


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
    text = file.read_text("utf-8") if file.is_file() else ""
    return tuple(" ".join(item.split()) for item in re.findall(r"^\* (.+(?:\n  .+)*)", text, re.M))
