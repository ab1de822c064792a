"""Draws groups that are split and merged by an objective, step by step.

A group keeps its ``size`` among its facts, the ``most`` it may hold, and in ``changes`` how
it was split and merged when that last happened: a line each with the kind of change, the
objective before and after, and the other groups' nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from segviz.figures.layout import framed
from segviz.tree import Add, Retire, Revise, Step, Structure, as_number

POINTS = 250
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class GroupChange:
    """A split or merge: the step (from 1), the group, the kind of change, the objective among
    its neighbours before and after, and the groups created or absorbed."""

    step: int
    node: int
    kind: str
    before: float
    after: float
    others: tuple[int, ...]

    @property
    def gain(self) -> float:
        """Gain of the objective; negative where a limit forced the change."""
        return self.after - self.before


@dataclass(frozen=True, eq=False)
class Sizes:
    """After every step: number of groups, median and largest size, int64 and float64 (steps,);
    and the size limit of a group (0: none)."""

    count: NDArray[np.int64]
    middle: NDArray[np.float64]
    largest: NDArray[np.int64]
    most: int


def grouped(structure: Structure) -> bool:
    """Whether any node carries the facts ``size`` and ``most``."""
    return any("size" in facts and "most" in facts for facts in structure.facts)


def changes(steps: Sequence[Step]) -> tuple[GroupChange, ...]:
    """Every split and merge, in order of the steps."""
    found: list[GroupChange] = []
    known: dict[int, str] = {}
    for number, step in enumerate(steps, start=1):
        for event in step.events:
            if not isinstance(event, Add | Revise) or not event.facts:
                continue
            told = str(event.facts.get("changes") or "")
            if told and known.get(event.node) != told:
                known[event.node] = told
                found += [_parse_change(number, event.node, line) for line in told.split("\n")]
    return tuple(found)


def _parse_change(step: int, node: int, line: str) -> GroupChange:
    kind, before, after, *others = line.split()
    return GroupChange(step, node, kind, float(before), float(after), tuple(map(int, others)))


def sizes(steps: Sequence[Step]) -> Sizes:
    """The sizes of the groups after each step."""
    size: dict[int, int] = {}
    rows: list[tuple[int, float, int]] = []
    row, most = (0, 0.0, 0), 0
    for step in steps:
        touched = False
        for event in step.events:
            if isinstance(event, Retire):
                touched |= size.pop(event.node, None) is not None
            elif isinstance(event, Add | Revise) and event.facts and "size" in event.facts:
                size[event.node] = round(as_number(event.facts, "size"))
                most = max(most, round(as_number(event.facts, "most")))
                touched = True
        if touched:
            values = list(size.values())
            row = (len(values), float(np.median(values)), max(values)) if values else (0, 0.0, 0)
        rows.append(row)
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return Sizes(table[:, 0].astype(np.int64), table[:, 1], table[:, 2].astype(np.int64), most)


def groups_figure(
    found: Sequence[GroupChange], grown: Sizes, *, accent: str, neutral: str
) -> go.Figure:
    """Three rows over the steps: the objective before and after every split and merge (the
    latest 300), the sizes of the groups under their limit, and the number of groups."""
    figure = make_subplots(
        rows=3,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.09,
        row_heights=[0.44, 0.28, 0.28],
        subplot_titles=["Objective before → after", "Size of groups", "Number of groups"],
    )
    series = (("split", accent, "diamond", "dot"), ("merge", neutral, "circle", "solid"))
    shown = found[-_SHOWN:]
    for kind, colour, symbol, dash in series:
        row = [change for change in shown if change.kind == kind]
        if row:
            figure.add_trace(_change_lines(kind, row, colour, symbol, dash), row=1, col=1)
    total = len(grown.count)
    kept = np.unique(np.linspace(0, max(total - 1, 0), min(POINTS, total)).astype(int))
    steps = kept + 1
    plain = {"color": accent, "width": 1.6}
    for name, values, line, place in (
        ("largest size", grown.largest, plain, 2),
        ("median size", grown.middle, {"color": neutral, "width": 1.6, "dash": "dash"}, 2),
        ("groups", grown.count, plain, 3),
    ):
        figure.add_trace(
            go.Scatter(
                name=name, x=steps, y=values[kept], mode="lines", line=line, showlegend=place == 2
            ),
            row=place,
            col=1,
        )
    if grown.most:
        figure.add_hline(
            y=grown.most, row=2, col=1, line={"color": neutral, "width": 1, "dash": "dot"}
        )
    framed(figure, 470)
    figure.update_layout(legend={"y": 1.07}, margin={"t": 50})
    figure.update_xaxes(range=[0, total + 1])
    figure.update_xaxes(title="step", row=3, col=1)
    figure.update_yaxes(rangemode="tozero", row=2, col=1)
    figure.update_yaxes(rangemode="tozero", row=3, col=1)
    figure.update_annotations(font_size=13)
    return figure


def _change_lines(
    kind: str, row: Sequence[GroupChange], colour: str, symbol: str, dash: str
) -> go.Scatter:
    """A line from before to after for each change, a mark at its end."""
    x: list[float | None] = []
    y: list[float | None] = []
    about: list[str] = []
    for change in row:
        x += [change.step, change.step, None]
        y += [change.before, change.after, None]
        about += ["", _hover_text(change), ""]
    return go.Scatter(
        name=kind,
        x=x,
        y=y,
        mode="lines+markers",
        line={"color": colour, "width": 1.6, "dash": dash},
        marker={"color": colour, "symbol": symbol, "size": [0, 7, 0] * len(row)},
        customdata=about,
        hovertemplate="%{customdata}<extra></extra>",
    )


def _hover_text(change: GroupChange) -> str:
    others = ", ".join(map(str, change.others[:6]))
    verb = "into it and" if change.kind == "split" else "with"
    return (
        f"step {change.step}: {change.kind} of {change.node} {verb} {others}<br>"
        f"{change.before:.3f} → {change.after:.3f}"
    )


def groups_sentence(found: Sequence[GroupChange], grown: Sizes) -> str:
    """The number of splits and merges, and their gain."""
    count = int(grown.count[-1]) if len(grown.count) else 0
    parts = []
    for kind in dict.fromkeys(change.kind for change in found):
        gains = [change.gain for change in found if change.kind == kind]
        mean = float(np.mean(gains))
        parts.append(f"{len(gains)} × {kind}, {mean:+.3f} on average")
    told = "; ".join(parts) if parts else "no split or merge"
    largest = int(grown.largest[-1]) if count else 0
    limit = f" of at most {grown.most}" if grown.most else ""
    return f"{count:,} groups, the largest of {largest}{limit}. So far: {told}."
