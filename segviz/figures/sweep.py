"""Draws retrieval quality over settings (SegTreeMem Figs 6, 7, 13, 14).

Every mark that stands for one setting carries ``customdata`` (policy, alpha, horizon), so
that a page can load the setting that was clicked. Recall is evidence recall@K over leaves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from segviz.figures.layout import framed
from segviz.systems.levels import level_name

if TYPE_CHECKING:
    from segviz.evaluate import Cell, Sweep

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")
_SETTING = "%{customdata[0]}, α %{customdata[1]}, H %{customdata[2]}"


def _setting(cell: Cell) -> tuple[str, float, int]:
    return cell.policy, cell.alpha, cell.horizon


def _text_on(colour: str) -> str:
    """Black or white, whichever reads better on ``#rrggbb`` (relative luminance, WCAG)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"


def heatmap(sweep: Sweep, policy: str, *, ramp: Sequence[str], accent: str) -> go.Figure:
    """Recall of one policy over alpha (x) and horizon (y), each cell with its value.

    ``ramp`` are ``#rrggbb`` stops from low to high, ``accent`` outlines the best cell where
    it beats no propagation. Cells not measured stay empty. All policies of a sweep share one
    colour range. A scatter of transparent squares lies over the map: browsers report clicks
    on a heatmap, but Streamlit hands on selections of scatter points only.
    """
    columns, lines = sweep.alphas, sweep.horizons
    known = {_setting(cell): cell.recall.value for cell in sweep.cells}
    z = [[known.get((policy, alpha, h), math.nan) for alpha in columns] for h in lines]
    every = [v for v in (*known.values(), sweep.baseline.recall.value) if not math.isnan(v)]
    low, high = min(every, default=0.0), max(every, default=1.0)
    settings = [[(policy, alpha, h) for alpha in columns] for h in lines]
    figure = go.Figure(
        go.Heatmap(
            x=list(range(len(columns))),
            y=list(range(len(lines))),
            z=z,
            zmin=low,
            zmax=max(high, low + 1e-9),
            colorscale=[[i / max(len(ramp) - 1, 1), c] for i, c in enumerate(ramp)],
            customdata=settings,
            showscale=False,  # every cell says its value
            hoverinfo="skip",
            xgap=2,
            ygap=2,
        )
    )
    points = [
        (x, y, value, settings[y][x])
        for y, row in enumerate(z)
        for x, value in enumerate(row)
        if not math.isnan(value)
    ]
    steps = [(value - low) / max(high - low, 1e-9) for _, _, value, _ in points]
    figure.add_scatter(
        x=[x for x, *_ in points],
        y=[y for _, y, *_ in points],
        mode="markers+text",
        text=[_three_digits(value) for _, _, value, _ in points],
        textfont={
            "size": 11,
            "color": [_text_on(ramp[round(s * (len(ramp) - 1))]) for s in steps],
        },
        marker={"size": 34, "symbol": "square", "color": "rgba(0,0,0,0)"},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        customdata=[setting for *_, setting in points],
        hovertemplate=_SETTING + "<br>recall %{text}<extra></extra>",
        showlegend=False,
    )
    best = sweep.best([policy])
    gained = best.recall.value > sweep.baseline.recall.value
    if best.policy == policy and _setting(best) in known and gained:
        x, y = columns.index(best.alpha), lines.index(best.horizon)
        figure.add_shape(
            type="rect",
            x0=x - 0.48,
            x1=x + 0.48,
            y0=y - 0.46,
            y1=y + 0.46,
            line={"color": accent, "width": 3},
        )
    framed(figure, 62 + 46 * len(lines))
    figure.update_layout(margin={"t": 4, "b": 4})  # no legend above
    figure.update_xaxes(
        title={"text": "α", "standoff": 8},
        tickvals=list(range(len(columns))),
        ticktext=[f"{a:g}" for a in columns],
        tickangle=0,
        range=[-0.5, len(columns) - 0.5],
    )
    figure.update_yaxes(
        title="H",
        tickvals=list(range(len(lines))),
        ticktext=[str(h) for h in lines],
        range=[-0.5, len(lines) - 0.5],
    )
    return figure


def _three_digits(value: float) -> str:
    """``.681``, so that seven values fit side by side on a narrow page."""
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0.") else text[:4]


def heatmap_sentence(sweep: Sweep, policy: str) -> str:
    """Where this policy is best, beside no propagation."""
    best = sweep.best([policy])
    base = sweep.baseline.recall.value
    if best.policy != policy or math.isnan(best.recall.value):
        return f"No setting of {policy} was measured on a question with evidence."
    if best.recall.value <= base:
        return f"No setting of {policy} finds more than no propagation ({base:.3f})."
    return (
        f"{policy} is best at α {best.alpha:g} and H {best.horizon}: recall@{sweep.k} "
        f"{best.recall.value:.3f}, {best.recall.value - base:+.3f} against no propagation."
    )


def curves(sweep: Sweep, *, colours: Sequence[str], neutral: str) -> go.Figure:
    """Recall over alpha, a line per (policy, H ≥ 1); dashed: no propagation.

    ``colours`` are taken in the order of the policies, dotted the second time; the marker
    shows H.
    """
    figure = go.Figure()
    moving = [policy for policy in sweep.policies if policy != "none"]
    for p, policy in enumerate(moving):
        line = {
            "color": colours[p % len(colours)],
            "width": 1.8,
            "dash": "solid" if p < len(colours) else "dot",
        }
        for h, horizon in enumerate(h for h in sweep.horizons if h > 0):
            cells = sorted(
                (c for c in sweep.cells if (c.policy, c.horizon) == (policy, horizon)),
                key=lambda cell: cell.alpha,
            )
            figure.add_scatter(
                name=policy,
                x=[cell.alpha for cell in cells],
                y=[cell.recall.value for cell in cells],
                mode="lines+markers",
                line=line,
                marker={"symbol": _SYMBOLS[h % len(_SYMBOLS)], "size": 7},
                # One entry for each policy; the sentence says which mark is which H.
                legendgroup=policy,
                showlegend=h == 0,
                customdata=[_setting(cell) for cell in cells],
                hovertemplate=_SETTING + "<br>recall %{y:.3f}<extra></extra>",
            )
    ends = [min(sweep.alphas), max(sweep.alphas)]
    figure.add_scatter(
        name="no propagation",
        x=ends,
        y=[sweep.baseline.recall.value] * 2,
        mode="lines",
        line={"color": neutral, "width": 1.8, "dash": "dash"},
        hovertemplate="no propagation<br>recall %{y:.3f}<extra></extra>",
    )
    framed(figure, 290)
    figure.update_xaxes(title={"text": "α", "standoff": 8})
    figure.update_yaxes(title=f"recall@{sweep.k}")
    return figure


def curves_sentence(sweep: Sweep) -> str:
    """The best setting of all, how many beat no propagation, and which mark is which H."""
    best, base = sweep.best(), sweep.baseline.recall
    moved = [c for c in sweep.cells if c.policy != "none" and c.horizon and c.alpha]
    better = sum(c.recall.value > base.value for c in moved)
    if math.isnan(base.value):
        return "No question with evidence was measured."
    return (
        f"{better} of {len(moved)} settings find more than no propagation "
        f"({base.value:.3f}); the best is {best.policy}, α {best.alpha:g}, H {best.horizon} "
        f"with {best.recall.value:.3f}.{_symbol_key([h for h in sweep.horizons if h > 0])}"
    )


def _symbol_key(horizons: Sequence[int]) -> str:
    """Which symbol of the curves stands for which horizon, in words."""
    named = [f"{mark.split('-')[0]} H {h}" for mark, h in zip(_SYMBOLS, horizons, strict=False)]
    return f" Marks: {', '.join(named)}." if named else ""


def cell_rows(sweep: Sweep, policies: Sequence[str]) -> list[dict[str, str | int | float]]:
    """The settings of some policies as rows of a table."""
    return [
        {
            "policy": cell.policy,
            "α": cell.alpha,
            "H": cell.horizon,
            f"recall@{sweep.k}": round(cell.recall.value, 4),
            "from": round(cell.recall.low, 4),
            "to": round(cell.recall.high, 4),
        }
        for cell in sweep.cells
        if cell.policy in policies
    ]


def _level_cells(sweep: Sweep, horizon: int, policy: str | None) -> list[Cell]:
    """The baseline, then the cells of a horizon by alpha; policy None: the first."""
    wanted = sweep.policies[0] if policy is None else policy
    cells = [c for c in sweep.cells if (c.policy, c.horizon) == (wanted, horizon)]
    return [sweep.baseline, *sorted(cells, key=lambda cell: cell.alpha)]


def level_bars(
    sweep: Sweep,
    horizon: int,
    policy: str | None = None,
    *,
    level_colours: Sequence[str],
    accent: str,
    level_names: Sequence[str] = (),
) -> go.Figure:
    """Stacked shares of levels in the mixed top K per alpha, recall as a line on a second
    axis; the first bar is no propagation. ``policy`` None is the sweep's first."""
    cells = _level_cells(sweep, horizon, policy)
    names = ["none", *(f"{cell.alpha:g}" for cell in cells[1:])]
    figure = go.Figure()
    for level in sweep.baseline.levels:
        name = level_name(level, level_names)
        figure.add_bar(
            name=name,
            x=names,
            y=[cell.levels[level] for cell in cells],
            marker={"color": level_colours[min(level, len(level_colours) - 1)]},
            customdata=[_setting(cell) for cell in cells],
            hovertemplate=f"{_SETTING}<br>{name} %{{y:.1%}}<extra></extra>",
        )
    figure.add_scatter(
        name=f"recall@{sweep.k}",
        x=names,
        y=[cell.recall.value for cell in cells],
        yaxis="y2",
        mode="lines+markers",
        line={"color": accent, "width": 2.4},
        customdata=[_setting(cell) for cell in cells],
        hovertemplate=_SETTING + "<br>recall %{y:.3f}<extra></extra>",
    )
    framed(figure, 290, barmode="stack", yaxis2={"overlaying": "y", "side": "right"})
    figure.update_layout(
        xaxis={"type": "category", "title": {"text": "α", "standoff": 8}, "tickangle": 0},
        yaxis={"title": "share of the top K", "range": [0, 1], "tickformat": ".0%"},
        yaxis2={"title": "recall", "range": [0, 1], "fixedrange": True, "showgrid": False},
    )
    return figure


def level_bars_sentence(sweep: Sweep, horizon: int, policy: str | None = None) -> str:
    """How the share of leaves moves from no propagation to the largest alpha."""
    cells = _level_cells(sweep, horizon, policy)
    first, last = cells[0], cells[-1]
    if first is last:
        return f"Nothing was measured for H {horizon}."
    return (
        f"With {last.policy} and H {horizon}, leaves fill {first.levels[0]:.0%} of the top "
        f"{sweep.k} without propagation and {last.levels[0]:.0%} at α {last.alpha:g}."
    )


def level_rows(
    sweep: Sweep, horizon: int, policy: str | None = None, level_names: Sequence[str] = ()
) -> list[dict[str, str | float]]:
    """The bars and the line of ``level_bars`` as rows of a table."""
    return [
        {
            "α": "none" if first else f"{cell.alpha:g}",
            **{level_name(n, level_names): round(s, 4) for n, s in cell.levels.items()},
            f"recall@{sweep.k}": round(cell.recall.value, 4),
        }
        for first, cell in zip(
            (True, *[False] * len(sweep.alphas)),
            _level_cells(sweep, horizon, policy),
            strict=False,
        )
    ]
