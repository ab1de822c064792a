"""Page Sweep: every setting over all questions of the conversation, or one of construction."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.evaluate import Cell, Sweep, sweep
from segviz.figures.judged import Judged, bounds, judge, number
from segviz.memory import Absent
from segviz.retrieval import POLICIES, RELEVANCE
from segviz.ui import keys
from segviz.ui.pages.sweep.charts import charts_panel
from segviz.ui.pages.sweep.construction import construction_panel
from segviz.ui.pages.sweep.setting import atlas_panel, nodes_panel, setting_panel
from segviz.ui.settings import read_settings
from segviz.ui.state import Session, fingerprint, peek, remember
from segviz.ui.widgets.captions import counted, spread
from segviz.ui.widgets.export_menu import sweep_export
from segviz.ui.widgets.measures import (
    adversarial_questions,
    at_once,
    countable,
    duration,
    measure_choice,
    measured,
    slice_choice,
)

SWEEPS_KEPT = 6  # and as many judged: each holds its sweep
SWEPT = [name for name in POLICIES if name != "none"]

# Policies of a usual sweep.
_USUAL = 3


def render(session: Session) -> None:
    """Draws the page."""
    over = st.segmented_control(
        "Sweep over",
        ["propagation", "construction"],
        default="propagation",
        required=True,
        key="swept-over",
        persist_state="session",
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
    slice_choice(session)
    questions = measured(session)
    st.markdown(f"**{counted(len(questions), 'question')}** under every setting of propagation")
    settings = _settings(session)
    key = fingerprint(session.key, settings, [question.index for question in questions])
    _sweep(session, settings, key)


def _sweep(session: Session, settings: dict[str, Any], key: str) -> None:
    place = st.empty()
    found: Sweep | None = peek(keys.SWEEPS, key)
    if found is None:
        with place.container():
            wanted = _wanted(session, settings, key)
        if not wanted:
            return
        place.empty()  # what was asked for is not offered again
        found = remember(keys.SWEEPS, key, SWEEPS_KEPT, lambda: _run(session, settings, key))
    measure, adversarial = measure_choice(session, found)
    judged: Judged = remember(
        "judged",
        fingerprint(key, measure, adversarial),
        SWEEPS_KEPT,
        lambda: judge(found, measure, adversarial=adversarial),
    )
    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
        st.markdown(_best(session, judged), width="stretch")
        sweep_export(session, judged.sweep)
    charts_panel(session, judged)
    atlas_panel(session, judged)
    setting_panel(session, judged)
    nodes_panel(session, judged)


def _wanted(session: Session, settings: dict[str, Any], key: str) -> bool:
    """Offers to measure; returns whether it was asked for, or is done at once."""
    cancelled = st.session_state.get(keys.SWEEP_WANTED, "") is None
    sweeps = len(settings["policies"]) / _USUAL
    if at_once(session, sweeps) and not cancelled:
        return True
    done = _measured_so_far(key)
    label = f"Resume the sweep, {len(done)} settings are done" if done else "Run the sweep"
    if st.button(label, icon=":material/grid_on:", key="run-sweep"):
        st.session_state[keys.SWEEP_WANTED] = key
    if st.session_state.get(keys.SWEEP_WANTED) == key:
        return True
    st.caption(duration(session, sweeps))
    return False


def _measured_so_far(key: str) -> dict[tuple[str, float, int], Cell]:
    """Returns the cells of a sweep that was cut short, by their setting; editable."""
    cells: dict[tuple[str, float, int], Cell] = remember("sweep-cells", key, SWEEPS_KEPT, dict)
    return cells


def _settings(session: Session) -> dict[str, Any]:
    first, second, third = st.columns([5, 3, 3], gap="medium")
    policies = first.multiselect(
        "Policies",
        SWEPT,
        default=["top-down", "bottom-up", "both"],
        key="sweep-policies",
        persist_state="session",
        wrap=True,
    )
    # Without its embedder a memory's questions can be compared by words alone.
    on_ask = read_settings(session).relevance_for()
    offered = list(dict.fromkeys([*RELEVANCE, on_ask]))
    if isinstance(session.memory.embedder, Absent):
        offered = ["lexical"]
    relevance = second.selectbox(
        "Relevance", offered, key="sweep-relevance", persist_state="session"
    )
    k = third.slider("Retrieved K", 1, 30, 10, key="sweep-k", persist_state="session")
    return {"policies": policies or SWEPT[:1], "relevance": relevance, "k": k}


def _run(session: Session, settings: dict[str, Any], key: str) -> Sweep:
    done = _measured_so_far(key)
    place = st.empty()
    with place.container():
        bar = st.progress(0.0, "Sweeping")
        # Any click ends this run at the next report; what was measured by then is kept.
        st.button("Cancel", key="cancel-sweep", on_click=_cancel)

    def keep(cell: Cell) -> None:
        done[cell.policy, cell.alpha, cell.horizon] = cell

    def progress(count: int, total: int) -> None:
        bar.progress(count / total, f"Sweeping: {count} of {total} settings")

    found = sweep(
        session.memory,
        measured(session),
        progress=progress,
        known=tuple(done.values()),
        keep=keep,
        **settings,
    )
    place.empty()
    return found


def _cancel() -> None:
    st.session_state[keys.SWEEP_WANTED] = None


def _best(session: Session, judged: Judged) -> str:
    best = judged.best()
    if best is None:
        return f"No question counts for {judged.label}, or no policy here shows in it."
    name, base, moved = judged.label, judged.base, judged.moved()
    over = f"over {counted(base.n, 'question')}"
    if not best.cell.moves:
        told = f"No setting has a higher mean than no propagation: {name} **{spread(base)}** {over}"
    else:
        better = any(one.sign > 0 for one in moved)
        told = "" if better else "No setting is better than no propagation as far as can be told. "
        told += (
            f"Highest of {len(moved)} settings: **{best.cell.policy}**, α {best.cell.alpha:g}, "
            f"H {best.cell.horizon}, relevance {judged.sweep.settings.relevance}: {name} "
            f"**{spread(best.mean)}** against {spread(base)} without propagation, difference "
            f"{number(best.gain.value, plus=True)} {bounds(best.gain)} {over}"
        )
    tricky = adversarial_questions(measured(session))
    if tricky:
        other = not judged.adversarial
        mean = best.cell.outcomes.mean(judged.measure, adversarial=other)
        none = judged.sweep.baseline.outcomes.value(judged.measure, adversarial=other)
        which = "With" if other else "Without"
        told += f". {which} category 5: {number(mean.value)} against {number(none)}, n = {mean.n}"
    return f"{told}. Intervals are 95 % bootstrap; the highest of many flatters itself."
