"""Draws the settings of a sweep as heatmaps; a click on a cell chooses the one shown in full."""

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
    """Draws a heatmap for each policy that the measure can see, side by side where there is room;
    the chosen ``cell`` is framed."""
    seen = [policy for policy in judged.sweep.policies if policy not in judged.blind]
    if judged.blind:
        st.markdown(blind_sentence(judged.measure, judged.blind))
    if not seen:
        return
    with st.container(key="beside-heatmaps"):
        columns = st.columns(len(seen), gap="medium")
    for column, policy in zip(columns, seen, strict=True):
        with column:
            _heatmap(judged, policy, cell)


def colour_key(judged: Judged, cell: Cell) -> None:
    """Says what the colours that are drawn mean, and which cell is framed."""
    signs, tones = {one.sign for one in judged.moved()}, ramp("change")
    known = {1: (tones[-2], "better"), -1: (tones[1], "worse"), 0: (tones[4], "undecided")}
    marks = [swatch(*one) for sign, one in known.items() if sign in signs]
    if cell.policy not in judged.blind:
        marks.append(swatch(colours()["accent"], "shown below", frame=True))
    st.markdown(
        f"**{judged.label}** against no propagation ({number(judged.base.value)}): &ensp;"
        f"{' '.join(marks)}",
        unsafe_allow_html=True,
        width="stretch",
        help="A cell says the mean of all questions. It is coloured where it differs from no "
        "propagation, question by question, and then says by how much; undecided is what cannot "
        "be told from it: the 95 % interval of the difference includes zero, corrected for all "
        "that is tried. Shown below is the best setting until a cell is clicked.",
    )


def chosen(judged: Judged) -> Cell:
    """Returns the clicked setting or, where the measure does not see it, the best of those under
    which scores travel; where it sees none of them, the last."""
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
    """Copies a click before the page is drawn: selections vanish with the next run."""
    event: Any = st.session_state.get(f"heat-{policy}")
    points = event.selection.points if event else []
    custom = points[0].get("customdata") if points else None
    if not custom:
        return
    values = list(custom.values()) if isinstance(custom, dict) else list(custom)
    st.session_state[keys.SWEEP_CELL] = (str(values[0]), float(values[1]), int(values[2]))
