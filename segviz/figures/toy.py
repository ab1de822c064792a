"""Draws a small tree with every score on it, and the shares that propagation passes on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from segviz.tree import Structure
from segviz.view.palette import SMALLEST_TEXT, text_on

_ROW, _LINE = 112, 16  # pixels of a level; characters of a line in a leaf's box


def numbered_tree(
    structure: Structure,
    initial: NDArray[np.float64],
    final: NDArray[np.float64],
    *,
    ramp: Sequence[str],
    borders: tuple[str, str],
    marked: Sequence[int] = (),
) -> go.Figure:
    """Draws every node as a box on its span, with its text, both scores and its number.

    The fill follows the propagated score along ``ramp``; ``marked`` nodes have a thick border.

    Args:
        structure: a small tree, n nodes.
        initial: score of every node before propagation, float64 (n,).
        final: score of every node after propagation, float64 (n,).
        ramp: colours from low to high.
        borders: colours of thin and of thick borders.
        marked: nodes with a thick border.
    """
    top = float(final.max(initial=0)) or 1.0
    thin, thick = (
        {"color": colour, "width": width} for colour, width in zip(borders, (1, 2.5), strict=True)
    )
    figure = go.Figure()
    # A box on each node's span and level, coloured by its score, with its text and numbers.
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
            line=thick if node in marked else thin,
            fillcolor=shade,
        )
        figure.add_annotation(
            x=(start + stop) / 2,
            y=level + 0.5,
            text="<br>".join(
                [
                    *map(escape, wrap(structure.text[node], _LINE * (stop - start))),
                    f"{initial[node]:.3f} → <b>{final[node]:.3f}</b>",
                    f"node {node}",
                ]
            ),
            showarrow=False,
            font={"size": SMALLEST_TEXT, "color": text_on(shade)},
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


def share_rows(matrix: NDArray[np.float64]) -> list[dict[str, str]]:
    """Returns the matrix W_P as a table: which share (1/3) of its score a node gives to which."""
    rows = []
    for giver, column in enumerate(matrix.T):
        for share in np.unique(column[column > 0]).tolist():
            takers = np.flatnonzero(column == share).tolist()
            part = "all" if share == 1 else f"1/{round(1 / share)}"
            rows.append(
                {"node": str(giver), "gives": part, "to each of": ", ".join(map(str, takers))}
            )
    return rows
