"""Page Sweep: every setting over all questions of the conversation, or one of construction."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.evaluation import Sweep
from segviz.evaluation.sweep import sweep
from segviz.figures.significance import Judged, bounds, judge, number, spelled
from segviz.figures.sweep import verdict_sentence
from segviz.memory import MissingEmbedder
from segviz.retrieval import POLICIES, RELEVANCE
from segviz.ui.pages.sweep.charts import charts_panel, chosen, colour_key
from segviz.ui.pages.sweep.construction import construction_panel
from segviz.ui.pages.sweep.setting import setting_panel
from segviz.ui.settings import read_settings
from segviz.ui.state import AppSession, fingerprint, peek, remember
from segviz.ui.visit import building
from segviz.ui.widgets.captions import counted, spread
from segviz.ui.widgets.charts import sentence_of
from segviz.ui.widgets.export_menu import sweep_export
from segviz.ui.widgets.measures import (
    adversarial_questions,
    at_once,
    countable,
    disputed_choice,
    duration,
    measure_choice,
    recounted_sentence,
)

_SWEEP_WANTED = "sweep-wanted"

SWEEPS_KEPT = 6  # and as many judged: each holds its sweep
SWEPT = [name for name in POLICIES if name != "none"]

# Policies of a usual sweep.
_USUAL = 3


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
    if over == "construction":
        construction_panel(session)
        return
    if not countable(session.conversation.questions):
        st.info(
            "This conversation has no questions with gold evidence or answers, so settings cannot "
            "be compared. The bundled samples, LoCoMo, LongMemEval and RealMem files have them."
        )
        return
    questions = session.conversation.questions
    verdict.markdown(
        f"**{counted(len(questions), 'question')}** under every setting of propagation"
    )
    settings = _settings(session)
    key = fingerprint(session.key, settings, [question.index for question in questions])
    found = _found(session, settings, key)
    if found is None:
        return
    with choices:
        measure, adversarial = measure_choice(session, found)
        disputed = disputed_choice(session)
    judged: Judged = remember(
        "judged",
        fingerprint(key, measure, adversarial, disputed),
        SWEEPS_KEPT,
        lambda: judge(found.counting(disputed=disputed), measure, adversarial=adversarial),
    )
    sentence, more = verdict_sentence(judged), _details(session, judged)
    verdict.markdown(sentence_of(sentence), help=sentence_of(more))
    cell = chosen(judged)
    with st.container(horizontal=True, vertical_alignment="center"):
        colour_key(judged, cell)
        sweep_export(session, found)
    charts_panel(judged, cell)
    setting_panel(session, judged, cell)


def _found(session: AppSession, settings: dict[str, Any], key: str) -> Sweep | None:
    """The sweep, measured at once or on request."""
    place = st.empty()
    found: Sweep | None = peek("sweeps", key)
    if found is None:
        with place.container():
            wanted = _wanted(session, settings, key)
        if not wanted:
            return None
        place.empty()  # what was asked for is not offered again
        found = remember("sweeps", key, SWEEPS_KEPT, lambda: _run(session, settings))
    return found


def _wanted(session: AppSession, settings: dict[str, Any], key: str) -> bool:
    """Offers to measure; returns whether it was asked for, or is done at once."""
    cancelled = st.session_state.get(_SWEEP_WANTED, "") is None
    sweeps = len(settings["policies"]) / _USUAL
    if at_once(session, sweeps) and not cancelled:
        return True
    if st.button("Run the sweep", icon=":material/grid_on:", key="run-sweep"):
        st.session_state[_SWEEP_WANTED] = key
    if st.session_state.get(_SWEEP_WANTED) == key:
        return True
    st.caption(duration(session, sweeps))
    return False


def _settings(session: AppSession) -> dict[str, Any]:
    first, second, third = st.columns([5, 3, 3], gap="medium")
    policies = first.multiselect(
        "Policies",
        SWEPT,
        default=["top-down", "bottom-up", "both"],
        wrap=True,
        key="sweep-policies",
        bind="query-params",
    )
    # Without its embedder a memory's questions can be compared by words alone.
    on_ask = read_settings(session).relevance_for()
    offered = list(dict.fromkeys([*RELEVANCE, on_ask]))
    if isinstance(session.memory.embedder, MissingEmbedder):
        offered = ["lexical"]
    relevance = second.selectbox("Relevance", offered, key="sweep-relevance", bind="query-params")
    k = third.slider("Retrieved K", 1, 30, 10, key="sweep-k", bind="query-params")
    return {"policies": policies or SWEPT[:1], "relevance": relevance, "k": k}


def _run(session: AppSession, settings: dict[str, Any]) -> Sweep:
    place = st.empty()
    with place.container():
        bar = st.progress(0.0, "Sweeping")
        # Any click ends this run at the next report.
        st.button("Cancel", key="cancel-sweep", on_click=_cancel)

    def progress(count: int, total: int) -> None:
        bar.progress(count / total, f"Sweeping: {count} of {total} settings")

    with building(0):
        found = sweep(
            session.memory,
            session.conversation.questions,
            progress=progress,
            **settings,
        )
    place.empty()
    return found


def _cancel() -> None:
    st.session_state[_SWEEP_WANTED] = None


def _details(session: AppSession, judged: Judged) -> str:
    """What stands behind the verdict."""
    best, base = judged.best(), judged.base
    if best is None:
        return ""
    told = (
        f"Over {counted(base.n, 'question')} the highest of {len(judged.moved())} settings is "
        f"{spelled(best.cell)}, relevance {judged.sweep.settings.relevance}: {judged.label} "
        f"{spread(best.mean)} against {spread(base)} without propagation, difference "
        f"{number(best.gain.value, plus=True)} {bounds(best.gain)}."
    )
    if adversarial_questions(session.conversation.questions):
        other = not judged.adversarial
        mean = best.cell.outcomes.mean(judged.measure, adversarial=other)
        none = judged.sweep.baseline.outcomes.value(judged.measure, adversarial=other)
        which = "With" if other else "Without"
        told += f" {which} category 5: {number(mean.value)} against {number(none)}, n = {mean.n}."
    told += recounted_sentence(best.cell.outcomes, judged.measure, judged.adversarial)
    return f"{told} Intervals are 95 % bootstrap, that of the difference for all settings together."
