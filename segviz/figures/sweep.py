"""Draws how much settings of propagation gain in a measure (SegTreeMem Figs 6, 7, 13, 14).

Every mark's ``customdata`` begins with policy, alpha and horizon, so that a click can load them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from segviz.conversation import category_label
from segviz.evaluation import Chart, Mean, Row
from segviz.evaluation.aggregate import RESAMPLES
from segviz.figures.charts import framed, rows_figure
from segviz.figures.significance import (
    EXACT,
    Judged,
    Setting,
    SettingResult,
    blind_sentence,
    estimate,
    number,
    opening,
    spelled,
)
from segviz.text.captions import counted
from segviz.view.palette import SMALLEST_TEXT, text_on

_HOVER = "%{customdata[0]}, α %{customdata[1]}, H %{customdata[2]}<br>%{customdata[3]}"
_VERDICT = {1: "better", 0: "not significant", -1: "worse"}

_FULL = 0.25
"""Gain, or loss, with the full colour: one scale for all maps, relevances and measures."""


def _tint(verdict: SettingResult) -> float:
    """Returns a gain's place on the ramp, in [-1, 1], by its root, so that small ones show."""
    gain = verdict.gain.value
    if math.isnan(gain):
        return 0.0
    return math.copysign(min(1.0, math.sqrt(abs(gain) / _FULL)), gain)


def _stop(verdict: SettingResult, ramp: Sequence[str]) -> str:
    return ramp[round((_tint(verdict) + 1) / 2 * (len(ramp) - 1))]


def heatmap(
    judged: Judged,
    policy: str,
    *,
    ramp: Sequence[str],
    ink: str,
    accent: str,
    chosen: Setting | None = None,
) -> go.Figure:
    """Draws the gain of one policy over alpha (x) and horizon (y).

    Colours show the size of the gain, by its square root. A significant one is framed. The chosen
    cell has its mean and gain in writing. Cells that were not measured stay empty.

    Args:
        judged: the tested sweep.
        policy: the policy.
        ramp: an odd number of ``#rrggbb`` stops from worse to better.
        ink: colour of the frames of significant cells.
        accent: colour of the frame of the ``chosen`` cell.
        chosen: a setting; None for no frame.
    """
    # A column for each α, a line for each H.
    columns, lines = judged.sweep.alphas, [h for h in judged.sweep.horizons if h > 0]
    mine = {
        (x, y): judged.verdicts[policy, alpha, horizon]
        for y, horizon in enumerate(lines)
        for x, alpha in enumerate(columns)
        if (policy, alpha, horizon) in judged.verdicts
    }
    figure = _cells(mine, (len(columns), len(lines)), ramp, ink, size=34, gap=2)
    # The numbers of the chosen cell, as an annotation: a click fades the text of a point.
    for (x, y), one in mine.items():
        if one.setting == chosen and one.mean.n:
            _frame(figure, x, y, accent, 3)
            gain = _three_digits(one.gain.value, plus=True)
            font = {"size": SMALLEST_TEXT, "color": text_on(_stop(one, ramp))}
            text = f"{_three_digits(one.mean.value)}<br><b>{gain}</b>"
            figure.add_annotation(x=x, y=y, text=text, font=font, showarrow=False)
    framed(figure, 62 + 36 * len(lines))
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


def relevance_map(judged: Judged, *, ramp: Sequence[str], ink: str, accent: str) -> go.Figure:
    """Draws all policies side by side; ``ink`` frames significant cells, ``accent`` the best."""
    # A block of columns for each policy, with an empty column between two.
    sweep = judged.sweep
    lines = [horizon for horizon in sweep.horizons if horizon > 0]
    policies = [policy for policy in sweep.policies if policy not in judged.blind]
    wide = len(sweep.alphas) + 1
    places = {
        (policy, alpha, horizon): (wide * block + x, y)
        for block, policy in enumerate(policies)
        for x, alpha in enumerate(sweep.alphas)
        for y, horizon in enumerate(lines)
    }
    mine = {at: judged.verdicts[one] for one, at in places.items() if one in judged.verdicts}
    columns = wide * len(policies) - 1
    figure = _cells(mine, (columns, len(lines)), ramp, ink, size=16, gap=1)
    best = judged.best()
    if best is not None:
        _frame(figure, *places[best.setting], accent, 2)
    framed(figure, 8 + 15 * len(lines))
    figure.update_layout(margin={"t": 2, "b": 2, "l": 0, "r": 0})
    figure.update_xaxes(visible=False, range=[-0.6, columns - 0.4])
    figure.update_yaxes(visible=False, range=[-0.6, len(lines) - 0.4])
    return figure


def map_sentence(judged: Judged) -> str:
    """Tells the mean without propagation, the best mean, and if the difference is significant."""
    best = judged.best()
    if best is None:
        return "no value"
    means = f"{_three_digits(judged.base.value)} → {_three_digits(best.mean.value)}"
    return f"{means}, {_VERDICT[best.sign]}"


def _cells(
    mine: Mapping[tuple[int, int], SettingResult],
    shape: tuple[int, int],
    ramp: Sequence[str],
    ink: str,
    *,
    size: int,
    gap: int,
) -> go.Figure:
    """Draws the settings ``mine`` by column and line, below transparent points to click.

    ``shape`` are the numbers of columns and lines, ``size`` of a point and ``gap`` are pixels.
    """
    columns, lines = shape
    figure = go.Figure(
        go.Heatmap(
            x=list(range(columns)),
            y=list(range(lines)),
            z=[
                [_tint(mine[x, y]) if (x, y) in mine else math.nan for x in range(columns)]
                for y in range(lines)
            ],
            zmin=-1,
            zmax=1,
            colorscale=[[i / max(len(ramp) - 1, 1), c] for i, c in enumerate(ramp)],
            showscale=False,  # every cell says its value
            hoverinfo="skip",
            xgap=gap,
            ygap=gap,
        )
    )
    for (x, y), one in mine.items():
        if one.sign:
            _frame(figure, x, y, ink, 2)
    known = {place: one for place, one in mine.items() if one.mean.n}
    figure.add_scatter(
        x=[x for x, _ in known],
        y=[y for _, y in known],
        mode="markers",
        marker={"size": size, "symbol": "square", "color": "rgba(0,0,0,0)"},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        customdata=[(*one.setting, one.words) for one in known.values()],
        hovertemplate=_HOVER + "<extra></extra>",
        showlegend=False,
    )
    return figure


def _frame(figure: go.Figure, x: int, y: int, accent: str, width: int) -> None:
    sides = {"x0": x - 0.49, "x1": x + 0.49, "y0": y - 0.49, "y1": y + 0.49}
    figure.add_shape(type="rect", line={"color": accent, "width": width}, **sides)


def _three_digits(value: float, *, plus: bool = False) -> str:
    """Formats a number as ``.681``, so that seven values fit side by side on a narrow page."""
    text = number(value, plus=plus)
    return text.replace("0.", ".", 1) if abs(value) < 0.9995 else text[: len(text) - 1]


def verdict_sentence(judged: Judged) -> str:
    """Tells if propagation raises the measure, and by how much."""
    best, relevance = judged.best(), judged.sweep.settings.relevance_for()
    if best is None:
        return f"No question counts for {judged.label}, or no policy here can change it."
    not_ = "" if best.sign > 0 else "does not significantly "
    raises = f"**Propagation {not_}{'raises' if best.sign > 0 else 'raise'} {judged.label}**"
    means = f"from {number(judged.base.value)} to {number(best.mean.value)}, {_gain(best)}"
    which = "the best" if best.gain.value > 0 else "even the best"
    return (
        f"{raises} under {relevance} relevance: {which} of {len(judged.moved())} settings, "
        f"{spelled(best.cell)}, takes it {means}."
    )


def reason_sentence(judged: Judged) -> str:
    """Explains the result of the best setting; "" if no question has a value.

    It counts the questions that can only lose, those on which the setting gains and loses. It says
    from about which size a gain would be significant, and which setting lowers the measure most.
    """
    best = judged.best()
    if best is None:
        return ""
    won, lost = judged.won_lost(best.cell)
    base = judged.sweep.baseline.outcomes
    values = base.column(judged.measure)[base.keep(adversarial=judged.adversarial)]
    whole = int((values >= 1 - EXACT).sum())
    room = ""
    if whole:
        asked = counted(judged.base.n, "question")
        room = f"In {whole} of {asked} {judged.label} is 1 without propagation: "
        room += "these can only lose. "
    name = "It" if best.sign > 0 else f"The best setting ({spelled(best.cell)})"
    score = f"{room}{name} gains on {counted(won, 'question')} and loses on {lost}"
    least = best.gain.value - best.gain.low
    needed = ""
    if best.sign <= 0 < least:
        needed = f" Here gains below about +{least:.3f} are not significant."
    worst = min(judged.moved(), key=lambda one: one.gain.value)
    lowest = "No setting lowers it significantly."
    if worst.sign < 0:
        lowest = (
            f"The setting {spelled(worst.cell)} lowers it most, to {number(worst.mean.value)}, "
        )
        lowest += f"{_gain(worst)}."
    return f"{score}.{needed} {lowest}"


def relevances_sentence(judged: Judged, others: Mapping[str, Judged]) -> str:
    """Tells which ``others`` gain significantly by propagation, and the highest mean."""
    bests = {name: best for name, one in others.items() if (best := one.best()) is not None}
    own = judged.best()
    if not bests or own is None:
        return ""
    # Which of them gain, else which comes nearest.
    winners = {name: best for name, best in bests.items() if best.sign > 0}
    either = "" if own.sign > 0 else " either"
    if winners:
        beat = (f"{name} ({spelled(best.cell)}: {_gain(best)})" for name, best in winners.items())
        text = f"Of the other relevances, propagation significantly helps {', '.join(beat)}."
    else:
        most = max(bests, key=lambda name: bests[name].gain.value)
        text = f"No other relevance has a significant gain{either}; the highest gain is that of "
        text += f"{most}: {_gain(bests[most])}."
    # How their highest mean compares with the means of this relevance.
    top = max(bests, key=lambda name: bests[name].mean.value)
    highest = number(bests[top].mean.value)
    if judged.base.value >= bests[top].mean.value:
        mine = judged.sweep.settings.relevance_for()
        text += f" With propagation, their highest mean is {highest} ({top}), "
        text += f"not above that of {mine} without it."
    elif bests[top].mean.value > own.mean.value:
        text += f" The highest mean is that of {top}: {highest}."
    return text


def tried_sentence(judged: Judged) -> str:
    """Tells how many settings were tried, and how their intervals are corrected for that."""
    cells = [one.cell for one in judged.moved()]
    axes = (
        counted(len({cell.policy for cell in cells}), "policy", "policies"),
        f"{len({cell.alpha for cell in cells})} α",
        f"{len({cell.horizon for cell in cells})} H",
    )
    whole, between = len(cells), ""
    tried = f"Tried: {counted(whole, 'setting')} ({' × '.join(axes)})"
    if judged.sweeps > 1:
        tried += f" × {judged.sweeps} relevances"
        between = " within a relevance, Bonferroni across relevances"
    return (
        f"{tried} on {counted(judged.base.n, 'question')}. The 95 % intervals of the gains are "
        f"simultaneous over all {whole * judged.sweeps} (studentised maximum over {RESAMPLES:,} "
        f"resamples{between}). Without any effect, 19 of 20 such sweeps find nothing significant."
    )


def _gain(verdict: SettingResult) -> str:
    return estimate(verdict.gain, plus=True)


def counts_words(judged: Judged, policy: str) -> str:
    """Returns how many settings of a policy are significantly better, and how many worse."""
    signs = [one.sign for one in judged.moved([policy])]
    counts = [f"{signs.count(sign)} {_VERDICT[sign]}" for sign in (1, -1) if sign in signs] or [
        "none significant"
    ]
    return ", ".join(counts)


def heatmap_sentence(judged: Judged, policy: str) -> str:
    """Tells how many settings of a policy are significant, and which has the highest mean."""
    if policy in judged.blind:
        return blind_sentence([policy], judged.measure)
    best = judged.best([policy])
    if best is None:
        return f"No setting of {policy} was measured on a question that counts."
    settings = counted(len(judged.moved([policy])), "setting")
    text = f"{settings} of {policy} against no propagation: {counts_words(judged, policy)}"
    if best.gain.value <= 0:
        return f"{text}; none has a higher mean."
    return (
        f"{text}; the highest mean is {number(best.mean.value)} at α {best.cell.alpha:g}, "
        f"H {best.cell.horizon}, difference {_gain(best)}."
    )


def cell_rows(judged: Judged, policies: Sequence[str]) -> list[dict[str, str | int | float]]:
    """Returns the results of all settings of some policies as rows of a table."""
    return [
        {
            "policy": one.cell.policy,
            "α": one.cell.alpha,
            "H": one.cell.horizon,
            judged.label: round(one.mean.value, 4),
            "from": round(one.mean.low, 4),
            "to": round(one.mean.high, 4),
            "gain": round(one.gain.value, 4),
            "gain from": round(one.gain.low, 4),
            "gain to": round(one.gain.high, 4),
            "against no propagation": _VERDICT[one.sign] if one.cell.moves else "the same",
            "questions": one.mean.n,
        }
        for one in judged.verdicts.values()
        if one.cell.policy in policies
    ]


def level_bars(
    judged: Judged,
    horizon: int,
    policy: str,
    *,
    level_colours: Sequence[str],
    accent: str,
    level_names: Sequence[str] = (),
) -> go.Figure:
    """Draws the shares of the levels among the retrieved nodes as a stacked bar for each alpha.

    The first bar is without propagation. If the policy can change the measure, a panel above the
    bars shows the measure's means with 95 % intervals.

    Args:
        judged: the tested sweep.
        horizon: number of hops of the settings.
        policy: their policy.
        level_colours: colours of the levels, leaves first.
        accent: colour of the means.
        level_names: names of the levels; empty for numbers.
    """
    rows = level_rows(judged, horizon, policy, level_names)
    chart = Chart("α", tuple(rows[0])[1:], kind="stack", intervals=True)
    return rows_figure(rows, chart, colours=level_colours, neutral=accent)


def level_bars_sentence(judged: Judged, horizon: int, policy: str) -> str:
    """Tells the share of leaves retrieved without propagation and at the largest α."""
    mine = [c for c in judged.sweep.cells if (c.policy, c.horizon) == (policy, horizon)]
    if not mine:
        return f"Nothing was measured for H {horizon}."
    first, last = judged.sweep.baseline, max(mine, key=lambda cell: cell.alpha)
    before, after = (cell.outcomes.levels.get(0, 0.0) for cell in (first, last))
    text = (
        f"With {policy} and H {horizon}, leaves fill {before:.0%} of the top "
        f"{judged.sweep.settings.k} without propagation and {after:.0%} at α {last.alpha:g}."
    )
    if policy in judged.blind:
        return f"{text} {blind_sentence([policy], judged.measure)}"
    return f"{text} Above: {judged.label}, with 95 % intervals."


def level_rows(
    judged: Judged, horizon: int, policy: str, level_names: Sequence[str] = ()
) -> list[Row]:
    """Returns the data of :func:`level_bars` as rows of a table, one per alpha."""
    measure = "" if policy in judged.blind else judged.measure
    how = {"adversarial": judged.adversarial}
    return judged.sweep.level_rows(horizon, policy, measure, level_names, **how)


def category_rows(judged: Judged, setting: Setting) -> list[Row]:
    """Returns the measure under a setting and without propagation, by category and for all."""
    outcomes, base = judged.verdicts[setting].cell.outcomes, judged.sweep.baseline.outcomes
    kinds: dict[str, dict[str, Any]] = {
        category_label(category): {"category": category} for category in outcomes.known_categories
    }
    kinds["all" if judged.adversarial else "all but 5"] = {"adversarial": judged.adversarial}
    return [
        {
            "questions": name,
            judged.label: mean,
            f"{judged.label}, {_BEFORE}": base.value(judged.measure, **which),
            "n": mean.n,
        }
        for name, which in kinds.items()
        if (mean := outcomes.mean(judged.measure, **which)).n
    ]


_BEFORE = "no propagation"


def category_figure(
    judged: Judged, setting: Setting, *, colours: Sequence[str], neutral: str
) -> go.Figure:
    """Draws :func:`category_rows` as dots with intervals, hollow without propagation."""
    chart, rows = Chart("questions", (judged.label,), kind="dots"), category_rows(judged, setting)
    hollow = (_BEFORE, _BEFORE)
    return rows_figure(rows, chart, colours=colours, neutral=neutral, hollow=hollow)


def category_sentence(judged: Judged, setting: Setting) -> str:
    """Tells the categories with the highest and the lowest mean, and the mean of all questions."""
    means = {
        str(row["questions"]): mean
        for row in category_rows(judged, setting)
        if isinstance(mean := row[judged.label], Mean)
    }
    if not means:
        return "No question that counts was measured."
    *ordered, (_, whole) = means.items()
    ordered.sort(key=lambda row: -row[1].value)
    overall = f"{opening(judged.measure)} over all questions{judged.left_out}: {whole}."
    if len(ordered) < 2:
        return overall
    (most, best), (least, worst) = ordered[0], ordered[-1]
    return (
        f"Highest for {most} ({best.value:.3f}, n = {best.n}), lowest for {least} "
        f"({worst.value:.3f}, n = {worst.n}). {overall}"
    )
