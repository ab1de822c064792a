"""Draws the forgetting curves of a memory and its nodes on them.

For systems that fade (``segviz.construct.Fades``): a node's facts ``last`` and ``n`` say when
it was last met, in seconds, and how often again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from segviz.conversation import DAY
from segviz.figures.layout import framed
from segviz.systems.levels import level_name
from segviz.tree import Facts, Structure, as_number

Law = Callable[[Facts, Sequence[float]], list[float]]

MENTIONS = (0, 1, 3, 10)
_DASHES = ("solid", "dash", "dashdot", "dot")
_POINTS = 60


@dataclass(frozen=True, slots=True)
class Remembered:
    """Nodes with the same retention: days since they were last met, how often they were met
    again, the share retained in [0, 1], and how many there are on each level."""

    age: float
    n: int
    retained: float
    levels: tuple[tuple[int, int], ...]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return sum(count for _, count in self.levels)


def fades(structure: Structure) -> bool:
    """Whether any node carries the facts ``last`` and ``n``."""
    return any("last" in facts and "n" in facts for facts in structure.facts)


def last_met(structure: Structure) -> float:
    """The latest moment at which a node was met, in seconds."""
    active = np.flatnonzero(structure.active).tolist()
    return max((as_number(structure.facts[n], "last") for n in active), default=0.0)


def remembered(structure: Structure, now: float, law: Law) -> tuple[Remembered, ...]:
    """The nodes at the moment ``now`` (seconds), grouped by age and n."""
    groups: dict[tuple[float, int], Counter[int]] = defaultdict(Counter)
    for node in np.flatnonzero(structure.active).tolist():
        facts = structure.facts[node]
        if "last" in facts and "n" in facts:
            age = max(0.0, now - as_number(facts, "last"))
            groups[age, int(as_number(facts, "n"))][int(structure.level[node])] += 1
    return tuple(
        Remembered(age / DAY, n, law({"n": n}, [age])[0], tuple(sorted(levels.items())))
        for (age, n), levels in sorted(groups.items())
    )


def forgetting_figure(
    points: Sequence[Remembered],
    law: Law,
    *,
    names: Sequence[str],
    accent: str,
    neutral: str,
) -> go.Figure:
    """Retention over the days since a node was last met, a curve each for 0, 1, 3 and 10 times
    met again, and the memory's nodes on it: one mark for each group, larger for more nodes."""
    longest = max([30.0, *(1.08 * point.age for point in points)])
    days = np.linspace(0.0, longest, _POINTS).tolist()
    figure = go.Figure()
    for n, dash in zip(MENTIONS, _DASHES, strict=True):
        figure.add_trace(
            go.Scatter(
                name=f"n = {n}",
                x=days,
                y=law({"n": n}, [day * DAY for day in days]),
                mode="lines",
                line={"color": neutral, "width": 1.4, "dash": dash},
                hovertemplate=f"n = {n}: %{{y:.3f}} after %{{x:.0f}} days<extra></extra>",
            )
        )
    figure.add_trace(
        go.Scatter(
            name="nodes, now",
            x=[point.age for point in points],
            y=[point.retained for point in points],
            mode="markers",
            marker={
                "size": [4 + 1.5 * min(point.nodes, 150) ** 0.5 for point in points],
                "color": accent,
                "opacity": 0.55,
                "line": {"width": 1, "color": accent},
            },
            customdata=[(_hover_text(point, names), point.n) for point in points],
            hovertemplate="%{customdata[0]}<br>met again %{customdata[1]} times, last "
            "%{x:.0f} days ago: R %{y:.3f}<extra></extra>",
        )
    )
    framed(figure, 340)
    figure.update_xaxes(title="days since it was last met", range=[-0.015 * longest, longest])
    figure.update_yaxes(title="remembered (R)", range=[0, 1.05])
    return figure


def _hover_text(point: Remembered, names: Sequence[str]) -> str:
    return ", ".join(f"{level_name(level, names)}: {count}" for level, count in point.levels)


def forgetting_rows(points: Sequence[Remembered]) -> list[dict[str, int | float]]:
    """The marks as a table, a row for each."""
    return [
        {
            "days since it was last met": round(point.age, 1),
            "met again": point.n,
            "remembered": round(point.retained, 4),
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
