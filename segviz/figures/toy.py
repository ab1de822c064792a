"""Draws a small tree with every number on it, and its transition matrix."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from segviz.tree import Structure

_ROW, _LINE = 112, 16  # pixels of a level; characters of a line in a leaf's box


def numbered_tree(
    structure: Structure,
    initial: NDArray[np.float64],
    final: NDArray[np.float64],
    *,
    ramp: Sequence[str],
    line: str,
    ink: str,
    marked: Sequence[int] = (),
) -> go.Figure:
    """Every node as a box on its span: its text, number, initial and propagated score.

    The fill follows the propagated score along ``ramp``; ``marked`` nodes have a thick
    border.
    """
    top = float(final.max(initial=0)) or 1.0
    figure = go.Figure()
    for node in range(len(structure)):
        level, start, stop = (
            int(c[node]) for c in (structure.level, structure.start, structure.stop)
        )
        shade = ramp[min(int(final[node] / top * len(ramp)), len(ramp) - 1)]
        figure.add_shape(
            type="rect",
            x0=start + 0.03,
            x1=stop - 0.03,
            y0=level + 0.06,
            y1=level + 0.94,
            line={"color": ink if node in marked else line, "width": 2.5 if node in marked else 1},
            fillcolor=shade,
        )
        figure.add_annotation(
            x=(start + stop) / 2,
            y=level + 0.5,
            text="<br>".join(
                [
                    *map(escape, wrap(structure.text[node], _LINE * (stop - start))),
                    f"<b>{node}</b><br>{initial[node]:.3f}<br>{final[node]:.3f}",
                ]
            ),
            showarrow=False,
            font={"size": 12, "color": _legible(shade)},
        )
    levels = int(structure.level.max(initial=0)) + 1
    figure.update_layout(
        height=_ROW * levels + 12,
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
        showlegend=False,
        dragmode=False,
        xaxis={"visible": False, "fixedrange": True, "range": [0, int(structure.stop.max())]},
        yaxis={"visible": False, "fixedrange": True, "range": [0, levels]},
    )
    return figure


def transition_figure(matrix: NDArray[np.float64], *, ramp: Sequence[str], ink: str) -> go.Figure:
    """W_P as a heatmap: column = giver, row = receiver, every share written out."""
    n = len(matrix)
    shares = [(y, x, float(matrix[y, x])) for y, x in zip(*np.nonzero(matrix), strict=True)]
    figure = go.Figure(
        go.Heatmap(
            z=matrix,
            x=list(range(n)),
            y=list(range(n)),
            colorscale=[[i / (len(ramp) - 1), colour] for i, colour in enumerate(ramp)],
            zmin=0,
            zmax=1,
            showscale=False,
            xgap=1,
            ygap=1,
            hoverinfo="skip",
        )
    )
    # Written by marks of their own: Plotly fades what it writes into the cells of a heatmap.
    figure.add_scatter(
        x=[x for _, x, _ in shares],
        y=[y for y, _, _ in shares],
        mode="text",
        text=[_fraction(share) for *_, share in shares],
        textfont={
            "size": 13,
            "color": [_legible(ramp[round(share * (len(ramp) - 1))]) for *_, share in shares],
        },
        hovertemplate="node %{x} gives node %{y} %{text} of its score<extra></extra>",
        showlegend=False,
    )
    axis = {
        "tickvals": list(range(n)),
        "tickfont": {"size": 12},
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }
    figure.update_layout(
        height=30 * n + 56,
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
        dragmode=False,
        font={"color": ink},
        xaxis={**axis, "title": {"text": "from node", "standoff": 8}, "range": [-0.5, n - 0.5]},
        yaxis={**axis, "title": "to node", "range": [n - 0.5, -0.5]},
    )
    return figure


def _fraction(share: float) -> str:
    """1/3 reads better than 0.333; shares are one over a number of targets."""
    return "1" if share == 1 else f"1/{round(1 / share)}"


def _legible(colour: str) -> str:
    """Black or white, whichever stands out more from an ``#rrggbb`` ground (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"
