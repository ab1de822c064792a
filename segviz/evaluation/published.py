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

from collections.abc import Mapping

from segviz.evaluation.aggregate import Row
from segviz.systems import SYSTEMS
from segviz.systems.common.published import Paper
from segviz.systems.common.published import Reported as Reported
from segviz.tree.shape import Layer

SOURCES: dict[str, Paper] = {
    kind.published.name: kind.published for kind in SYSTEMS.values() if hasattr(kind, "published")
}
"""Papers of the systems, by the name of the paper."""

CAVEATS: dict[tuple[str, str], str] = {
    (name, table): note for name, paper in SOURCES.items() for table, note in paper.tables.items()
}
"""Caveats that hold for all numbers of a table, by paper and table."""

REPORTED: tuple[Reported, ...] = tuple(row for paper in SOURCES.values() for row in paper.rows)
"""All printed numbers, paper by paper."""


def _of(system: str, data: str, *metrics: str) -> list[Reported]:
    """Returns the numbers of a system for data sets whose name begins with ``data``, else all."""
    own = [row for row in REPORTED if row.system == system and row.metric in metrics]
    return [row for row in own if data and row.data.startswith(data)] or own


_METHODS = {"segment-tree": "SegTreeMem", "memtree": "MemTree", "raptor": "RAPTOR"}
_SHAPE = {
    **{name: name for name in ("leaves", "nodes", "nodes/leaf")},
    **{"max-depth": "max depth", "mean-depth": "mean depth", "depth-std": "depth std"},
    **{"branching": "branching", "calls": "calls/leaf"},
}


def printed_shapes(system: str, data: str) -> list[Row]:
    """Returns the rows of SegTreeMem Table 5 (App. C.1) for a system, as table rows.

    They are the mean shapes of trees over a data set, whose name begins with ``data`` if there is
    such a row. The leaves are the paper's exchange units. RAPTOR has no calls per leaf.
    """
    trees: dict[str, dict[str, float]] = {}
    for row in _of(system, data, *_SHAPE):
        if (row.source, row.table) == ("segtreemem", "Table 5"):
            method = f"{_METHODS[system]} {row.variant}".strip()
            trees.setdefault(f"{method}, {row.data}", {})[row.metric] = row.value
    rows: list[Row] = []
    for name, of in trees.items():
        of["nodes/leaf"] = of["nodes"] / of["leaves"]
        cells: Row = {label: of[metric] for metric, label in _SHAPE.items() if metric in of}
        rows.append({"memory": name, "kind": "published", **cells})
    return rows


def printed_layers(system: str, data: str) -> dict[Reported, dict[str, float]]:
    """Returns the printed sizes of a system's fact graph (H-Mem Table 7, xMemory Table 7).

    For the first number of each data set, chosen as in :func:`printed_shapes`, it has the number of
    nodes by level and kind, as ``"1 event"``, and the number of ``relations``, if printed.
    """
    sizes: dict[tuple[str, str], tuple[Reported, dict[str, float]]] = {}
    for row in _of(system, data, "layer", "relations"):
        _, counts = sizes.setdefault((row.table, row.data), (row, {}))
        counts[row.variant or row.metric] = row.value
    return dict(sizes.values())


def printed_ratio(counts: Mapping[str, float], layer: Layer) -> float | None:
    """Returns the printed nodes of a layer per node of the layers below it, as ``Layer.ratio``.

    None if one of these numbers, in ``counts`` of :func:`printed_layers`, is not printed.
    """
    names = [f"{level} {kind}".strip() for level, kind in ((layer.level, layer.kind), *layer.below)]
    if not layer.below or not counts.keys() >= set(names):
        return None
    own, *below = (counts[name] for name in names)
    return own / sum(below)
