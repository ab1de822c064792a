"""Draws every question of a conversation as a dot, by what propagation does to its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap

import plotly.graph_objects as go

from segviz.figures.charts import framed
from segviz.figures.compare import AtlasRow, marks

_ACROSS, _LINE = 60, 15  # dots on a line, and its height in pixels

GROUPS = ("won", "lost", "found as before", "missed as before")


def group_of(row: AtlasRow) -> str:
    """Returns the group of a question, one of ``GROUPS``.

    If propagation does not change it, the group is "found as before" if all gold turns are found,
    else "missed as before".
    """
    found, _, whole = row.fates[-1]
    if row.change:
        return "won" if row.change > 0 else "lost"
    return "found as before" if found == whole else "missed as before"


def question_dots(
    rows: Sequence[AtlasRow], texts: Sequence[str], *, gold: str, accent: str, neutral: str
) -> go.Figure:
    """Draws a dot for each question, in the four groups of ``GROUPS``.

    Args:
        rows: the questions, with their gold evidence before and after propagation.
        texts: texts of all questions; the ``place`` of a row is an index.
        gold: the colour of won questions.
        accent: the colour of lost questions.
        neutral: the colour of all others.

    Returns:
        The figure; the ``customdata`` of a dot is the index of its question.
    """
    looks = (("triangle-up", gold), ("triangle-down", accent), ("circle", neutral))
    figure, line, ticks = go.Figure(), 0, {}
    for name, (symbol, colour) in zip(GROUPS, (*looks, ("circle-open", neutral)), strict=True):
        members = [row for row in rows if group_of(row) == name]
        ticks[line] = f"{len(members)} {name}"
        figure.add_scatter(
            x=[i % _ACROSS for i in range(len(members))],
            y=[line + i // _ACROSS for i in range(len(members))],
            mode="markers",
            marker={"symbol": symbol, "color": colour, "size": 9},
            customdata=[row.place for row in members],
            text=[
                "<br>".join(map(escape, wrap(texts[row.place], 60)))
                + f"<br>{' → '.join(map(marks, row.fates))}"
                for row in members
            ],
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
        line += max(1, -(-len(members) // _ACROSS))
    framed(figure, _LINE * line + 24, hovermode="closest")
    figure.update_layout(margin={"t": 8})
    figure.update_xaxes(visible=False, range=[-1, _ACROSS])
    figure.update_yaxes(
        tickvals=list(ticks),
        ticktext=list(ticks.values()),
        range=[line - 0.4, -0.6],
        showgrid=False,
        zeroline=False,
        automargin=True,
    )
    return figure
