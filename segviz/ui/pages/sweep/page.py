"""Page Sweep: every setting over all questions of the conversation."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.evaluate import Cell, Sweep, sweep
from segviz.retrieval import POLICIES, RELEVANCE
from segviz.ui import keys
from segviz.ui.pages.sweep.charts import charts_panel
from segviz.ui.pages.sweep.permutation import permutation_panel
from segviz.ui.pages.sweep.setting import setting_panel
from segviz.ui.state import Session, fingerprint, peek, remember
from segviz.ui.widgets.captions import spread
from segviz.ui.widgets.export_menu import sweep_export

SWEEPS_KEPT = 6
SWEPT = [name for name in POLICIES if name != "none"]


def render(session: Session) -> None:
    """Draws the page."""
    counted = [q for q in session.conversation.questions if q.evidence]
    if not counted:
        st.info(
            "This conversation has no questions with gold evidence, so settings cannot be "
            "compared. The bundled samples, LoCoMo, LongMemEval and RealMem files have them."
        )
        return
    st.markdown(
        f"**Evidence recall** of {len(counted)} questions under every setting",
        help=(
            "A question's gold leaves are those that hold its evidence turns; the K best "
            "leaves are retrieved; recall is gold leaves returned / gold leaves, averaged over "
            "all questions with evidence."
        ),
    )
    settings = _settings()
    key = fingerprint(session.key, settings)
    _sweep(session, settings, key)
    permutation_panel(session, settings["relevance"], settings["k"])


def _sweep(session: Session, settings: dict[str, Any], key: str) -> None:
    place = st.empty()
    found: Sweep | None = peek(keys.SWEEPS, key)
    if found is None:
        with place.container():
            wanted = _wanted(key)
        if not wanted:
            return
        place.empty()  # what was asked for is not offered again
        found = remember(keys.SWEEPS, key, SWEEPS_KEPT, lambda: _run(session, settings, key))
    _overview(session, found)
    charts_panel(session, found)
    setting_panel(session, found)


def _wanted(key: str) -> bool:
    """Offers to measure; returns whether it was asked for."""
    done = _measured_so_far(key)
    label = f"Resume the sweep, {len(done)} settings are done" if done else "Run the sweep"
    if st.button(label, icon=":material/grid_on:", key=keys.RUN_SWEEP):
        st.session_state[keys.SWEEP_WANTED] = key
    if st.session_state.get(keys.SWEEP_WANTED) == key:
        return True
    st.caption("One run takes a second or two for a few hundred questions.")
    return False


def _measured_so_far(key: str) -> dict[tuple[str, float, int], Cell]:
    """Returns the cells of a sweep that was cut short, by their setting; editable."""
    cells: dict[tuple[str, float, int], Cell] = remember(keys.SWEEP_CELLS, key, SWEEPS_KEPT, dict)
    return cells


def _settings() -> dict[str, Any]:
    first, second, third = st.columns([5, 3, 3], gap="medium")
    policies = first.multiselect(
        "Policies",
        SWEPT,
        default=["top-down", "bottom-up", "both"],
        key=keys.SWEEP_POLICIES,
        persist_state="session",
        wrap=True,
    )
    relevance = second.selectbox(
        "Relevance", list(RELEVANCE), key=keys.SWEEP_RELEVANCE, persist_state="session"
    )
    k = third.slider("Retrieved K", 1, 30, 10, key=keys.SWEEP_K, persist_state="session")
    return {"policies": policies or SWEPT[:1], "relevance": relevance, "k": k}


def _run(session: Session, settings: dict[str, Any], key: str) -> Sweep:
    done = _measured_so_far(key)
    place = st.empty()
    with place.container():
        bar = st.progress(0.0, "Sweeping")
        # Any click ends this run at the next report; what was measured by then is kept.
        st.button("Cancel", key=keys.CANCEL_SWEEP, on_click=_cancel)

    def keep(cell: Cell) -> None:
        done[cell.policy, cell.alpha, cell.horizon] = cell

    def progress(count: int, total: int) -> None:
        bar.progress(count / total, f"Sweeping: {count} of {total} settings")

    found = sweep(
        session.memory,
        session.conversation.questions,
        progress=progress,
        known=tuple(done.values()),
        keep=keep,
        **settings,
    )
    place.empty()
    return found


def _cancel() -> None:
    st.session_state[keys.SWEEP_WANTED] = None


def _overview(session: Session, found: Sweep) -> None:
    best = found.best()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"Best: **{best.policy}**, α {best.alpha:g}, H {best.horizon}, relevance "
            f"{found.relevance}: "
            f"recall@{found.k} **{spread(best.recall)}** against {spread(found.baseline.recall)} "
            "without propagation (95 % bootstrap intervals).",
            width="stretch",
        )
        sweep_export(session, found)
