"""Page Sweep: all settings of propagation, or of a construction parameter, over all questions."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.memory import MissingEmbedder
from segviz.retrieval import OPENING, POLICIES, PRESETS, RELEVANCE
from segviz.ui.pages import Panel, draw_panels
from segviz.ui.pages.sweep import Swept, known_sweep
from segviz.ui.pages.sweep.charts import charts_panel, verdict_panel, why_panel
from segviz.ui.pages.sweep.construction import construction_panel
from segviz.ui.pages.sweep.measuring import sweep_job, sweep_part
from segviz.ui.pages.sweep.relevances import RELEVANCE_KEY, measure_missing, relevances_panel
from segviz.ui.pages.sweep.setting import atlas_panel, measures_panel, setting_panel
from segviz.ui.settings import declared_setting, read_settings
from segviz.ui.state import AppSession, linked
from segviz.ui.widgets import captions, measures

EXPAND = declared_setting("expand")

_SWEPT_OVER = ("propagation", "construction")

SWEPT = [name for name in POLICIES if name != "none"]

PANELS: tuple[Panel[Swept], ...] = (
    Panel("", verdict_panel),
    Panel("", charts_panel),
    Panel("", relevances_panel),
    Panel("Why, and what was tested", why_panel, closed="sweep-why"),
    Panel("Levels, categories and tokens of the setting", setting_panel, closed="sweep-setting"),
    Panel("Question atlas", atlas_panel, closed="sweep-atlas-open", bound="sweep-atlas-"),
    Panel("All measures of the setting", measures_panel, closed="sweep-measures"),
    Panel("", measure_missing),  # last, so that the page can be used meanwhile
)


def render(session: AppSession) -> None:
    """Draws the page: the result in words, the heatmaps, what they show, and the rest folded."""
    with st.container(horizontal=True, vertical_alignment="top", key="sweep-top"):
        verdict = st.container(width="stretch").empty()
        over = st.segmented_control(
            "Sweep over",
            _SWEPT_OVER,
            required=True,
            label_visibility="collapsed",
            **linked("swept-over", _SWEPT_OVER[0], _SWEPT_OVER),
        )
    questions = session.conversation.questions
    if over == "construction":
        verdict.markdown("Shape, evidence and cost of the build over a parameter's values")
        construction_panel(session)
        return
    if not measures.countable(questions):
        st.info(
            "A sweep needs questions with gold evidence or answers. This conversation has none. "
            "The bundled samples, LoCoMo, LongMemEval and RealMem files have them."
        )
        return
    verdict.markdown(
        f"**{captions.counted(len(questions), 'question')}** under every setting of propagation"
    )
    picture = st.container()
    # The registered relevances and the one of Ask; without the embedder only the lexical one works.
    offered = list(dict.fromkeys([*RELEVANCE, read_settings(session).relevance_for()]))
    if isinstance(session.memory.embedder, MissingEmbedder):
        offered = ["lexical"]
    settings, how = _choices(session, offered)
    sweep = known_sweep(session, settings)
    if sweep is None:
        job = sweep_job(session, settings, "sweep", "Run the sweep")
        sweep = job.value(sweep_part(session, settings), verdict)
    if sweep is None:
        return
    row = st.container(horizontal=True, wrap=False, gap="small", key="relevance-maps")
    maps = {name: row.container().empty() for name in offered}
    draw_panels(PANELS, Swept(session, settings, sweep, *how, verdict, picture, maps, st.empty()))


def _choices(
    session: AppSession, offered: list[str]
) -> tuple[dict[str, Any], tuple[str, bool, bool]]:
    """Draws the settings of the sweep.

    Returns them, then the measure, and whether questions of category 5 and disputed ones count.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom")
    measured = row.container(width="content")  # drawn after K, which it names
    opens = PRESETS[OPENING].relevance_for()
    relevance = row.selectbox(
        "Relevance",
        offered,
        width=200,
        **linked(RELEVANCE_KEY, opens if opens in offered else offered[0], offered),
    )
    k = row.slider("Retrieved K", 1, 30, width=200, **linked("sweep-k", 10, range(1, 31)))
    with row.popover("Setting", key="sweep-more"):
        policies = st.multiselect(
            "Policies",
            SWEPT,
            wrap=True,
            **linked("sweep-policies", ["top-down", "bottom-up", "both"], SWEPT),
        )
        low, high = int(EXPAND.spec.low or 1), int(EXPAND.spec.high or 1)
        expand = st.number_input(
            EXPAND.label,
            low,
            high,
            value=None,
            help=EXPAND.spec.details,
            **linked("sweep-expand", None, range(low, high + 1)),
        )
        counting = measures.counting_choices(session)
    with measured:
        measure = measures.measure_choice(session, k)
    settings = {"policies": policies or SWEPT[:1], "relevance": relevance, "k": k, "expand": expand}
    return settings, (measure, *counting)
