"""Measures sweeps of propagation: at once where that is quick, else on request; a click stops it
and loses no setting that is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from segviz.evaluation import Cell, Sweep
from segviz.evaluation.sweep import sweep
from segviz.ui.state import AppSession, fingerprint, peek, remember
from segviz.ui.visit import building
from segviz.ui.widgets.captions import unmarked
from segviz.ui.widgets.measures import at_once, duration

SWEEPS_KEPT = 6  # of all relevances under one K and policies, and as many judged
_PARTS_KEPT = 2

# Policies of a usual sweep.
_USUAL = 3

# The key of what somebody asked to be measured, None once it was stopped.
_WANTED = "sweep-wanted"


def sweep_key(session: AppSession, settings: dict[str, Any]) -> str:
    """Returns the content key of a sweep with these settings."""
    asked = [question.index for question in session.conversation.questions]
    return fingerprint(session.key, settings, asked)


def known_sweep(session: AppSession, settings: dict[str, Any]) -> Sweep | None:
    """Returns a sweep that was measured before."""
    found: Sweep | None = peek("sweeps", sweep_key(session, settings))
    return found


def wanted(
    session: AppSession, settings: dict[str, Any], what: str, label: str, sweeps: int = 1
) -> bool:
    """Offers to measure so many ``sweeps`` by a button with a ``label``; returns whether they were
    asked for, or are done at once, which needs each of them to be quick. ``what`` tells several
    offers on a page apart."""
    key, long = what + sweep_key(session, settings), len(settings["policies"]) / _USUAL
    stopped = st.session_state.get(_WANTED, "") is None
    if at_once(session, long) and not stopped:
        return True
    if st.button(label, icon=":material/grid_on:", key=f"run-{what}"):
        st.session_state[_WANTED] = key
    if st.session_state.get(_WANTED) == key:
        return True
    st.caption(duration(session, long * sweeps))
    return False


def measured(
    session: AppSession, settings: dict[str, Any], progress: Callable[[int, int], None]
) -> Sweep:
    """Returns a sweep, measured now unless it is known. A click ends this run at the next report;
    the settings done by then are not measured again."""
    key = sweep_key(session, settings)
    done: dict[tuple[str, float, int], Cell] = remember("swept-cells", key, _PARTS_KEPT, dict)

    def keep(cell: Cell) -> None:
        done[cell.policy, cell.alpha, cell.horizon] = cell

    def make() -> Sweep:
        questions, known = session.conversation.questions, tuple(done.values())
        with building(0):
            return sweep(
                session.memory, questions, progress=progress, known=known, keep=keep, **settings
            )

    return remember("sweeps", key, SWEEPS_KEPT, make)


def progress_bar(relevance: str) -> Callable[[int, int], None]:
    """Draws the progress of a sweep; returns what moves it."""
    name = unmarked(relevance)
    bar = st.progress(0.0, f"Scoring the questions with {name}")

    def progress(count: int, total: int) -> None:
        bar.progress(count / total, f"Sweeping {name}: {count} of {total} settings")

    return progress


def stop_button(key: str) -> None:
    """Draws the button that stops measuring until somebody asks for it again."""
    st.button("Stop", icon=":material/stop:", key=key, on_click=_stop)


def _stop() -> None:
    st.session_state[_WANTED] = None
