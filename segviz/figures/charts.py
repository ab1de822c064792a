"""Draws rows of a table as small charts: lines, dots with their intervals, stacked columns.

A column ``"x, paper"`` has the values that a paper prints for the column ``x``; they are drawn as
hollow marks. A caller of :func:`rows_figure` may choose another word than ``paper``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from segviz.evaluation import Chart, Mean, Row, number_of

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star", "x")
_MANY = 30
"""Most points of a line that are drawn as marks, too."""
_FEW = 8
"""Most columns of a stack that all have their names, on several lines."""
PRINTED = ("paper", "printed in the paper")
"""Suffix of a column that is drawn as hollow marks, and their name in the legend."""
_DOT, _PLOT = 34, 230
"""Heights of a row of dots, and of a plot of another kind, in pixels."""


def framed(figure: go.Figure, height: int, **more: Any) -> go.Figure:
    """Sets margins, legend and fixed axes as all charts have them; returns the figure."""
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


def rows_figure(
    rows: Sequence[Row],
    chart: Chart,
    *,
    colours: Sequence[str],
    neutral: str,
    hollow: tuple[str, str] = PRINTED,
) -> go.Figure:
    """Draws the rows of a table as the figure that ``chart`` describes.

    Args:
        rows: the rows.
        chart: columns, kind and grouping of the chart.
        colours: colours of the series or, in a stack, of the columns. Series differ in dash and
            mark as well.
        neutral: colour of the hollow marks, and of the lines above a stack.
        hollow: suffix of the columns that are drawn hollow, and their name in the legend.
    """
    # The rows to draw, by panel, and the columns that have values.
    column, *values = chart.only
    rows = [row for row in rows if not column or row[column] in values]
    columns = _columns(rows, chart, f", {hollow[0]}")
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row.get(chart.panel, "")), []).append(row)
    if chart.kind == "stack":
        return _stacks(rows, chart, columns, groups, colours, neutral)
    # Two or three panels side by side; a panel of dots is as high as its rows.
    panels = [(title, name, group) for title, group in groups.items() for name in columns]
    across = chart.kind == "dots"
    places = list(dict.fromkeys(str(row[chart.x]) for row in rows))
    series = list(dict.fromkeys(str(row.get(chart.by, "")) for row in rows))
    wide = min(len(panels), 2 if across or len(panels) == 4 else 3) or 1
    high = -(-len(panels) // wide) or 1
    each = 60 + _DOT * (1.4 if len(series) > 2 else 1) * max(len(places), 2) if across else _PLOT
    titles = [", ".join(filter(None, panel[:2])) for panel in panels]
    if wide > 1:  # on a phone, titles of panels side by side need two lines
        titles = ["<br>".join(wrap(title, max(14, len(title) // 2 + 4))) for title in titles]
    second = 16 if any("<br>" in title for title in titles) else 0
    each += second
    height = round(64 + each * high)
    figure = make_subplots(
        high,
        wide,
        subplot_titles=titles,
        shared_yaxes=across,
        horizontal_spacing=0.04 if across else 0.09,
        vertical_spacing=(76 + second) / height if high > 1 else None,
    )
    for place, (_, name, group) in enumerate(panels):
        # Each series as marks, with the printed numbers as rings; dots of a row lie side by side.
        at = {"row": place // wide + 1, "col": place % wide + 1}
        for i, one in enumerate(series):
            mine = [row for row in group if str(row.get(chart.by, "")) == one]
            shift = (i - (len(series) - 1) / 2) * 0.24
            where = [places.index(str(r[chart.x])) + shift if across else r[chart.x] for r in mine]
            mark = {"color": colours[i % len(colours)], "symbol": _SYMBOLS[i % len(_SYMBOLS)]}
            dash = {"dash": _DASHES[i % len(_DASHES)], "width": 1.8}
            filled = _Series(name, one, {"size": 8, **mark}, dash)
            _draw_series(figure, at, chart, mine, where, filled)
            ring = {"color": neutral, "symbol": "circle-open", "size": 11}
            other = _Series(f"{name}, {hollow[0]}", hollow[1], ring, None)
            _draw_series(figure, at, chart, mine, where, other)
        if chart.level:
            base = {"color": neutral, "dash": "dot", "width": 1.4}
            entry = {"name": chart.level, "showlegend": place == 0}
            figure.add_hline(number_of(group[0][chart.level]), line=base, **entry, **at)
        drawn = [number_of(row.get(name)) for row in group]
        middle = (max(drawn) + min(drawn)) / 2
        if max(drawn) - min(drawn) <= abs(middle) / 50 and not across:
            band = abs(middle) / 9 or 1.0  # a nearly constant series looks nearly constant
            figure.update_yaxes(range=[middle - band, middle + band], **at)
    # The axes: one scale for panels of one quantity, then the names or numbers of x.
    if len(columns) == 1 and len(panels) > 1:
        _one_scale(figure, panels, across)
    if across:
        ticks = {"tickvals": list(range(len(places))), "ticktext": places}
        figure.update_yaxes(**ticks, range=[len(places) - 0.5, -0.5], automargin=True)
    else:
        numbers = all(isinstance(row[chart.x], int | float) for row in rows)
        figure.update_xaxes(type="linear" if numbers else "category", tickangle=0)
        figure.update_xaxes(title={"text": chart.x, "standoff": 6}, row=high)
    return _finished(figure, height, second)


def _columns(rows: Sequence[Row], chart: Chart, hollow: str) -> list[str]:
    """Returns the columns to draw; a name of ``chart.y`` that ends in a space is a prefix."""
    known = dict.fromkeys(name for row in rows for name in row if not name.endswith(hollow))
    return [
        name
        for wanted in chart.y
        for name in known
        if name == wanted or (wanted.endswith(" ") and name.startswith(wanted))
    ]


def _one_scale(
    figure: go.Figure, panels: Sequence[tuple[str, str, Sequence[Row]]], across: bool
) -> None:
    """Gives panels of one quantity one range of x and, unless that flattens one, of y."""
    figure.update_xaxes(matches="x")
    tops = [max(number_of(row.get(name)) for row in group) for _, name, group in panels]
    if not across and max(tops) < 4 * min(tops):
        figure.update_yaxes(matches="y")


def _stacks(
    rows: Sequence[Row],
    chart: Chart,
    columns: Sequence[str],
    groups: dict[str, list[Row]],
    colours: Sequence[str],
    neutral: str,
) -> go.Figure:
    """Draws columns stacked over x, a panel for each group; columns of means are lines above."""
    lines = [name for name in columns if any(isinstance(row.get(name), Mean) for row in rows)]
    stacked = [name for name in columns if name not in lines]
    high = 1 + bool(lines)
    figure = make_subplots(
        high,
        len(groups) or 1,
        subplot_titles=list(groups),
        row_heights=[0.32, 0.68] if lines else None,
        shared_xaxes=bool(lines),
        vertical_spacing=0.07 if lines else None,
        horizontal_spacing=0.09,
    )
    # A panel for each group: bars of the shares, and above them lines of the means.
    for col, group in enumerate(groups.values(), start=1):
        where = [str(row[chart.x]) for row in group]
        for i, name in enumerate(stacked):
            bar = go.Bar(
                name=name,
                x=where,
                y=[number_of(row.get(name)) for row in group],
                marker={"color": colours[min(i, len(colours) - 1)]},
                legendgroup=name,
                width=0.3 if len(where) < 3 else None,
                hovertemplate=f"%{{x}}<br>{name} %{{y:.3g}}<extra></extra>",
            )
            figure.add_trace(bar, row=high, col=col)
        for name in lines:
            line = _Series(name, name, {"color": neutral, "size": 8}, {})
            _draw_series(figure, {"row": 1, "col": col}, chart, group, where, line)
    figure.update_xaxes(type="category", tickangle=0)
    places = list(dict.fromkeys(str(row[chart.x]) for row in rows))
    if len(places) <= _FEW:  # names wrap, because a phone is narrow; of more some are left out
        figure.update_xaxes(tickvals=places, ticktext=["<br>".join(wrap(p, 12)) for p in places])
    figure.update_xaxes(title={"text": chart.x, "standoff": 6}, row=high)
    if lines:
        figure.update_yaxes(matches="y", nticks=4, row=1)
    return _finished(figure, 64 + _PLOT + 70 * bool(lines), barmode="stack")


@dataclass(frozen=True, slots=True)
class _Series:
    """Column of the rows, drawn as marks, by its ``name`` in the legend; nothing without values.

    ``line`` joins the marks, except in a chart of dots; None for no line.
    """

    column: str
    name: str
    mark: dict[str, Any]
    line: dict[str, Any] | None


def _draw_series(
    figure: go.Figure,
    at: dict[str, int],
    chart: Chart,
    rows: Sequence[Row],
    where: Sequence[Any],
    series: _Series,
) -> None:
    """Adds a series, with intervals of means, to the panel ``at``, one row at each ``where``."""
    column, name, mark, line = series.column, series.name, series.mark, series.line
    values = [row.get(column) for row in rows]
    numbers = [number_of(value) for value in values]
    if all(map(math.isnan, numbers)):
        return
    # A line joins the marks if x is ordered. A long series without gaps is a line without marks.
    values_on_x = chart.kind == "dots"
    x_ordered = chart.kind == "stack" or all(isinstance(one, int | float) for one in where)
    joined = line is not None and x_ordered and not values_on_x
    line_alone = joined and len(rows) > _MANY and not any(map(math.isnan, numbers))
    means = [value if isinstance(value, Mean) else None for value in values]
    tooltips = [
        f"{row[chart.x]} {name or column}<br>{mean or f'{number:.3g}'}"
        for row, mean, number in zip(rows, means, numbers, strict=True)
    ]
    interval = {
        "type": "data",
        "symmetric": False,
        "array": [one.high - one.value if one else 0.0 for one in means],
        "arrayminus": [one.value - one.low if one else 0.0 for one in means],
        "color": mark["color"],
        "thickness": 1.6,
        "width": 0,
    }
    figure.add_scatter(
        name=name,
        legendgroup=name,
        x=numbers if values_on_x else where,
        y=where if values_on_x else numbers,
        mode="lines" if line_alone else "lines+markers" if joined else "markers",
        line={"color": mark["color"], **(line or {})},
        marker=mark,
        cliponaxis=joined,  # a mark at the end of the axis is drawn whole
        error_x=interval if values_on_x and any(means) else None,
        error_y=interval if chart.intervals and any(means) else None,
        customdata=tooltips,
        hovertemplate="%{customdata}<extra></extra>",
        **at,
    )


def _finished(figure: go.Figure, height: int, second: int = 0, **layout: Any) -> go.Figure:
    """Sets height, margins and a legend with each name once.

    ``second`` are the pixels for second lines of titles.
    """
    known: set[str] = {""}
    for trace in figure.data:
        trace.showlegend = trace.name not in known
        known.add(trace.name)
    named = 42 if len(known) > 1 else 0
    framed(figure, height, **layout)
    top, plot = 34 + second + named, height - 42 - second - named
    figure.update_layout(margin={"t": top}, legend={"y": 1 + (26 + second) / plot})
    figure.update_annotations(font_size=13)
    return figure
