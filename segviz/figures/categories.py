"""Draws retrieval quality by question category."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from segviz.conversation import CATEGORY_NAMES
from segviz.figures.layout import framed

if TYPE_CHECKING:
    from segviz.evaluate import Evaluation, Mean


def _categories(evaluation: Evaluation) -> list[tuple[str, Mean]]:
    """Label and recall of every category with a counted question, then of all."""
    rows = [
        ("no category" if label is None else f"{label} {CATEGORY_NAMES.get(label, 'other')}", mean)
        for label, aggregate in evaluation.by_category.items()
        if (mean := aggregate.recall).n
    ]
    return [*rows, ("all", evaluation.overall.recall)] if rows else []


def category_bars(
    evaluation: Evaluation, *, accent: str, neutral: str, ink: str | None = None
) -> go.Figure:
    """Recall per category and over all questions as bars to the right, with 95 % intervals.

    The last bar (all) is in ``accent`` and hatched, categories in ``neutral``.
    """
    rows = _categories(evaluation)
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
            hovertemplate="%{y}<br>recall %{x:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]"
            "<br>%{customdata[2]} questions<extra></extra>",
        )
    )
    framed(figure, 62 + 40 * max(len(rows), 2), showlegend=False)
    figure.update_layout(margin={"t": 4, "b": 4})  # no legend above
    figure.update_xaxes(
        title={"text": f"recall@{evaluation.settings.k}", "standoff": 10},
        range=[0, 1.02],
        tickformat=".1f",
    )
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False, automargin=True)
    return figure


def category_sentence(evaluation: Evaluation) -> str:
    """The easiest and the hardest category, and the mean over all."""
    rows = _categories(evaluation)
    if not rows:
        return "No question with evidence was measured."
    ordered = sorted(rows[:-1], key=lambda row: -row[1].value)
    overall = f"recall@{evaluation.settings.k} over all counted questions is {rows[-1][1]}"
    if len(ordered) < 2:
        return overall[0].upper() + overall[1:] + "."
    (most, best), (least, worst) = ordered[0], ordered[-1]
    return (
        f"Most is found for {most} ({best.value:.3f}, n = {best.n}), least for {least} "
        f"({worst.value:.3f}, n = {worst.n}); {overall}."
    )
