"""Measures sweeps of propagation: a short one immediately, a long one on request.

Any click stops the run. Finished settings are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from segviz.evaluation import Cell, Sweep
from segviz.evaluation.sweep import sweep
from segviz.ui.state import AppSession, fingerprint, peek, remember
from segviz.ui.visit import building
from segviz.ui.widgets.captions import unmarked
from segviz.ui.widgets.measures import at_once, duration
from segviz.waiting import check_cancelled, heartbeat, waited_for

SWEEPS_KEPT = 6  # one for each relevance, with the same K and policies
_PARTS_KEPT = 2

# Policies of a usual sweep.
_USUAL = 3

# Key of the requested measurement; None after it was stopped.
_WANTED = "sweep-wanted"


def sweep_key(session: AppSession, settings: dict[str, Any]) -> str:
    """Returns the content key of a sweep with these settings."""
    asked = [question.index for question in session.conversation.questions]
    return fingerprint(session.key, settings, asked)


def known_sweep(session: AppSession, settings: dict[str, Any]) -> Sweep | None:
    """Returns a sweep that was measured before, or None."""
    found: Sweep | None = peek("sweeps", sweep_key(session, settings))
    return found


def wanted(
    session: AppSession, settings: dict[str, Any], what: str, label: str, sweeps: int = 1
) -> bool:
    """Draws a button with a ``label`` that requests a measurement, unless each sweep is short.

    Args:
        session: the open memory.
        settings: settings of the sweep.
        what: prefix of the button's key, unique on the page.
        label: text of the button.
        sweeps: number of sweeps, for the expected duration.

    Returns:
        True if the measurement was requested or is short.
    """
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
    """Returns a sweep, measured now unless it is known.

    A click ends this run; finished settings are kept.
    """
    key = sweep_key(session, settings)
    done: dict[tuple[str, float, int], Cell] = remember("swept-cells", key, _PARTS_KEPT, dict)

    def keep(cell: Cell) -> None:
        done[cell.policy, cell.alpha, cell.horizon] = cell

    counted = (0, 0)

    def note(count: int, total: int) -> None:
        nonlocal counted
        check_cancelled()
        counted = count, total

    def make() -> Sweep:
        questions, known = session.conversation.questions, tuple(done.values())
        work = partial(
            sweep, session.memory, questions, progress=note, known=known, keep=keep, **settings
        )
        with building(0), heartbeat(lambda: progress(*counted)):
            return waited_for(work)

    return remember("sweeps", key, SWEEPS_KEPT, make)


def progress_bar(relevance: str) -> Callable[[int, int], None]:
    """Draws the progress bar of a sweep; returns the function that updates it."""
    name = unmarked(relevance)
    bar = st.empty()

    def progress(count: int, total: int) -> None:
        if total:
            bar.progress(count / total, f"Sweeping {name}: {count} of {total} settings")
        else:
            bar.progress(0.0, f"Scoring the questions with {name}")

    progress(0, 0)
    return progress


def stop_button(key: str) -> None:
    """Draws the button that stops measuring until the next request."""
    st.button("Stop", icon=":material/stop:", key=key, on_click=_stop)


def _stop() -> None:
    st.session_state[_WANTED] = None
