"""Collects the numbers printed in the papers of the systems, for display next to our own.

Every number is as printed and comes from ``published`` of a system's class. No computation uses it.
``system`` is a key of ``SYSTEMS`` or, for a system that is not built here, its name in the paper.
``variant`` is the setting or model, ``low`` and ``high`` the 95 % interval if printed, ``note`` a
caveat of this one number. Metrics
``judge`` and ``f1`` run from 0 to 1; ``accuracy``, ``pass@…``, ``f1-percent``, ``bleu``, ``rouge``,
``reassigned`` and ``follow-up-rate`` to 100. ``tokens`` are those of all calls of a question,
``coverage-tokens`` and ``blocks`` until all answer words are read. ``layer`` counts nodes of the
level and kind that its ``variant`` names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from segviz.systems import SYSTEMS
from segviz.systems.common.published import Paper, Reported
from segviz.tree.shape import Layer


@dataclass(frozen=True, slots=True)
class PublishedShape:
    """Row of SegTreeMem Table 5: the mean shape of the trees over a data set.

    ``system`` is a key of ``SYSTEMS``; ``calls_per_leaf`` is NaN for RAPTOR, which is not built per
    leaf.
    """

    system: str
    data: str
    method: str
    leaves: int
    nodes: int
    max_depth: float
    mean_depth: float
    depth_std: float
    branching: float
    calls_per_leaf: float


@dataclass(frozen=True, slots=True)
class PublishedFacts:
    """Printed size of a fact graph.

    ``layers`` maps level and kind of nodes, as in ``segviz.tree.shape``, to their number;
    ``relations`` is the number of relations between entities, NaN if not printed.
    """

    system: str
    data: str
    source: str
    table: str
    layers: Mapping[tuple[int, str], float]
    relations: float

    def ratio(self, layer: Layer) -> float | None:
        """Returns the printed nodes of a layer per node of the layers below it, as ``Layer.ratio``.

        None if one of these numbers is not printed.
        """
        counts = [self.layers.get(place) for place in layer.below]
        own = self.layers.get((layer.level, layer.kind))
        known = [count for count in counts if count is not None]
        return None if own is None or not known or len(known) < len(counts) else own / sum(known)


SOURCES: dict[str, Paper] = {
    kind.published.name: kind.published for kind in SYSTEMS.values() if hasattr(kind, "published")
}
"""Papers of the systems, by the name of the paper."""

CAVEATS: dict[tuple[str, str], str] = {
    (name, table): said for name, paper in SOURCES.items() for table, said in paper.tables.items()
}
"""Caveats that hold for all numbers of a table, by paper and table."""

REPORTED: tuple[Reported, ...] = tuple(row for paper in SOURCES.values() for row in paper.rows)
"""All printed numbers, paper by paper."""


def _shapes() -> tuple[PublishedShape, ...]:
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    methods = {"segment-tree": "SegTreeMem", "memtree": "MemTree", "raptor": "RAPTOR"}
    for row in REPORTED:
        if (row.source, row.table) == ("segtreemem", "Table 5"):
            method = f"{methods[row.system]} {row.variant}".strip()
            found.setdefault((row.system, row.data, method), {})[row.metric] = row.value
    others = ("max-depth", "mean-depth", "depth-std", "branching", "calls")
    return tuple(
        PublishedShape(
            *of_method,
            *(int(of[name]) for name in ("leaves", "nodes")),
            *(of.get(name, math.nan) for name in others),
        )
        for of_method, of in found.items()
    )


SHAPES: tuple[PublishedShape, ...] = _shapes()
"""All rows of SegTreeMem Table 5 (App. C.1). Its leaves are the paper's exchange units."""


def _facts() -> tuple[PublishedFacts, ...]:
    found: dict[tuple[str, str, str, str], dict[tuple[int, str], float]] = {}
    relations: dict[tuple[str, str, str, str], float] = {}
    for row in REPORTED:
        key = (row.system, row.data, row.source, row.table)
        if row.metric == "layer":
            level, _, kind = row.variant.partition(" ")
            found.setdefault(key, {})[int(level), kind] = row.value
        elif row.metric == "relations":
            relations[key] = row.value
    return tuple(
        PublishedFacts(*key, layers, relations.get(key, math.nan)) for key, layers in found.items()
    )


FACTS: tuple[PublishedFacts, ...] = _facts()
"""Printed sizes of fact graphs: H-Mem Table 7, xMemory Table 7."""


_Row = TypeVar("_Row", PublishedShape, PublishedFacts)


def beside(rows: Sequence[_Row], system: str, data: str) -> tuple[_Row, ...]:
    """Returns the rows of ``system`` for data sets whose name begins with ``data``.

    Without such rows, returns all rows of the system.
    """
    own = [row for row in rows if row.system == system]
    same = [row for row in own if data and row.data.startswith(data)]
    return tuple(same or own)
