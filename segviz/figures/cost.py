"""Construction cost as memory grows (SegTreeMem Fig. 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from segviz.steps import Step

# More points than this are averaged in equal blocks: charts stay fast and readable.
POINTS = 250


def _blocks(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Step numbers and means of at most POINTS equal blocks of a per-step series."""
    size = -(-len(values) // POINTS) or 1
    starts = np.arange(0, len(values), size)
    counts = np.diff(np.append(starts, len(values)))
    return starts + counts / 2 + 0.5, np.add.reduceat(values, starts) / counts


def series(steps: Sequence[Step]) -> dict[str, NDArray[np.float64]]:
    """Per-step costs: milliseconds, tokens, calls, inspected, modified, annotated;
    each float64 (len(steps),)."""
    costs = [step.cost for step in steps]
    return {
        "ms": np.array([1000 * c.seconds for c in costs], dtype=np.float64),
        "tokens": np.array([c.tokens for c in costs], dtype=np.float64),
        "calls": np.array([c.calls for c in costs], dtype=np.float64),
        "inspected": np.array([c.inspected for c in costs], dtype=np.float64),
        "modified": np.array([c.modified for c in costs], dtype=np.float64),
        "annotated": np.array([c.annotated for c in costs], dtype=np.float64),
    }


def cost_figure(steps: Sequence[Step], *, accent: str, neutral: str) -> go.Figure:
    """Three small charts over the steps: time, nodes looked at and changed, and, where a
    model was called, tokens. ``steps`` must not be empty."""
    values = series(steps)
    with_model = bool(values["calls"].any())
    titles = ["Time per step, ms", "Nodes inspected and modified"]
    if with_model:
        titles.append("Tokens per step")
    figure = make_subplots(rows=1, cols=len(titles), subplot_titles=titles)

    def line(name: str, column: int, colour: str, dash: str = "solid") -> None:
        x, y = _blocks(values[name])
        figure.add_trace(
            go.Scatter(
                name=name,
                x=x,
                y=y,
                mode="lines",
                line={"color": colour, "width": 1.6, "dash": dash},
                showlegend=column == 2,
            ),
            row=1,
            col=column,
        )

    line("ms", 1, accent)
    line("inspected", 2, neutral, "dot")
    line("modified", 2, accent)
    if with_model:
        line("tokens", 3, accent)
    figure.update_layout(
        height=230,
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        legend={"orientation": "h", "y": -0.18, "x": 0.5, "xanchor": "center"},
        dragmode=False,
        hovermode="x",
    )
    figure.update_xaxes(fixedrange=True, rangemode="tozero", title=None)
    figure.update_yaxes(fixedrange=True, rangemode="tozero")
    figure.update_annotations(font_size=13)
    return figure


def cost_sentence(steps: Sequence[Step]) -> str:
    """Does the cost grow with the conversation? First and last quarter compared."""
    values = series(steps)["ms"]
    quarter = max(1, len(values) // 4)
    early, late = float(np.median(values[:quarter])), float(np.median(values[-quarter:]))
    return (
        f"The median step took {early:.1f} ms in the first quarter of the conversation and "
        f"{late:.1f} ms in the last."
    )
