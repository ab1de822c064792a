"""Draws the retrieved-level distribution before and after propagation (paper Figs 7 and 14), and
where the scores lie after each hop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from segviz.figures.layout import framed
from segviz.systems.levels import level_name


def level_figure(
    before: Mapping[int, int],
    after: Mapping[int, int],
    *,
    accent: str,
    neutral: str,
    names: Sequence[str] = (),
    series: tuple[str, str] = ("initial", "propagated"),
    shares: bool = False,
) -> go.Figure:
    """Grouped bars: how many nodes of two sets (by default the top K) lie on each level.

    ``before`` and ``after`` map level (0 = leaf) to a count and hold the same levels;
    ``names`` are what the memory calls them, ``series`` what the sets are. With ``shares``
    a bar is as high as its part of its own set, for sets of different sizes; the numbers
    stay counts. The two series differ in colour and in pattern.
    """
    labels = [level_name(level, names) for level in before]
    heights = [_heights(counts, shares) for counts in (before, after)]
    figure = go.Figure(
        [
            go.Bar(
                name=series[0],
                x=labels,
                y=heights[0],
                marker={"color": neutral, "pattern": {"shape": "/", "size": 5, "solidity": 0.35}},
                text=list(before.values()),
            ),
            go.Bar(
                name=series[1],
                x=labels,
                y=heights[1],
                marker={"color": accent},
                text=list(after.values()),
            ),
        ]
    )
    highest = max([*heights[0], *heights[1]], default=0) or 1
    figure.update_traces(textposition="outside", cliponaxis=False, hoverinfo="skip")
    figure.update_layout(
        barmode="group",
        bargap=0.3,
        height=220,
        margin={"l": 4, "r": 4, "t": 28, "b": 4},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        yaxis={"visible": False, "range": [0, highest * 1.18]},
        # A tree of one level would else get bars as wide as the panel.
        xaxis={
            "type": "category",
            "fixedrange": True,
            "range": [-0.5, max(len(labels), 3) - 0.5],
        },
        dragmode=False,
    )
    return figure


def level_rows(
    before: Mapping[int, int],
    after: Mapping[int, int],
    names: Sequence[str] = (),
    series: tuple[str, str] = ("initial", "propagated"),
) -> list[dict[str, str | int]]:
    """The bars as a table, a row for each level."""
    return [
        {"level": level_name(n, names), series[0]: before[n], series[1]: after.get(n, 0)}
        for n in before
    ]


def hop_figure(rows: Sequence[Mapping[str, str | float]], *, colours: Sequence[str]) -> go.Figure:
    """A stacked bar per row, of its shares by level: ``rows`` hold the name of a hop under "hop"
    and a sum of scores under the name of each level. Leaves have the first of the ``colours``."""
    names = [name for name in rows[0] if name != "hop"]
    figure = go.Figure(
        [
            go.Bar(
                orientation="h",
                name=name,
                y=[row["hop"] for row in rows],
                x=[row[name] for row in rows],
                marker={"color": colours[min(level, len(colours) - 1)]},
                hovertemplate=f"%{{y}}<br>{name} %{{x:.1%}}<extra></extra>",
            )
            for level, name in enumerate(names)
        ]
    )
    framed(figure, 70 + 32 * len(rows), barmode="stack")
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def _heights(counts: Mapping[int, int], shares: bool) -> list[float]:
    whole = (sum(counts.values()) or 1) if shares else 1
    return [count / whole for count in counts.values()]
