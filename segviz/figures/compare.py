"""Draws the turns several systems retrieved for one question."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

if TYPE_CHECKING:
    from segviz.evaluate.compare import Overlap

_ROW = 30


def overlap_strip(
    found: Overlap, gold: Collection[str], *, accent: str, neutral: str, empty: str
) -> go.Figure:
    """One row per system, one column per turn any of them returned, in time order.

    A returned turn is filled, in ``accent`` where it is gold evidence; a last row marks the
    gold turns. Filled and empty differ in lightness, gold by a diamond as well.
    """
    names = [*found.names, "gold"]
    truth = np.array([turn in gold for turn in found.turns], dtype=bool)
    filled = np.vstack([found.returned, truth[None]]).astype(float)
    filled[:, truth] *= 2
    figure = go.Figure(
        go.Heatmap(
            z=filled,
            x=list(found.turns),
            y=names,
            zmin=0,
            zmax=2,
            colorscale=[[0, empty], [0.5, neutral], [1, accent]],
            showscale=False,
            xgap=1,
            ygap=3,
            hovertemplate="%{y}: %{x}<extra></extra>",
        )
    )
    hits = [
        (t, names[r])
        for r, c in zip(*np.nonzero(filled == 2), strict=True)
        for t in [found.turns[c]]
    ]
    if hits:
        figure.add_trace(
            go.Scatter(
                x=[turn for turn, _ in hits],
                y=[name for _, name in hits],
                mode="markers",
                marker={"symbol": "diamond", "size": 7, "color": empty},
                hoverinfo="skip",
            )
        )
    few = len(found.turns) <= 40
    figure.update_layout(
        height=_ROW * len(names) + (70 if few else 24),
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
        showlegend=False,
        dragmode=False,
        xaxis={"type": "category", "fixedrange": True, "showticklabels": few, "showgrid": False},
        yaxis={
            "type": "category",
            "fixedrange": True,
            "autorange": "reversed",
            "showgrid": False,
            "automargin": True,
        },
    )
    return figure


def overlap_rows(found: Overlap, gold: Collection[str]) -> list[dict[str, str]]:
    """The strip as a table, a row for each turn."""
    return [
        {
            "turn": turn,
            **{
                name: "returned" if found.returned[row, column] else ""
                for row, name in enumerate(found.names)
            },
            "gold": "gold" if turn in gold else "",
        }
        for column, turn in enumerate(found.turns)
    ]


def overlap_sentence(found: Overlap) -> str:
    """The number of turns all systems share, and the pair with the least overlap."""
    if len(found.names) < 2 or not found.turns:
        return f"{len(found.turns)} turns were returned."
    everywhere = int(found.returned.all(axis=0).sum())
    pairs = [
        (float(found.jaccard[i, j]), found.names[i], found.names[j])
        for i in range(len(found.names))
        for j in range(i)
    ]
    least, first, second = min(pairs)
    return (
        f"{len(found.turns)} turns were returned by at least one system, {everywhere} by all. "
        f"Least alike are {second} and {first}, with {least:.0%} of their turns in common."
    )
