"""Draws lanes of bars, each with a label: windows of time by level, trees by family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import plotly.graph_objects as go

from segviz.figures.rows import framed

_LANE = 58


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its lane, where it begins (a number or a moment), its length (milliseconds on an
    axis of moments), its label, what the pointer is told, and whether it is marked."""

    lane: str
    start: float | datetime
    length: float
    label: str
    about: str
    marked: bool = False


def lanes_figure(
    bars: Sequence[Bar], *, accent: str, neutral: str, ink: str, marked: str = "", **axis: str
) -> go.Figure:
    """A lane per name, the first below. Marked bars are hatched in ``accent`` and called
    ``marked``; labels are in ``ink``. Further settings are those of the axis."""
    figure = go.Figure()
    for name, is_marked, colour in (("as it was", False, neutral), (marked, True, accent)):
        row = [bar for bar in bars if bar.marked == is_marked]
        figure.add_bar(
            name=name,
            showlegend=bool(marked),
            orientation="h",
            y=[bar.lane for bar in row],
            base=[bar.start for bar in row],
            x=[bar.length for bar in row],
            marker={
                "color": "rgba(0,0,0,0)",
                "line": {"width": 1.5 if is_marked else 1, "color": colour},
                "pattern": {
                    "shape": "/" if is_marked else "",
                    "size": 8,
                    "solidity": 0.22,
                    "fgopacity": 0.35,
                    "fgcolor": colour,
                },
            },
            # Labels hold words of the conversation; Plotly reads some markup in text.
            text=[_escaped(bar.label) for bar in row],
            textposition="inside",
            insidetextfont={"color": ink},
            insidetextanchor="middle",
            textangle=0,
            customdata=[_escaped(bar.about) for bar in row],
            hovertemplate="%{customdata}<extra></extra>",
        )
    lanes = list(dict.fromkeys(bar.lane for bar in bars))
    framed(figure, 84 + _LANE * len(lanes), barmode="overlay")
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"})
    figure.update_xaxes(**axis)
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=lanes)
    return figure


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
