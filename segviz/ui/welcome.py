"""Welcome bar with one sentence and four buttons, and the question on which Ask opens."""

from __future__ import annotations

import streamlit as st

from segviz.evaluation.evaluation import rescue
from segviz.ui import keys
from segviz.ui.address import write_step
from segviz.ui.settings import read_question, read_settings, write_question, write_settings
from segviz.ui.sidebar.source import open_your_own
from segviz.ui.state import AppSession
from segviz.ui.widgets import canvas, captions, measures, tour, waiting
from segviz.view.bookmark import opening_settings
from segviz.waiting import waited_for

DOORS = {
    "grow": "Watch it grow",
    "ask": "Ask it something",
    "tour": "Take the tour",
    "open": "Open your own",
}


def welcome(session: AppSession) -> None:
    """Draws the welcome bar, until it is dismissed in this browser."""

    def enter(door: object) -> None:
        match door:
            case "grow":
                write_step(session, 1)
                st.session_state.update({keys.PLAYING: session.key, keys.SPEED: "10×"})
            case "ask":
                st.session_state[keys.PAGE_WANTED] = "ask"
            case "tour":
                tour.begin_tour(session)
            case "open":
                st.session_state["open-own"] = True

    turns = captions.counted(len(session.conversation.turns), "turn")
    nodes = captions.counted(int(session.memory.structure.collapsed.active.sum()), "memory node")
    people = session.conversation.speakers
    whose = f" of {people[0]} and {people[1]}" if len(people) == 2 else ""
    what = (
        "shows how a conversation becomes a memory tree, and why a question gets its evidence. "
        f"Here {turns}{whose} became {nodes}."
    )
    canvas.part(
        "welcome", key="welcome", data={"what": what, "doors": tuple(DOORS.items())}, door=enter
    )
    if st.session_state.pop("open-own", False):
        open_your_own()


def begin_ask(session: AppSession) -> None:
    """Opens Ask on the question that gains most by propagation, if none is chosen.

    It does so only if measuring is short. Ask then shows how many questions the setting wins and
    loses.
    """
    untouched = read_question(session) == (None, None)
    if not untouched or not session.conversation.questions or not measures.at_once(session):
        return
    settings = read_settings(session)
    if settings != opening_settings(session.memory.system):
        return  # a link has a setting of its own
    with waiting.waiting(
        "Looking for the question that gains most",
        "stop-rescue",
        lambda: write_question(session, 0),
    ):
        best = waited_for(lambda: rescue(session.memory, session.conversation.questions))
    if best is not None:
        node = session.selected  # of a link, or chosen on another page
        write_question(session, best.place)
        session.select(node)
        write_settings(session, settings.ranked_as(best.settings))
        st.session_state[keys.RESCUED] = session.source, best, read_settings(session)
