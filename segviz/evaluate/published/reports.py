"""A reported number, its source and its metric, with the reasons why it may not compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A paper; ``caveat`` holds for every number taken from it."""

    title: str
    where: str
    caveat: str


@dataclass(frozen=True, slots=True)
class Metric:
    """What a number counts, and whether a number of ours may stand beside it."""

    label: str
    comparable: bool
    why: str


@dataclass(frozen=True, slots=True)
class Reported:
    """One number as printed. ``system`` is a key of ``SYSTEMS`` where there is one, else the
    paper's name; ``variant`` the setting or the model; ``low`` and ``high`` its 95 %
    interval where given. ``source`` and ``metric`` are keys of ``SOURCES`` and ``METRICS``."""

    source: str
    table: str
    data: str
    metric: str
    system: str
    value: float
    low: float | None = None
    high: float | None = None
    variant: str = ""
    caveat: str = ""

    @property
    def comparable(self) -> bool:
        """Whether a number of ours in the same metric may stand beside it."""
        return METRICS[self.metric].comparable

    @property
    def caveats(self) -> tuple[str, ...]:
        """Everything to be said beside the number."""
        lines = (METRICS[self.metric].why, SOURCES[self.source].caveat, self.caveat)
        return tuple(line for line in lines if line)


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
METRICS: dict[str, Metric] = {
    "judge": Metric("LLM-judge accuracy, 0 to 1", False, _ANSWERS),
    "accuracy": Metric("LLM-judge accuracy, per cent", False, _ANSWERS),
    "pass@1": Metric("correct at the first answer, per cent", False, _ANSWERS),
    "f1": Metric("token F1 of answers, 0 to 1", False, _ANSWERS),
    "f1-percent": Metric("token F1 of answers, per cent", False, _ANSWERS),
    "bleu": Metric("BLEU of answers, per cent", False, _ANSWERS),
    "nodes": Metric("nodes in the structure", True, ""),
    "max-depth": Metric("greatest leaf depth", True, ""),
    "mean-depth": Metric("mean leaf depth", True, ""),
    "branching": Metric("mean children of inner nodes", True, ""),
    "calls": Metric("model calls per insertion", True, ""),
}

Value = float | tuple[float, float, float]
"""A number, alone or with its 95 % interval."""


def rows(
    source: str,
    table: str,
    data: str,
    metric: str,
    values: Mapping[str, Value],
    variant: str = "",
    caveat: str = "",
) -> tuple[Reported, ...]:
    """One row per entry; ``"system: variant"`` names the variant of a single entry."""
    made = []
    for name, given in values.items():
        system, _, own = name.partition(": ")
        value, low, high = given if isinstance(given, tuple) else (given, None, None)
        made.append(
            Reported(source, table, data, metric, system, value, low, high, own or variant, caveat)
        )
    return tuple(made)
