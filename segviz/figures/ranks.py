"""How ranks move when scores are propagated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go


def rank_figure(
    before: Mapping[int, int],
    after: Mapping[int, int],
    k: int,
    *,
    accent: str,
    neutral: str,
    gold: Sequence[int] = (),
) -> go.Figure:
    """A slope chart: rank by initial score on the left, by propagated score on the right.

    ``before`` and ``after`` map the same nodes to 1-based ranks; ranks beyond ``k`` are
    drawn on one line below the top and say their number. Nodes that entered the top are
    solid accent, those that left dashed neutral, the rest solid neutral; gold nodes have
    diamonds.
    """

    def height(rank: int) -> float:
        return float(min(rank, k + 1.6))

    figure = go.Figure()
    for node in before:
        was, now = before[node], after[node]
        entered, left = was > k >= now, now > k >= was
        colour = accent if entered else neutral
        figure.add_trace(
            go.Scatter(
                x=[0, 1],
                y=[height(was), height(now)],
                mode="lines+markers+text",
                line={
                    "color": colour,
                    "width": 2.2 if entered else 1.2,
                    "dash": "dot" if left else "solid",
                },
                marker={
                    "symbol": "diamond-open" if node in gold else "circle",
                    "size": 10 if node in gold else 6,
                    "color": colour,
                },
                text=[f"{node} · {was}", f"{now} · {node}"],
                textposition=["middle left", "middle right"],
                hoverinfo="skip",
                showlegend=False,
            )
        )
    figure.add_hline(y=k + 0.5, line={"color": neutral, "width": 1, "dash": "dash"})
    figure.update_layout(
        height=min(60 + 22 * (k + 2), 620),
        margin={"l": 8, "r": 8, "t": 26, "b": 4},
        dragmode=False,
        xaxis={
            "range": [-0.55, 1.55],
            "tickvals": [0, 1],
            "ticktext": ["initial: node · rank", "propagated: rank · node"],
            "side": "top",
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={
            "range": [k + 2.2, 0.4],
            "visible": False,
            "fixedrange": True,
        },
    )
    return figure


def rank_sentence(before: Mapping[int, int], after: Mapping[int, int], k: int) -> str:
    """One sentence: how many entered, left, rose and fell."""
    entered = sum(before[n] > k >= after[n] for n in before)
    rose = sum(after[n] < before[n] <= k for n in before)
    fell = sum(before[n] < after[n] <= k for n in before)
    if not entered and not rose and not fell:
        return f"Propagation leaves the top {k} in the same order."
    return (
        f"Of the top {k}, {entered} entered by propagation and as many left; "
        f"{rose} rose and {fell} fell inside it."
    )
