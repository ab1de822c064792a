"""Draws rows of a table as small charts: lines, dots with their intervals, stacked columns.

What a paper printed of a column ``x`` stands in the column ``"x, paper"`` and is drawn hollow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from segviz.evaluate import Mean
from segviz.evaluate.compare import Row
from segviz.evaluate.reproduce import Chart
from segviz.figures.layout import framed

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star", "x")
_PRINTED = "printed in the paper"
_LABEL = 34
"""Pixels of a row of dots."""


def rows_figure(
    rows: Sequence[Row], chart: Chart, *, colours: Sequence[str], neutral: str
) -> go.Figure:
    """The figure of some rows. ``colours`` are those of the series or, stacked, of the columns;
    series differ in dash and mark as well. ``neutral`` draws what is printed, and lines over
    stacks."""
    column, value = chart.only
    rows = [row for row in rows if not column or row[column] == value]
    known = dict.fromkeys(name for row in rows for name in row)
    columns = [
        name
        for wanted in chart.y
        for name in known
        if name == wanted or (wanted.endswith(" ") and name.startswith(wanted))
    ]
    columns = [name for name in columns if not name.endswith(", paper")]
    stacked, across = chart.kind == "stack", chart.kind == "dots"
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row.get(chart.panel, "")), []).append(row)
    panels = [
        (title, names, group)
        for title, group in groups.items()
        for names in ([columns] if stacked else [[name] for name in columns])
    ]
    titles = [
        ", ".join(filter(None, (title, "" if stacked else names[0]))) for title, names, _ in panels
    ]
    wide = min(len(panels), 2 if across or len(panels) == 4 else 3) or 1
    high = -(-len(panels) // wide) or 1
    places = {x: place for place, x in enumerate(dict.fromkeys(str(row[chart.x]) for row in rows))}
    series = list(dict.fromkeys(str(row.get(chart.by, "")) for row in rows))
    each = _LABEL if len(series) < 3 else _LABEL * 1.4
    height = round((60 + each * max(len(places), 2) if across else 230) * high + 64)
    figure = make_subplots(
        high,
        wide,
        subplot_titles=titles,
        shared_yaxes=across,
        horizontal_spacing=0.04 if across else 0.09,
        vertical_spacing=76 / height if high > 1 else None,
    )
    for place, (_, names, group) in enumerate(panels):
        at = {"row": place // wide + 1, "col": place % wide + 1}
        if stacked:
            _stack(figure, group, chart, names, at, colours, neutral, legend=not place)
            continue
        for i, name in enumerate(series):
            mine = [row for row in group if str(row.get(chart.by, "")) == name]
            beside = (i - (len(series) - 1) / 2) * 0.24
            where = [places[str(row[chart.x])] + beside if across else row[chart.x] for row in mine]
            mark = {"color": colours[i % len(colours)], "symbol": _SYMBOLS[i % len(_SYMBOLS)]}
            line = {"dash": _DASHES[i % len(_DASHES)], "width": 1.8}
            _series(figure, mine, where, chart, names[0], at, name, mark, line, legend=not place)
            printed = f"{names[0]}, paper"
            mark = {"color": neutral, "symbol": "circle-open"}
            _series(figure, mine, where, chart, printed, at, _PRINTED, mark, None, legend=not i)
        if chart.level and group:
            base = {"color": neutral, "dash": "dot", "width": 1.4}
            figure.add_hline(_value(group[0][chart.level]), line=base, **at)
    framed(figure, height, **({"barmode": "stack"} if stacked else {}))
    for trace in [each for each in figure.data if each.name == _PRINTED][1:]:
        trace.showlegend = False
    named = 42 if any(trace.showlegend for trace in figure.data) else 0
    figure.update_layout(margin={"t": 34 + named}, legend={"y": 1 + 26 / (height - 42 - named)})
    figure.update_annotations(font_size=13)
    if len({tuple(names) for _, names, _ in panels}) == 1:  # one quantity: one scale
        figure.update_xaxes(matches="x")
        tops = [
            max((_value(row.get(names[0])) for row in group), default=0.0)
            for _, names, group in panels
        ]
        if not across and max(tops, default=0.0) < 4 * min(tops, default=0.0):
            figure.update_yaxes(matches="y")
    if across:
        ticks = {"tickvals": list(range(len(places))), "ticktext": list(places)}
        figure.update_yaxes(**ticks, range=[len(places) - 0.5, -0.5], automargin=True)
    else:
        numbers = all(isinstance(row[chart.x], int | float) for row in rows) and not stacked
        figure.update_xaxes(type="linear" if numbers else "category", tickangle=0)
        figure.update_xaxes(title={"text": chart.x, "standoff": 6}, row=high)
    return figure


def _stack(
    figure: go.Figure,
    rows: Sequence[Row],
    chart: Chart,
    names: Sequence[str],
    at: dict[str, int],
    colours: Sequence[str],
    neutral: str,
    *,
    legend: bool,
) -> None:
    """Columns on each other, and a line for each that holds means."""
    for i, name in enumerate(names):
        if any(isinstance(row.get(name), Mean) for row in rows):
            mark = {"color": neutral, "symbol": "circle"}
            where = [str(row[chart.x]) for row in rows]
            _series(figure, rows, where, chart, name, at, name, mark, {"width": 2.4}, legend=legend)
            continue
        bar = go.Bar(
            name=name,
            x=[str(row[chart.x]) for row in rows],
            y=[_value(row.get(name)) for row in rows],
            marker={"color": colours[min(i, len(colours) - 1)]},
            legendgroup=name,
            showlegend=legend,
            hovertemplate=f"%{{x}}<br>{name} %{{y:.3g}}<extra></extra>",
        )
        figure.add_trace(bar, **at)


def _series(
    figure: go.Figure,
    rows: Sequence[Row],
    where: Sequence[Any],
    chart: Chart,
    column: str,
    at: dict[str, int],
    name: str,
    mark: dict[str, Any],
    line: dict[str, Any] | None,
    *,
    legend: bool = False,
) -> None:
    """One column as marks, joined by a ``line`` unless they are dots; without one, hollow marks
    of what is printed."""
    values = [row.get(column) for row in rows]
    numbers = [_value(value) for value in values]
    if all(map(math.isnan, numbers)):
        return
    across = chart.kind == "dots"
    means = [value if isinstance(value, Mean) else None for value in values]
    told = [
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
        showlegend=bool(name) and legend,
        x=numbers if across else where,
        y=where if across else numbers,
        mode="markers" if across or line is None else "lines+markers",
        line={"color": mark["color"], **(line or {})},
        marker={"size": 8 if line else 11, **mark},
        error_x=interval if across and any(means) else None,
        customdata=told,
        hovertemplate="%{customdata}<extra></extra>",
        **at,
    )


def _value(value: object) -> float:
    found = value.value if isinstance(value, Mean) else value
    return float(found) if isinstance(found, int | float) else math.nan
