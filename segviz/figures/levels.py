"""Draws how scores or nodes lie on the levels, after each hop or of several sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from segviz.figures.layout import framed
from segviz.systems.levels import level_name

Row = Mapping[str, str | float]


def level_row(name: str, shares: Mapping[int, float], names: Sequence[str] = ()) -> Row:
    """A row of :func:`level_figure`: what its shares are of, under "of", and the share of each
    level, from 0 upwards, under the name that the memory gives it."""
    told = {level_name(level, names): round(share, 4) for level, share in shares.items()}
    return {"of": name, **told}


def level_figure(rows: Sequence[Row], *, colours: Sequence[str]) -> go.Figure:
    """A stacked bar for each row, of its shares by level; leaves have the first of ``colours``."""
    names = [name for name in rows[0] if name != "of"]
    figure = go.Figure(
        [
            go.Bar(
                orientation="h",
                name=name,
                y=[row["of"] for row in rows],
                x=[row[name] for row in rows],
                marker={"color": colours[min(level, len(colours) - 1)]},
                hovertemplate=f"%{{y}}<br>{name} %{{x:.1%}}<extra></extra>",
            )
            for level, name in enumerate(names)
        ]
    )
    framed(figure, 70 + 32 * len(rows), barmode="stack")
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def level_sentence(row: Row) -> str:
    """The shares of a row in words."""
    return ", ".join(f"{name} {share:.0%}" for name, share in list(row.items())[1:])
