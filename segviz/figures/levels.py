"""How scores or nodes lie on the levels, after each hop or of several sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from segviz.evaluate.compare import Chart
from segviz.figures.rows import rows_figure
from segviz.systems.levels import level_name


def level_row(name: str, shares: Mapping[int, float], names: Sequence[str] = ()) -> dict[str, Any]:
    """A row of :func:`level_figure`: what its shares are of, under "shares of", and the share of
    each level, from 0 upwards, under the name that the memory gives it."""
    told = {level_name(level, names): round(share, 4) for level, share in shares.items()}
    return {"shares of": name, **told}


def level_figure(
    rows: Sequence[dict[str, Any]], *, colours: Sequence[str], neutral: str
) -> go.Figure:
    """A stacked column for each row, of its shares by level; leaves have the first of
    ``colours``."""
    chart = Chart("shares of", tuple(rows[0])[1:], kind="stack")
    return rows_figure(rows, chart, colours=colours, neutral=neutral)


def level_sentence(row: Mapping[str, Any]) -> str:
    """The shares of a row in words."""
    return ", ".join(f"{name} {share:.0%}" for name, share in list(row.items())[1:])
