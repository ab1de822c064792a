"""The forgetting curves of a memory and its nodes on them.

For systems that fade (``segviz.construct.Fades``): a node's facts ``last`` and ``n`` say when
it was last met, in seconds, and how often again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from segviz.conversation import DAY
from segviz.tree import Facts, Structure, as_number

Law = Callable[[Facts, Sequence[float]], list[float]]

MENTIONS = (0, 1, 3, 10)
_POINTS = 60


@dataclass(frozen=True, slots=True)
class Remembered:
    """Nodes with the same retention: days since they were last met, how often they were met
    again, the share retained in [0, 1], and how many there are."""

    age: float
    n: int
    retained: float
    nodes: int


def fades(structure: Structure) -> bool:
    """Whether any node carries the facts ``last`` and ``n``."""
    return any("last" in facts and "n" in facts for facts in structure.facts)


def last_met(structure: Structure) -> float:
    """The latest moment at which a node was met, in seconds."""
    active = np.flatnonzero(structure.active).tolist()
    return max((as_number(structure.facts[n], "last") for n in active), default=0.0)


def remembered(structure: Structure, now: float, law: Law) -> tuple[Remembered, ...]:
    """The nodes at the moment ``now`` (seconds), grouped by age and n."""
    groups: Counter[tuple[float, int]] = Counter()
    for node in np.flatnonzero(structure.active).tolist():
        facts = structure.facts[node]
        if "last" in facts and "n" in facts:
            age = max(0.0, now - as_number(facts, "last"))
            groups[age, int(as_number(facts, "n"))] += 1
    return tuple(
        Remembered(age / DAY, n, law({"n": n}, [age])[0], nodes)
        for (age, n), nodes in sorted(groups.items())
    )


def forgetting_rows(points: Sequence[Remembered], law: Law) -> list[dict[str, Any]]:
    """Retention over the days since a node was last met: a curve each for 0, 1, 3 and 10 times met
    again, and the memory's nodes on it, a row for each group."""
    longest = max([30.0, *(1.08 * point.age for point in points)])
    days = np.linspace(0.0, longest, _POINTS).tolist()
    curves = [
        {"days since it was last met": day, "curve": f"n = {n}", "remembered": share}
        for n in MENTIONS
        for day, share in zip(days, law({"n": n}, [day * DAY for day in days]), strict=True)
    ]
    return curves + [
        {
            "days since it was last met": round(point.age, 1),
            "met again": point.n,
            "remembered, nodes": round(point.retained, 4),
            "nodes": point.nodes,
        }
        for point in points
    ]


def forgetting_sentence(points: Sequence[Remembered]) -> str:
    """The number of nodes and the range of their retention."""
    if not points:
        return "No node can fade."
    values = np.repeat([p.retained for p in points], [p.nodes for p in points])
    again = sum(point.nodes for point in points if point.n)
    return (
        f"{len(values):,} nodes, {again:,} of them met again, are remembered at "
        f"{values.min():.2f} to {values.max():.2f}, in the middle at {np.median(values):.2f}."
    )
