"""Draws rows with a start and a stop as bars over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import plotly.graph_objects as go

from segviz.figures.charts import framed
from segviz.view.palette import SMALLEST_TEXT

_TRACK, _TALLEST = 26, 560
"""Height of a bar, and most height of all bars, in pixels."""
_SHORTEST = 1 / 250
"""Least length of a bar as a share of the time axis, so that it is visible."""


def timed(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the rows from time to time, else those from number to number."""
    for kind in (datetime, int | float):
        between = [
            row for row in rows if all(isinstance(row.get(e), kind) for e in ("start", "stop"))
        ]
        if between:
            return between
    return []


def timeline_figure(rows: Sequence[Mapping[str, Any]], *, neutral: str, ink: str) -> go.Figure:
    """Draws each row as a bar from its ``start`` to its ``stop``.

    Args:
        rows: at least one row, as :func:`timed` returns them. The first column names the lane, the
            second labels the bar; the tooltip shows all columns. Overlapping bars of a lane lie
            below each other.
        neutral: colour of the bars.
        ink: colour of their labels.
    """
    # Rows by lane, in order of their start.
    lanes: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["start"]):
        lanes.setdefault(str(next(iter(row.values()))), []).append(row)
    first, last = min(row["start"] for row in rows), max(row["stop"] for row in rows)
    calendar, shortest = isinstance(first, datetime), (last - first) * _SHORTEST
    # A row takes the first track of its lane that is free at its start, else a new one.
    bars, lengths, ticks, track = [], [], {}, 0
    for lane, members in lanes.items():
        ends: list[Any] = []  # of the last bar on each track of this lane
        for row in members:
            free = next((i for i, end in enumerate(ends) if end <= row["start"]), len(ends))
            length = max(row["stop"] - row["start"], shortest)
            ends[free : free + 1] = [row["start"] + length]
            bars.append((track + free, row))
            lengths.append(length.total_seconds() * 1000 if calendar else length)
        ticks[track + (len(ends) - 1) / 2] = _escaped(lane)
        track += len(ends)
    figure = go.Figure(
        go.Bar(
            orientation="h",
            y=[place for place, _ in bars],
            base=[row["start"] for _, row in bars],
            x=lengths,
            width=0.8,
            marker={"color": neutral, "opacity": 0.55},
            # Cells contain text of the conversation, and Plotly interprets some markup.
            text=[_escaped(str([*row.values()][1])) for _, row in bars],
            textposition="inside",
            insidetextfont={"color": ink},
            insidetextanchor="start",
            textangle=0,
            customdata=[
                _escaped(", ".join(f"{name} {value}" for name, value in row.items()))
                for _, row in bars
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    framed(figure, 84 + min(_TALLEST, _TRACK * max(track, 2)))
    figure.update_layout(uniformtext={"minsize": SMALLEST_TEXT, "mode": "hide"})
    figure.update_xaxes(**({"type": "date"} if calendar else {"title": "unit"}))
    figure.update_yaxes(
        tickvals=list(ticks), ticktext=list(ticks.values()), range=[track - 0.4, -0.6]
    )
    return figure


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
