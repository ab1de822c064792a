"""Page Sweep: all settings of propagation, or of a construction parameter, over all questions."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.memory import MissingEmbedder
from segviz.retrieval import OPENING, POLICIES, PRESETS, RELEVANCE
from segviz.ui.pages import Panel, draw_panels
from segviz.ui.pages.sweep import Swept, known_sweep
from segviz.ui.pages.sweep.charts import charts_panel, verdict_panel
from segviz.ui.pages.sweep.construction import construction_panel
from segviz.ui.pages.sweep.measuring import sweep_job, sweep_part
from segviz.ui.pages.sweep.relevances import RELEVANCE_KEY, measure_missing, relevances_panel
from segviz.ui.pages.sweep.setting import setting_panel
from segviz.ui.settings import declared_setting, read_settings
from segviz.ui.state import AppSession
from segviz.ui.widgets import captions, measures

EXPAND = declared_setting("expand")

SWEPT = [name for name in POLICIES if name != "none"]

PANELS: tuple[Panel[Swept], ...] = (
    Panel("", verdict_panel),
    Panel("", relevances_panel),
    Panel("", charts_panel),
    Panel("", setting_panel),
    Panel("", measure_missing),  # last, so that the page can be used meanwhile
)


def render(session: AppSession) -> None:
    """Draws the page."""
    verdict = st.empty()
    choices = st.container(horizontal=True, vertical_alignment="bottom")
    over = choices.segmented_control(
        "Sweep over",
        ["propagation", "construction"],
        default="propagation",
        required=True,
        key="swept-over",
        bind="query-params",
    )
    questions = session.conversation.questions
    if over == "construction":
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
    # The registered relevances and the one of Ask; without the embedder only the lexical one works.
    offered = list(dict.fromkeys([*RELEVANCE, read_settings(session).relevance_for()]))
    if isinstance(session.memory.embedder, MissingEmbedder):
        offered = ["lexical"]
    # The sweep comes first, because the choice of measure names its K and budgets.
    settings = _settings(offered)
    sweep = known_sweep(session, settings)
    if sweep is None:
        job = sweep_job(session, settings, "sweep", "Run the sweep")
        sweep = job.value(sweep_part(session, settings))
    if sweep is None:
        return
    with choices:
        measure, adversarial = measures.measure_choice(session, sweep)
        disputed = measures.disputed_choice(session)
    row = st.container(horizontal=True, wrap=False, gap="small", key="relevance-maps")
    maps = {name: row.container().empty() for name in offered}
    how = measure, adversarial, disputed
    draw_panels(PANELS, Swept(session, settings, sweep, *how, verdict, maps, st.empty()))


def _settings(offered: list[str]) -> dict[str, Any]:
    first, second, third, fourth = st.columns([5, 3, 2, 2], gap="medium")
    policies = first.multiselect(
        "Policies",
        SWEPT,
        default=["top-down", "bottom-up", "both"],
        wrap=True,
        key="sweep-policies",
        bind="query-params",
    )
    opens = PRESETS[OPENING].relevance_for()
    relevance = second.selectbox(
        "Relevance",
        offered,
        index=offered.index(opens) if opens in offered else 0,
        key=RELEVANCE_KEY,
        bind="query-params",
    )
    k = third.slider("Retrieved K", 1, 30, 10, key="sweep-k", bind="query-params")
    expand = fourth.number_input(
        EXPAND.label,
        int(EXPAND.spec.low or 1),
        int(EXPAND.spec.high or 1),
        value=None,
        help=EXPAND.spec.details,
        key="sweep-expand",
        bind="query-params",
    )
    return {"policies": policies or SWEPT[:1], "relevance": relevance, "k": k, "expand": expand}
