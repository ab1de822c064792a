"""Page Sweep: all settings of propagation, or of a construction parameter, over all questions."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.evaluation import Sweep
from segviz.figures.significance import Judged, estimate, judge, number, spelled
from segviz.figures.sweep import (
    reason_sentence,
    relevances_sentence,
    tried_sentence,
    verdict_sentence,
)
from segviz.memory import MissingEmbedder
from segviz.retrieval import OPENING, POLICIES, PRESETS, RELEVANCE
from segviz.ui.pages.sweep.charts import charts_panel, chosen, colour_key
from segviz.ui.pages.sweep.construction import construction_panel
from segviz.ui.pages.sweep.measuring import (
    SWEEPS_KEPT,
    known_sweep,
    measured,
    progress_bar,
    stop_button,
    sweep_key,
    wanted,
)
from segviz.ui.pages.sweep.relevances import (
    RELEVANCE_KEY,
    measure_missing,
    relevances_row,
)
from segviz.ui.pages.sweep.setting import setting_panel
from segviz.ui.settings import read_settings
from segviz.ui.state import AppSession, fingerprint, remember
from segviz.ui.widgets.captions import counted, spread
from segviz.ui.widgets.charts import sentence_of
from segviz.ui.widgets.export_menu import sweep_export
from segviz.ui.widgets.measures import (
    adversarial_questions,
    countable,
    disputed_choice,
    measure_choice,
    recounted_sentence,
)

SWEPT = [name for name in POLICIES if name != "none"]


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
            "A sweep needs questions with gold evidence or answers. This conversation has none. "
            "The bundled samples, LoCoMo, LongMemEval and RealMem files have them."
        )
        return
    questions = session.conversation.questions
    verdict.markdown(
        f"**{counted(len(questions), 'question')}** under every setting of propagation"
    )
    offered = _relevances(session)
    settings = _settings(offered)
    found = _found(session, settings)
    if found is None:
        return
    with choices:
        measure, adversarial = measure_choice(session, found)
        disputed = disputed_choice(session)

    def judged_by(one: Sweep) -> Judged:
        key = sweep_key(session, settings | {"relevance": one.settings.relevance})
        return remember(
            "judged",
            fingerprint(key, measure, adversarial, disputed, len(offered)),
            SWEEPS_KEPT,
            lambda: judge(
                one.counting(disputed=disputed),
                measure,
                adversarial=adversarial,
                sweeps=len(offered),
            ),
        )

    judged = judged_by(found)
    sweeps = {name: known_sweep(session, settings | {"relevance": name}) for name in offered}
    known = {name: judged_by(one) for name, one in sweeps.items() if one is not None}

    def draw_verdict() -> None:
        others = {name: one for name, one in known.items() if name != settings["relevance"]}
        with verdict.container(gap="xsmall"):
            more = sentence_of(_details(session, judged))
            st.markdown(sentence_of(verdict_sentence(judged)), help=more)
            why = f"{reason_sentence(judged)} {relevances_sentence(judged, others)}"
            st.caption(sentence_of(why))

    draw_verdict()
    places, offer = relevances_row(offered, known, settings["relevance"])
    cell = chosen(judged)
    colour_key(judged, cell)
    charts_panel(judged, cell)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(sentence_of(tried_sentence(judged)), width="stretch")
        sweep_export(session, found)
    setting_panel(session, judged, cell)
    measure_missing(session, settings, places, offer, known, judged_by, draw_verdict)


def _found(session: AppSession, settings: dict[str, Any]) -> Sweep | None:
    """Returns the sweep, measured immediately or on request."""
    found = known_sweep(session, settings)
    if found is not None:
        return found
    place = st.empty()
    with place.container():
        if not wanted(session, settings, "sweep", "Run the sweep"):
            return None
    place.empty()  # the progress bar replaces the button
    with place.container():
        progress = progress_bar(settings["relevance"])
        stop_button("stop-sweep")
    found = measured(session, settings, progress)
    place.empty()
    return found


def _relevances(session: AppSession) -> list[str]:
    """Returns the relevances to measure: the registered ones, and the one chosen on Ask.

    Without the embedder of the memory only the lexical one works.
    """
    if isinstance(session.memory.embedder, MissingEmbedder):
        return ["lexical"]
    return list(dict.fromkeys([*RELEVANCE, read_settings(session).relevance_for()]))


def _settings(offered: list[str]) -> dict[str, Any]:
    first, second, third = st.columns([5, 3, 3], gap="medium")
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
    return {"policies": policies or SWEPT[:1], "relevance": relevance, "k": k}


def _details(session: AppSession, judged: Judged) -> str:
    """Returns the numbers behind the verdict, for its hover text."""
    best, base = judged.best(), judged.base
    if best is None:
        return ""
    text = (
        f"Over {counted(base.n, 'question')} the best of {len(judged.moved())} settings is "
        f"{spelled(best.cell)}, relevance {judged.sweep.settings.relevance}. Its {judged.label} "
        f"is {spread(best.mean)}, without propagation {spread(base)}. The difference is "
        f"{estimate(best.gain, plus=True)}."
    )
    if adversarial_questions(session.conversation.questions):
        other = not judged.adversarial
        mean = best.cell.outcomes.mean(judged.measure, adversarial=other)
        none = judged.sweep.baseline.outcomes.value(judged.measure, adversarial=other)
        which = "With" if other else "Without"
        text += f" {which} category 5: {number(mean.value)} against {number(none)}, n = {mean.n}."
    return text + recounted_sentence(best.cell.outcomes, judged.measure, judged.adversarial)
