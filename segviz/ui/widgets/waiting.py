"""Says what a wait is for, and lets the user stop it.

Streamlit ends a run only when the run draws something. So long work runs in a thread
(``waited_for``), and the run redraws the note meanwhile. After a click the run ends at once; the
thread finishes unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

import streamlit as st

from segviz.ui.state import keep, peek
from segviz.ui.widgets.captions import unmarked
from segviz.waiting import heartbeat, waited_for

T = TypeVar("T")

SILENT = 0.5
"""Seconds after which a wait gets a note."""


@contextmanager
def waiting(
    what: str | Callable[[], str], key: str, stop: Callable[[], None] | None = None
) -> Iterator[None]:
    """Draws a note and a Stop button once ``waited_for`` or a model takes longer than ``SILENT``.

    Args:
        what: text of the note, or a function that returns it.
        key: key of the button.
        stop: called after a click on the button. Without it the button only ends the run.
    """
    place, began = st.empty(), monotonic()
    note = None

    def beat() -> None:
        nonlocal note
        seconds = monotonic() - began
        if seconds < SILENT:
            return
        if note is None:
            with place.container(horizontal=True, vertical_alignment="center"):
                note = st.empty()
                st.button("Stop", icon=":material/stop:", key=key, on_click=stop)
        said = what if isinstance(what, str) else what()
        note.caption(f"{unmarked(said)} … {seconds:.0f} s", width="content")

    with heartbeat(beat):
        yield
    place.empty()


def computed(name: str, key: str, kept: int, what: str, work: Callable[[], T]) -> T | None:
    """Returns the value stored under ``key``, or computes it in a thread.

    ``name``, ``key`` and ``kept`` are as in ``remember``; ``what`` says what is computed. After
    Stop it returns None and draws a button that computes the value after all.
    """
    known: T | None = peek(name, key)
    if known is not None:
        return known
    state, stopped = st.session_state, f"stopped-{name}"

    def set_stopped(value: str | None) -> None:
        state[stopped] = value

    if state.get(stopped) == key:
        st.button(what, key=f"again-{name}", on_click=set_stopped, args=(None,))
        return None
    # One run may compute several values of one name.
    with waiting(what, f"stop-{name}-{key}", lambda: set_stopped(key)):
        return keep(name, key, kept, waited_for(work))
