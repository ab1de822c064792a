"""Collects the numbers printed in the papers of the systems, and compares our own with them.

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
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from segviz.conversation import Conversation
from segviz.evaluation.aggregate import Mean, Row, number_of
from segviz.evaluation.measures import MEASURES
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


DATA = {"MemoryAgentBench": "LongMemEval-MAB", "LongMemEval": "LongMemEval-S"}
"""Format of a file to the name that the papers give its data set, where they differ."""


def of_data(printed: Sequence[Reported], talks: Sequence[Conversation]) -> Sequence[Reported]:
    """Returns those printed numbers that are of the data set of the conversations.

    Without any, returns those of the data set that is printed first.
    """
    formats = {talk.source_format for talk in talks}
    name = formats.pop() if len(formats) == 1 else ""
    same = [row for row in printed if row.data == DATA.get(name, name)]
    return same or [row for row in printed if row.data == printed[0].data]


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def farthest(rows: Sequence[Row]) -> str:
    """Returns a sentence on how many numbers are near the printed ones, and on the farthest one.

    The column "x, paper" has the printed numbers of the column "x".
    """
    compared: list[tuple[float, str, str, float, float]] = []
    for row in rows:
        label = str(next(iter(row.values())))  # the first column names the row
        for column in row:
            ours, theirs = number_of(row[column]), number_of(row.get(f"{column}, paper"))
            if ours > 0 and theirs > 0:
                distance = abs(math.log(ours / theirs))
                compared.append((distance, label, column, ours, theirs))
    if not compared:
        return ""
    _, label, name, ours, theirs = max(compared)
    near = sum(distance <= math.log(1.15) for distance, *_ in compared)
    return (
        f"{near} of {len(compared)} numbers lie within 15 % of the printed ones; farthest is "
        f"{label}, {name}: {_short(ours)} against {_short(theirs)}."
    )


def same_order(rows: Sequence[Row], measure: str) -> str:
    """Returns a sentence on whether our measure orders the rows as a printed number does.

    It is used if the paper prints a metric that we do not measure, such as judge accuracy; then
    ``measure`` is compared with it. Two of our means count as different only if their intervals do
    not overlap.
    """
    # Each column with its first mean, if any: a row with printed numbers only has no means.
    first: Row = {}
    for row in rows:
        first |= {n: v for n, v in row.items() if isinstance(v, Mean) or n not in first}
    # Printed columns that we do not measure, and our columns to set beside them.
    theirs = [n for n in first if n.endswith(", paper") and n.removesuffix(", paper") not in first]
    loss = theirs and theirs[0].startswith("loss")
    ours = [n for n in first if isinstance(first[n], Mean) and n.startswith("loss" if loss else "")]
    judged = [name for name in ours if name.endswith(MEASURES[measure].label)]
    ours = judged or ours
    if not theirs or not ours:
        return ""
    losses = ""
    if loss:
        means = [mean for row in rows if isinstance(mean := row.get(ours[0]), Mean)]
        shown = sum(mean.low > 0 for mean in means)
        losses = f"{shown or 'None'} of {len(means)} losses are significant."
    # Of every pair of rows: do both columns order them alike?
    counts = Counter[str]()
    for a, b in combinations(rows, 2):
        printed = number_of(a.get(theirs[0])) - number_of(b.get(theirs[0]))
        mine, other = a[ours[0]], b[ours[0]]
        if math.isnan(printed) or not isinstance(mine, Mean) or not isinstance(other, Mean):
            continue
        apart = mine.low > other.high or mine.high < other.low
        same = (mine.value > other.value) == (printed > 0)
        counts["same" if same and apart else "other" if apart else "undecided"] += 1
    if not counts:
        return losses
    pairs = (
        f"By {ours[0]} as by the printed {theirs[0].removesuffix(', paper')}, {counts['same']} of "
        f"{counts.total()} pairs of rows have the same order, {counts['other']} the opposite; "
        f"{counts['undecided']} do not differ significantly."
    )
    return f"{losses} {pairs}".strip()
