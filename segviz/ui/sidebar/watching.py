"""Watches the file that ``segviz watch`` names.

A thread grows one tree for all browser sessions; each session holds the memory it displays.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from threading import Event, Thread

import streamlit as st

from segviz.conversation import Corpus, LoadReport
from segviz.memory import Memory, Watched
from segviz.ui import keys, security
from segviz.ui.state import AppSession, fingerprint
from segviz.ui.widgets.captions import counted, trouble

PAUSE = 0.1
"""Seconds between two reads of the file."""

TICK = 0.3
"""Seconds between two redraws."""

_FRESH = 2.0
"""Seconds for which a fetched tree counts as the newest, while Grow follows the file."""


class Keeper:
    """Thread that grows a tree with its file until it is ``stopped``.

    ``problem`` is the error that prevents this, "" without one.
    """

    def __init__(self, path: str) -> None:
        """Starts the thread."""
        self.watched = Watched(path)
        self.problem = ""
        self.stopped = Event()
        Thread(target=self._run, name="segviz-watch", daemon=True).start()

    def _run(self) -> None:
        """Reads what was added to the file, again and again."""
        while not self.stopped.is_set():
            try:
                taken = self.watched.poll()
                self.problem = ""
            except OSError as error:
                taken, self.problem = 0, str(error)
            if not taken:
                self.stopped.wait(PAUSE)


@st.cache_resource(show_spinner=False)
def _keeper(path: str) -> Keeper:
    return Keeper(path)


def keeper() -> Keeper:
    """Returns the keeper of the server's watched file."""
    return _keeper(os.environ[security.WATCH])


@dataclass(frozen=True, eq=False)
class ShownTree:
    """Tree that a session displays: its reading of the file, its turns, and when it was fetched.

    The time is in monotonic seconds.
    """

    reading: int
    memory: Memory
    turns: int
    at: float

    @property
    def session(self) -> AppSession:
        """The session for the pages; its key changes as the memory grows."""
        watched, conversation = keeper().watched, self.memory.conversation
        source = fingerprint(str(watched.path), self.reading)
        report = LoadReport(watched.path.name, "watched", len(conversation.turns))
        grown = fingerprint(source, len(self.memory.steps))
        corpus = Corpus((conversation,), report)
        return AppSession(grown, source, corpus, conversation, self.memory, live=True)


def newest() -> ShownTree | None:
    """Fetches the newest tree; returns None before the first turn."""
    reading, turns, memory = keeper().watched.now()
    if memory is not None:
        st.session_state[keys.HELD] = ShownTree(reading, memory, turns, time.monotonic())
    return _shown()


def _shown() -> ShownTree | None:
    tree: ShownTree | None = st.session_state.get(keys.HELD)
    return tree


def following() -> bool:
    """Returns True if Grow shows new turns as they come."""
    return bool(st.session_state.get(keys.FOLLOWING, True))


def look_back() -> None:
    """Stops following, so that the user can step through the tree shown."""
    st.session_state[keys.FOLLOWING] = False


def watch_panel() -> AppSession | None:
    """Draws how far the watched file is read; returns its session, None before the first turn."""
    st.subheader("Conversation")
    shown = _shown() or newest()
    _status()
    return None if shown is None else shown.session


@st.fragment(run_every=1.0)
def _status() -> None:
    """Draws how many turns are read, and a button for those that are not shown yet."""
    now, shown = keeper(), _shown()
    watched = now.watched
    st.text(f"Watching {watched.path.name}")
    if now.problem:
        trouble("The file cannot be read at the moment.", now.problem, st.warning)
    if shown is None:
        st.caption("Waiting for the first turn.")
        if watched.turns:
            st.rerun()
        return
    left = f", {counted(watched.skipped, 'line')} without a message" if watched.skipped else ""
    st.caption(f"{counted(watched.turns, 'turn')} so far{left}")
    if watched.readings > 1:
        st.caption(
            "Lines already read have changed, so the file was read again from the start "
            f"({counted(watched.readings - 1, 'time')} so far)."
        )
    # New turns of the last moment are not worth a button: Grow may be fetching them.
    outdated, behind = watched.readings > shown.reading, watched.turns - shown.turns
    if (outdated or behind) and time.monotonic() - shown.at > _FRESH:
        st.caption(
            "The tree shows the file before it changed"
            if outdated
            else f"{counted(behind, 'newer turn')} not shown yet"
        )
        if st.button("Show the newest turns", key=keys.FOLLOW):
            st.session_state[keys.FOLLOWING] = True
            newest()
            st.rerun()
