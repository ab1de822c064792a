"""Draws a small heatmap for each relevance; a click shows it in the large heatmaps.

Missing relevances are measured one after another, after the rest of the page is drawn.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.figures.significance import Judged
from segviz.figures.sweep import map_sentence, relevance_map
from segviz.ui import keys
from segviz.ui.pages.sweep import Swept
from segviz.ui.pages.sweep.charts import verdict_panel
from segviz.ui.pages.sweep.measuring import sweep_job, sweep_part
from segviz.ui.widgets.captions import counted, unmarked
from segviz.ui.widgets.charts import ink, meaning, plot, ramp

RELEVANCE_KEY = "sweep-relevance"


def relevances_panel(swept: Swept) -> None:
    """Draws a map of every relevance that is measured, each in its slot."""
    known = swept.known
    for name, place in swept.maps.items():
        if name in known:
            _draw(place, name, known[name], name == swept.settings["relevance"])
        else:
            place.caption(f"**{unmarked(name)}**: not measured")


def measure_missing(swept: Swept) -> None:
    """Measures the other relevances, and draws each in its slot when it is done.

    Call it last, so that the page above can be used meanwhile.
    """
    known, session = swept.known, swept.session
    missing = [name for name in swept.maps if name not in known]
    if not missing:
        return
    label = f"Measure the other {counted(len(missing), 'relevance')}"
    job = sweep_job(session, swept.by(""), "maps", label, len(missing))
    if not job.started(swept.offer):
        return
    # Progress and Stop are in the slot of the map, so nothing below moves when they go.
    for name in missing:
        part = sweep_part(session, swept.by(name))
        sweep = replace(job, stop=f"{job.stop}-{name}").value(part, swept.maps[name])
        if sweep is not None:
            _draw(swept.maps[name], name, swept.judge(sweep), False)
            verdict_panel(swept)


def _draw(place: DeltaGenerator, name: str, judged: Judged, shown: bool) -> None:
    """Draws the small heatmap of a relevance; ``shown`` marks the one drawn large."""
    sentence = map_sentence(judged)

    def show() -> None:
        # A second click on a cell unselects it, so every change of the selection is a click.
        st.session_state[RELEVANCE_KEY] = name
        st.session_state[keys.SWEEP_CELL] = None

    with place.container(gap=None):
        st.markdown(f"**{unmarked(name)}**{' · above' * shown}")
        figure = relevance_map(judged, ramp=ramp("change"), ink=ink(), accent=meaning("chosen"))
        key = f"map-{name}"
        plot(figure, f"{name}: {sentence}", key, on_select=show, selection_mode="points")
        st.caption(sentence)
