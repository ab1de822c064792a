"""Draws a small heatmap for each relevance; a click shows it in the large heatmaps.

Missing relevances are measured one after another, after the rest of the page is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.evaluation import Sweep
from segviz.figures.significance import Judged
from segviz.figures.sweep import map_sentence, relevance_map
from segviz.ui import keys
from segviz.ui.pages.sweep.measuring import (
    measured,
    progress_bar,
    stop_button,
    wanted,
)
from segviz.ui.state import AppSession
from segviz.ui.widgets.captions import counted, unmarked
from segviz.ui.widgets.charts import QUIET, colours, ramp

RELEVANCE_KEY = "sweep-relevance"


def relevances_row(
    offered: Sequence[str], known: Mapping[str, Judged], shown: str
) -> tuple[dict[str, DeltaGenerator], DeltaGenerator]:
    """Draws a slot for each of the ``offered`` relevances, with its map if it is ``known``.

    Returns:
        The slots by relevance, and a slot below them for a button.
    """
    row = st.container(horizontal=True, wrap=False, gap="small", key="relevance-maps")
    places = {name: row.container().empty() for name in offered}
    for name, place in places.items():
        if name in known:
            _draw(place, name, known[name], name == shown)
        else:
            place.caption(f"**{unmarked(name)}**: not measured")
    return places, st.empty()


def measure_missing(
    session: AppSession,
    settings: dict[str, Any],
    places: Mapping[str, DeltaGenerator],
    offer: DeltaGenerator,
    known: dict[str, Judged],
    judged: Callable[[Sweep], Judged],
    draw_verdict: Callable[[], None],
) -> None:
    """Measures the relevances that are not ``known``, and draws each in its slot when it is done.

    Call it last, so that the page above can be used meanwhile.

    Args:
        session: the open memory.
        settings: settings of the sweep; the relevance is replaced.
        places: a slot for each relevance.
        offer: slot for the button.
        known: results by relevance; new ones are added.
        judged: tests a sweep by the chosen measure.
        draw_verdict: redraws the verdict from ``known``.
    """
    missing = [name for name in places if name not in known]
    if not missing:
        return
    label = f"Measure the other {counted(len(missing), 'relevance')}"
    with offer.container():
        if not wanted(session, settings | {"relevance": ""}, "maps", label, len(missing)):
            return
    offer.empty()  # the stop button replaces the button
    with offer.container():
        stop_button("stop-maps")
    for name in missing:
        with places[name].container():
            progress = progress_bar(name)
        found = measured(session, settings | {"relevance": name}, progress)
        known[name] = judged(found)
        _draw(places[name], name, known[name], False)
        draw_verdict()
    offer.empty()


def _draw(place: DeltaGenerator, name: str, judged: Judged, shown: bool) -> None:
    sentence = map_sentence(judged)
    with place.container(gap=None):
        st.markdown(f"**{unmarked(name)}**{' · below' * shown}")
        st.plotly_chart(
            relevance_map(judged, ramp=ramp("change"), accent=colours()["accent"]),
            key=f"map-{name}",
            on_select=partial(_show, name),
            selection_mode="points",
            config=QUIET,
            alt=f"{name}: {sentence}",
        )
        st.caption(sentence)


def _show(name: str) -> None:
    """Shows a relevance in the large heatmaps.

    A second click on a cell unselects it, so every change of the selection is a click.
    """
    st.session_state[RELEVANCE_KEY] = name
    st.session_state[keys.SWEEP_CELL] = None
