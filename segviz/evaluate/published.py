"""Reads results printed in papers from ``published.csv``, to show beside our own numbers.

Every number is as printed, with its source, its metric and the reasons why it may not be
comparable with ours or with another paper's. No computation uses them. In the file ``system``
is a key of ``SYSTEMS`` where there is one, else the paper's name; ``variant`` is the setting or
the model, and for the metric ``layer`` the level and kind counted; ``low`` and ``high`` are the
95 % interval where one is given; ``note`` is a caveat of this one number.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeVar

from segviz.tree.shape import Layer


@dataclass(frozen=True, slots=True)
class Source:
    """A paper; ``caveat`` holds for every number taken from it."""

    title: str
    where: str
    caveat: str


@dataclass(frozen=True, slots=True)
class Metric:
    """The meaning of a number, whether ours are comparable with it, and why not."""

    label: str
    comparable: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True)
class Reported:
    """One number as printed; ``source`` and ``metric`` are keys of ``SOURCES`` and
    ``METRICS``."""

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

    @property
    def comparable(self) -> bool:
        """Whether our numbers in the same metric are comparable with it."""
        return METRICS[self.metric].comparable

    @property
    def caveats(self) -> tuple[str, ...]:
        """All caveats of the number: of its metric, source, table and its own."""
        of_table = CAVEATS.get((self.source, self.table), "")
        lines = (METRICS[self.metric].why, SOURCES[self.source].caveat, of_table, self.note)
        return tuple(line for line in lines if line)


@dataclass(frozen=True, slots=True)
class PublishedShape:
    """A row of SegTreeMem Table 5: the shape of the trees over a data set, on average.

    ``system`` is a key of ``SYSTEMS``; ``calls_per_leaf`` is NaN for RAPTOR, which is not built
    per leaf.
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
    """Nodes of a graph of facts as printed: ``layers`` (level and kind, as ``segviz.tree.shape``
    counts them, to how many), ``relations`` between entities, NaN where none are printed."""

    system: str
    data: str
    source: str
    table: str
    layers: Mapping[tuple[int, str], float]
    relations: float

    def ratio(self, layer: Layer) -> float | None:
        """The printed nodes of a layer for each printed node of the layers below it, as
        ``Layer.ratio``; None where not all of them are printed."""
        counts = [self.layers.get(place) for place in layer.below]
        own = self.layers.get((layer.level, layer.kind))
        known = [count for count in counts if count is not None]
        return None if own is None or not known or len(known) < len(counts) else own / sum(known)


SOURCES: dict[str, Source] = {
    "segtreemem": Source(
        "SegTreeMem: Temporal Order Matters for Agentic Memory",
        "arXiv 2606.04555",
        "Its units drop turns (281 leaves per LoCoMo conversation, ours 301), it counts all "
        "1986 LoCoMo questions, and its category names do not match LoCoMo's ids.",
    ),
    "memtree": Source(
        "From Isolated Conversations to Hierarchical Schemas (MemTree)",
        "arXiv 2410.14052",
        "No LoCoMo; other papers report MemTree there between 48 and 72.",
    ),
    "h-mem": Source(
        "H-Mem: Evolving and Retrieving Agent Memory via a Hybrid Structure",
        "arXiv 2605.15701",
        "Drops LoCoMo's adversarial questions (1540 are left).",
    ),
    "memforest": Source(
        "MemForest: An Efficient Agent Memory System with Hierarchical Temporal Indexing",
        "arXiv 2605.23986",
        "Counts all 1986 LoCoMo questions; its category names do not match LoCoMo's ids.",
    ),
    "xmemory": Source(
        "Beyond RAG for Agent Memory: Retrieval by Decoupling and Aggregation (xMemory)",
        "the paper",
        "Drops LoCoMo's adversarial questions (1540 are left).",
    ),
}

_ANSWERS = "Measures answers a model wrote from the evidence; ours measures the evidence itself."
_TOTALS = "The paper does not say whether these are totals over the data set; ratios compare."
_SECONDS = "Mostly the time of model calls."
METRICS: dict[str, Metric] = {
    "judge": Metric("LLM-judge accuracy, 0 to 1", False, _ANSWERS),
    "accuracy": Metric("LLM-judge accuracy, per cent", False, _ANSWERS),
    "pass@1": Metric("correct at the first answer, per cent", False, _ANSWERS),
    "pass@8": Metric("correct in one of eight answers, per cent", False, _ANSWERS),
    "f1": Metric("token F1 of answers, 0 to 1", False, _ANSWERS),
    "f1-percent": Metric("token F1 of answers, per cent", False, _ANSWERS),
    "bleu": Metric("BLEU of answers, per cent", False, _ANSWERS),
    "rouge": Metric("ROUGE-L of answers, per cent", False, _ANSWERS),
    "tokens": Metric("tokens per question, those of the answer among them", False, _ANSWERS),
    "blocks": Metric("retrieved blocks until all answer words are read"),
    "coverage-tokens": Metric("tokens until all answer words are read"),
    "leaves": Metric("leaves of the structure"),
    "nodes": Metric("nodes in the structure"),
    "max-depth": Metric("greatest leaf depth"),
    "mean-depth": Metric("mean leaf depth"),
    "depth-std": Metric("standard deviation of leaf depths"),
    "branching": Metric("mean children of inner nodes"),
    "calls": Metric("model calls per insertion"),
    "layer": Metric("nodes of one level and kind"),
    "relations": Metric("relations between entities"),
    "themes": Metric("themes", False, _TOTALS),
    "statements": Metric("statements", False, _TOTALS),
    "per-theme": Metric("statements per theme"),
    "reassigned": Metric("statements whose theme ever changed, per cent"),
    "questions": Metric("questions"),
    "sub-queries": Metric("parts of all questions"),
    "follow-ups": Metric("parts that were followed up"),
    "follow-up-rate": Metric("parts that were followed up, per cent"),
    "build-seconds": Metric("seconds to build the memory of a question", False, _SECONDS),
    "query-seconds": Metric("seconds of a question", False, _SECONDS),
    "speed-up": Metric("times as fast as the slowest method", False, _SECONDS),
}

CAVEATS: dict[tuple[str, str], str] = {
    ("segtreemem", "Table 3"): "Batch construction by a model, no propagation.",
    ("segtreemem", "Table 4"): (
        "The abstract's nearly 20 % is relative; over the best external baseline of this table "
        "the gain is 5 % on LoCoMo, 15.5 % on LongMemEval-MAB and 7 % on RealMem."
    ),
    ("segtreemem", "Table 5"): (
        "Averages over a data set. Same-text chains count as one node: were all nodes counted, all "
        "leaves of a levelled tree would be equally deep and the depth deviation 0. MemTree's "
        "contentless root is counted (474 nodes make 193 inner ones of 2.45 children)."
    ),
    **{
        ("memforest", f"Table {number}"): "From the text: the tables at hand have no bodies."
        for number in (2, 3, 6, 7)
    },
    ("h-mem", "Table 7"): (
        "Averages per conversation, extracted by a model. Its fragments are about as many as "
        "LoCoMo's turns: ratios between upper levels compare, counts do not."
    ),
    ("xmemory", "Table 7"): (
        "The full method. The paper does not say that these are totals over the data set; Table 8 "
        "gives 2897 statements for the same setting."
    ),
}
"""Caveats of every number of a table."""


def _read() -> tuple[Reported, ...]:
    def row(cells: dict[str, str]) -> Reported:
        low, high = (float(cells[name]) if cells[name] else None for name in ("low", "high"))
        return Reported(**{**cells, "value": float(cells["value"]), "low": low, "high": high})  # type: ignore[arg-type]

    lines = files("segviz.evaluate").joinpath("published.csv").read_text("utf-8").splitlines()
    return tuple(row(cells) for cells in csv.DictReader(lines))


REPORTED: tuple[Reported, ...] = _read()
"""All numbers, paper by paper."""


def _shapes() -> tuple[PublishedShape, ...]:
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    methods = {"segment-tree": "SegTreeMem", "memtree": "MemTree", "raptor": "RAPTOR"}
    for row in REPORTED:
        if (row.source, row.table) == ("segtreemem", "Table 5"):
            method = f"{methods[row.system]} {row.variant}".strip()
            found.setdefault((row.system, row.data, method), {})[row.metric] = row.value
    return tuple(
        PublishedShape(
            system,
            data,
            method,
            int(of["leaves"]),
            int(of["nodes"]),
            of["max-depth"],
            of["mean-depth"],
            of["depth-std"],
            of["branching"],
            of.get("calls", math.nan),
        )
        for (system, data, method), of in found.items()
    )


SHAPES: tuple[PublishedShape, ...] = _shapes()
"""SegTreeMem Table 5 (App. C.1) whole; the leaf counts are its own exchange units."""

TABLE_5: tuple[PublishedShape, ...] = tuple(
    row for row in SHAPES if row.method.startswith("SegTreeMem")
)
"""The three construction variants of the paper's own method."""


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
"""Sizes of graphs of facts: H-Mem Table 7, xMemory Table 7."""


_Row = TypeVar("_Row", PublishedShape, PublishedFacts)


def beside(rows: Sequence[_Row], system: str, data: str) -> tuple[_Row, ...]:
    """The rows to show beside a memory of ``system``: of its own kind, and of its data set where
    that is known by the name of a loader, else of all."""
    own = [row for row in rows if row.system == system]
    same = [row for row in own if data and row.data.startswith(data)]
    return tuple(same or own)
