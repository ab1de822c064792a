"""The retrieved-level distribution before and after propagation (paper Figs 7 and 14)."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go


def level_figure(
    before: Mapping[int, int], after: Mapping[int, int], *, accent: str, neutral: str
) -> go.Figure:
    """Grouped bars: how many of the top K lie on each level.

    ``before`` and ``after`` map level (0 = leaf) to a count and hold the same levels.
    The two series differ in colour and in pattern.
    """
    names = [level_name(level) for level in before]
    figure = go.Figure(
        [
            go.Bar(
                name="initial",
                x=names,
                y=list(before.values()),
                marker={"color": neutral, "pattern": {"shape": "/", "size": 5, "solidity": 0.35}},
                text=list(before.values()),
            ),
            go.Bar(
                name="propagated",
                x=names,
                y=list(after.values()),
                marker={"color": accent},
                text=list(after.values()),
            ),
        ]
    )
    highest = max([*before.values(), *after.values(), 1])
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
            "range": [-0.5, max(len(names), 3) - 0.5],
        },
        dragmode=False,
    )
    return figure


def level_name(level: int) -> str:
    """How views call a level: ``leaf`` for 0, else ``level n``."""
    return "leaf" if level == 0 else f"level {level}"


def level_sentence(before: Mapping[int, int], after: Mapping[int, int]) -> str:
    """One sentence saying how retrieval moved between levels."""
    changes = [
        f"{level_name(level)}: {before[level]} → {after[level]}"
        for level in before
        if before[level] != after[level]
    ]
    if not changes:
        return "The numbers per level stay as they were."
    return "Propagation moves retrieval: " + ", ".join(changes) + "."
