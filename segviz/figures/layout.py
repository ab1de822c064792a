"""The frame all evaluation charts share, and what is read on a colour."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go


def framed(figure: go.Figure, height: int, **more: Any) -> go.Figure:
    """Margins, legend above, axes that stay where they are."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        dragmode=False,
        **more,
    )
    figure.update_xaxes(fixedrange=True)
    figure.update_yaxes(fixedrange=True)
    return figure


def text_on(colour: str) -> str:
    """Black or white, whichever reads better on ``#rrggbb`` (relative luminance, WCAG)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"
