"""Draws a measure by question category."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from segviz.conversation import category_label
from segviz.evaluate.measures import MEASURES
from segviz.figures.judged import opening
from segviz.figures.layout import framed

if TYPE_CHECKING:
    from segviz.evaluate import Mean, Outcomes


def _categories(found: Outcomes, measure: str, adversarial: bool) -> list[tuple[str, Mean]]:
    """Label and mean of every category with a value, then of all that count."""
    rows = [
        (category_label(category), mean)
        for category in found.known_categories
        if (mean := found.mean(measure, category=category)).n
    ]
    whole = found.mean(measure, adversarial=adversarial)
    label = "all" if adversarial else "all but 5"
    return [*rows, (label, whole)] if whole.n else []


def category_bars(
    found: Outcomes,
    measure: str,
    *,
    accent: str,
    neutral: str,
    ink: str | None = None,
    adversarial: bool = True,
) -> go.Figure:
    """A measure per category and over all questions as bars to the right, with 95 % intervals.

    The last bar (all, or all but category 5 unless ``adversarial``) is in ``accent`` and
    hatched, categories in ``neutral``.
    """
    rows = _categories(found, measure, adversarial)
    figure = go.Figure(
        go.Bar(
            orientation="h",
            y=[name for name, _ in rows],
            x=[mean.value for _, mean in rows],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [max(0.0, mean.high - mean.value) for _, mean in rows],
                "arrayminus": [max(0.0, mean.value - mean.low) for _, mean in rows],
                "color": ink,
                "thickness": 1.4,
                "width": 4,
            },
            marker={
                "color": [neutral] * (len(rows) - 1) + [accent],
                "pattern": {"shape": [""] * (len(rows) - 1) + ["/"], "solidity": 0.3},
            },
            customdata=[(mean.low, mean.high, mean.n) for _, mean in rows],
            hovertemplate="%{y}<br>%{x:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]"
            "<br>%{customdata[2]} questions<extra></extra>",
        )
    )
    framed(figure, 62 + 40 * max(len(rows), 2), showlegend=False)
    figure.update_layout(margin={"t": 4, "b": 4})  # no legend above
    low = min([0.0, *(mean.low for _, mean in rows)])
    figure.update_xaxes(
        title={"text": MEASURES[measure].label, "standoff": 10},
        range=[low, 1.02],
        tickformat=".1f",
    )
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False, automargin=True)
    return figure


def category_sentence(found: Outcomes, measure: str, *, adversarial: bool = True) -> str:
    """The categories with the highest and the lowest mean, and the mean over all."""
    rows = _categories(found, measure, adversarial)
    if not rows:
        return "No question that counts was measured."
    ordered = sorted(rows[:-1], key=lambda row: -row[1].value)
    without = "" if adversarial else " but those of category 5"
    overall = f"{opening(measure)} over all questions{without}: {rows[-1][1]}."
    if len(ordered) < 2:
        return overall
    (most, best), (least, worst) = ordered[0], ordered[-1]
    return (
        f"Highest for {most} ({best.value:.3f}, n = {best.n}), lowest for {least} "
        f"({worst.value:.3f}, n = {worst.n}). {overall}"
    )
