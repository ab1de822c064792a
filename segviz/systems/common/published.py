"""Reads the printed numbers of a system's paper, from the files next to the system."""

from __future__ import annotations

import csv
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
    """A paper and its printed numbers.

    Attributes:
        name: its name in ``segviz reproduce``.
        title: its title.
        where: where it appeared.
        caveat: the caveat of every number it prints.
        why: why our numbers differ.
        package: the package with ``published.csv``.
        tables: caveats by table.
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
