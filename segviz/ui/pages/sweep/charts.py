"""Draws the settings of a sweep as heatmaps; a click on a cell chooses the setting shown below."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.evaluation import Cell
from segviz.figures import sweep as figures
from segviz.figures.significance import Judged, blind_sentence, number, setting_of
from segviz.ui import keys
from segviz.ui.widgets.captions import unmarked
from segviz.ui.widgets.charts import QUIET, caption, colours, ramp, readable, swatch


def charts_panel(judged: Judged, cell: Cell) -> None:
    """Draws a heatmap for each policy that can change the measure; ``cell`` is framed."""
    seen = [policy for policy in judged.sweep.policies if policy not in judged.blind]
    if judged.blind:
        st.markdown(blind_sentence(judged.blind, judged.measure))
    if not seen:
        return
    with st.container(key="beside-heatmaps"):
        columns = st.columns(len(seen), gap="medium")
    for column, policy in zip(columns, seen, strict=True):
        with column:
            _heatmap(judged, policy, cell)


def colour_key(judged: Judged, cell: Cell) -> None:
    """Draws the legend of the colours in use and of the framed cell."""
    signs, tones = {one.sign for one in judged.moved()}, ramp("change")
    known = {1: (tones[-2], "better"), -1: (tones[1], "worse"), 0: (tones[4], "not significant")}
    marks = [swatch(*one) for sign, one in known.items() if sign in signs]
    if cell.policy not in judged.blind:
        marks.append(swatch(colours()["accent"], "shown below", frame=True))
    st.markdown(
        f"**{judged.label}** against no propagation ({number(judged.base.value)}): &ensp;"
        f"{' '.join(marks)}",
        unsafe_allow_html=True,
        width="stretch",
        help="A cell shows the mean over all questions. A coloured cell differs significantly from "
        "no propagation and shows the paired difference. Not significant: the 95 % interval of "
        "the difference, corrected for all settings, includes zero. Click a cell to see its "
        "setting below; at first it is the best one.",
    )


def chosen(judged: Judged) -> Cell:
    """Returns the clicked setting, if its policy can change the measure.

    Otherwise it returns the best propagating setting, or the last if none has a value.
    """
    clicked: Any = st.session_state.get(keys.SWEEP_CELL)
    shown = judged.verdicts.get(clicked) or judged.best()
    return shown.cell if shown else judged.sweep.cells[-1]


def _heatmap(judged: Judged, policy: str, cell: Cell) -> None:
    st.markdown(f"**{unmarked(policy)}**")
    sentence = figures.heatmap_sentence(judged, policy)
    figure = figures.heatmap(
        judged, policy, ramp=ramp("change"), accent=colours()["accent"], chosen=setting_of(cell)
    )
    st.plotly_chart(
        readable(figure),
        key=f"heat-{policy}",
        on_select=lambda: _take(policy),
        selection_mode="points",
        config=QUIET,
        alt=sentence,
    )
    caption(sentence, f"heat-{policy}", lambda: figures.cell_rows(judged, [policy]))


def _take(policy: str) -> None:
    """Copies a click before the page is drawn, because the next run clears the selection."""
    event: Any = st.session_state.get(f"heat-{policy}")
    points = event.selection.points if event else []
    custom = points[0].get("customdata") if points else None
    if not custom:
        return
    values = list(custom.values()) if isinstance(custom, dict) else list(custom)
    st.session_state[keys.SWEEP_CELL] = (str(values[0]), float(values[1]), int(values[2]))
