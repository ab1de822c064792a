"""Draws how ranks change by propagation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import plotly.graph_objects as go


def rank_figure(
    before: Mapping[int, int],
    after: Mapping[int, int],
    k: int,
    *,
    accent: str,
    neutral: str,
    gold: Sequence[int] = (),
    sides: tuple[str, str] = ("initial", "propagated"),
) -> go.Figure:
    """A slope chart: rank by initial score on the left, by propagated score on the right.

    ``before`` and ``after`` map the same nodes to 1-based ranks; those beyond ``k`` stand
    below the top in their order, not to scale, and say their number. Nodes that entered the
    top are solid accent, those that left dashed neutral, the rest solid neutral; gold nodes
    have diamonds. ``sides`` are what the two scores are called.
    """
    left_side, right_side = _heights(before, k), _heights(after, k)
    lowest = max([*left_side.values(), *right_side.values(), k + 1.0])
    figure = go.Figure()
    for node in before:
        was, now = before[node], after[node]
        entered, left = was > k >= now, now > k >= was
        colour = accent if entered else neutral
        figure.add_trace(
            go.Scatter(
                x=[0, 1],
                y=[left_side[node], right_side[node]],
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
                text=[f"{node} · {was}\u2002", f"\u2002{now} · {node}"],
                textposition=["middle left", "middle right"],
                hoverinfo="skip",
                showlegend=False,
            )
        )
    figure.add_hline(y=k + 0.5, line={"color": neutral, "width": 1, "dash": "dash"})
    figure.update_layout(
        height=min(60 + 22 * (int(lowest) + 1), 700),
        margin={"l": 8, "r": 8, "t": 26, "b": 4},
        dragmode=False,
        xaxis={
            "range": [-0.55, 1.55],
            "tickvals": [0, 1],
            "ticktext": [f"{sides[0]}: node · rank", f"{sides[1]}: rank · node"],
            "side": "top",
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={
            "range": [lowest + 0.6, 0.4],
            "visible": False,
            "fixedrange": True,
        },
    )
    return figure


def _heights(ranks: Mapping[int, int], k: int) -> dict[int, float]:
    """Where each node stands: its rank inside the top, one row each below it."""
    below = sorted((node for node in ranks if ranks[node] > k), key=lambda node: ranks[node])
    heights = {node: float(rank) for node, rank in ranks.items() if rank <= k}
    return heights | {node: k + 1.2 + row for row, node in enumerate(below)}


def rank_rows(
    before: Mapping[int, int], after: Mapping[int, int], k: int, gold: Collection[int] = ()
) -> list[dict[str, int | str]]:
    """The chart as a table, a row for each node, best after propagation first."""
    return [
        {
            "node": node,
            "rank before": before[node],
            "rank after": after[node],
            "in the top": "entered"
            if before[node] > k >= after[node]
            else "left"
            if after[node] > k >= before[node]
            else "stayed",
            "gold": "gold" if node in gold else "",
        }
        for node in sorted(after, key=lambda node: after[node])
    ]


def rank_sentence(
    before: Mapping[int, int], after: Mapping[int, int], k: int, mover: str = "propagation"
) -> str:
    """One sentence: how many entered, left, rose and fell, and by what."""
    entered = sum(before[n] > k >= after[n] for n in before)
    rose = sum(after[n] < before[n] <= k for n in before)
    fell = sum(before[n] < after[n] <= k for n in before)
    if not entered and not rose and not fell:
        return f"{mover.capitalize()} leaves the top {k} in the same order."
    return (
        f"Of the top {k}, {entered} entered by {mover} and as many left; "
        f"{rose} rose and {fell} fell inside it."
    )
