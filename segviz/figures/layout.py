"""Defines the frame all evaluation charts share."""

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
