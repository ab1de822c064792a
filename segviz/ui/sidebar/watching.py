"""Watches the file that ``segviz watch`` names: one tree for all browser sessions, grown by a
thread of its own, of which every session holds the memory it looks at."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from threading import Event, Thread

import streamlit as st

from segviz.conversation import Corpus, LoadReport
from segviz.memory import Memory, Watched
from segviz.ui import keys, rim
from segviz.ui.state import Session, fingerprint
from segviz.ui.widgets.captions import counted, trouble

PAUSE = 0.1
"""Seconds between two looks at the file."""

TICK = 0.3
"""Seconds between two pictures of it."""

_IDLE = 3.0
"""Seconds of silence after which the state is written."""

_FRESH = 2.0
"""Seconds for which what was taken up is what is newest, to someone who follows."""


class Keeper:
    """Grows a tree as its file does until it is ``stopped``; ``problem`` says what keeps it from
    that, "" if nothing."""

    def __init__(self, path: str, folder: str | None) -> None:
        """Begins at once. ValueError for a state that cannot be used."""
        self.watched = Watched(path, folder)
        self.problem = ""
        self.stopped = Event()
        Thread(target=self._run, name="segviz-watch", daemon=True).start()

    def _run(self) -> None:
        quiet = 0.0
        while not self.stopped.is_set():
            try:
                taken = self.watched.poll()
                quiet = 0.0 if taken else quiet + PAUSE
                if self.watched.unsaved and quiet > _IDLE:
                    self.watched.save()
                self.problem = ""
            except OSError as error:
                taken, self.problem = 0, str(error)
            if not taken:
                self.stopped.wait(PAUSE)
        self.watched.close()


@st.cache_resource(show_spinner=False)
def _keeper(path: str, folder: str | None) -> Keeper:
    return Keeper(path, folder)


def keeper() -> Keeper:
    """The keeper of the file the server was told to watch. ValueError as for Watched."""
    return _keeper(os.environ[rim.WATCH], os.environ.get(rim.STATE))


@dataclass(frozen=True, eq=False)
class Held:
    """What a session looks at: a part of the conversation, the turns taken in by then, ever, and
    when it was taken up (monotonic seconds)."""

    part: int
    memory: Memory
    turns: int
    at: float

    @property
    def session(self) -> Session:
        """As pages take it; the key says how far the memory has grown."""
        watched, conversation = keeper().watched, self.memory.conversation
        source = fingerprint(str(watched.path), self.part)
        report = LoadReport(watched.path.name, "watched", len(conversation.turns))
        grown = fingerprint(source, len(self.memory.steps))
        corpus = Corpus((conversation,), report)
        return Session(grown, source, corpus, conversation, self.memory, live=True)


def newest() -> Held | None:
    """Takes up what is newest; None before the first turn."""
    part, turns, memory = keeper().watched.now()
    if memory is not None:
        st.session_state[keys.HELD] = Held(part, memory, turns, time.monotonic())
    return _held()


def _held() -> Held | None:
    found: Held | None = st.session_state.get(keys.HELD)
    return found


def following() -> bool:
    """Whether Grow shows what is newest, as it comes."""
    return bool(st.session_state.get(keys.FOLLOWING, True))


def look_back() -> None:
    """Keeps what is shown, to step through it."""
    st.session_state[keys.FOLLOWING] = False


def watch_panel() -> Session | None:
    """Draws what is watched; None until there is a turn."""
    st.subheader("Conversation")
    try:
        found = _held() or newest()
    except ValueError as error:
        trouble("This file cannot be watched.", error)
        return None
    _status()
    return None if found is None else found.session


@st.fragment(run_every=1.0)
def _status() -> None:
    """How far the file is, and how far behind it this session."""
    now, found = keeper(), _held()
    watched = now.watched
    st.text(f"Watching {watched.path.name}")
    if now.problem:
        trouble("The file cannot be followed at the moment.", now.problem, st.warning)
    if found is None:
        st.caption("Waiting for the first turn.")
        if watched.turns:
            st.rerun()
        return
    left = f", {counted(watched.skipped, 'line')} without a message" if watched.skipped else ""
    st.caption(f"{counted(watched.turns, 'turn')} so far{left}")
    if watched.part > 1:
        st.caption(f"Part {watched.part} is growing. The parts before open like any memory:")
        st.text(str(watched.folder))
    behind = watched.turns - found.turns
    if behind and time.monotonic() - found.at > _FRESH:
        st.caption(f"{counted(behind, 'turn')} newer than what is shown")
        if st.button("Show what is newest", key=keys.FOLLOW):
            st.session_state[keys.FOLLOWING] = True
            newest()
            st.rerun()
