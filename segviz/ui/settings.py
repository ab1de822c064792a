"""The retrieval settings of a browser session: read from its widgets as one record, and
written to them by links, session files, the canvas and other pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from segviz.construct import Retriever
from segviz.memory import Absent
from segviz.retrieval import PRESETS, RetrievalSettings
from segviz.ui import keys
from segviz.ui.state import Session
from segviz.ui.view_state import picked_question
from segviz.view.bookmark import opening_settings, usual_method
from segviz.view.look import Live

_PLAIN = {
    "policy": keys.POLICY,
    "alpha": keys.ALPHA,
    "horizon": keys.HORIZON,
    "relevance": keys.RELEVANCE,
    "k": keys.K,
    "literal": keys.LITERAL,
}
"""Fields that are kept as they are, whatever is open, with their entries."""

START_BUDGET = 1_000
"""Tokens a budget begins with."""


OWN, CUSTOM = "the system's own", "custom"
"""What is offered beside the presets: the system's own retrieval where it has one, and the last
setting that was no preset."""


def asked_step(session: Session) -> tuple[str, int]:
    """Returns the entry of the step the chosen question is asked at, and where it begins: at the
    moment of the question, else after the last step."""
    question = picked_question(session)
    moment = session.memory.moment(question) if question else None
    if question is None or moment is None:
        return keys.asked_step(session.key), len(session.memory.steps)
    return keys.asked_step(session.key, question.index), moment


def return_to_moment(session: Session) -> None:
    """Lets a question that has just been picked be asked at its moment, where it has one."""
    key, begins = asked_step(session)
    if key != keys.asked_step(session.key):
        st.session_state[key] = begins


def read_settings(session: Session) -> RetrievalSettings:
    """Reads what the widgets say; what was never touched is as by default. No ``step`` means the
    moment of the question."""
    state, default = st.session_state, opening_settings(session.memory.system)
    plain: dict[str, Any] = {
        name: state.get(key, getattr(default, name)) for name, key in _PLAIN.items()
    }
    count = int(session.memory.structure.level.max(initial=0)) + 1
    levels = state.get(keys.levels(count))
    key, begins = asked_step(session)
    step = state.get(key, begins)
    absent = isinstance(session.memory.embedder, Absent)
    if absent:  # the question cannot be embedded, its words can be compared
        plain["relevance"] = "lexical"
    usual = usual_method(session.memory.system)
    own = isinstance(session.memory.model, Retriever) and not absent
    return RetrievalSettings(
        **plain,
        budget=state.get(keys.BUDGET, START_BUDGET) if state.get(keys.BY_BUDGET) else None,
        levels=None if levels is None or len(levels) == count else tuple(levels),
        method=state.get(keys.method(session.memory.system), usual) if own else "propagate",
        step=None if step == begins else step,
    )


def write_settings(settings: RetrievalSettings, system: str) -> None:
    """Sets the widgets, all but levels and step, which belong to an open memory: see
    :func:`write_moment`."""
    state = st.session_state
    for name, key in _PLAIN.items():
        state[key] = getattr(settings, name)
    if settings.relevance == opening_settings(system).relevance:
        state.pop(keys.RELEVANCE, None)  # another system opens with a relevance of its own
    state[keys.BY_BUDGET] = settings.budget is not None
    if settings.budget is not None:
        state[keys.BUDGET] = settings.budget
    state[keys.method(system)] = settings.method


def preset_options(system: str) -> list[str]:
    """What nodes may be scored by, for memories of a system."""
    own = [OWN] if usual_method(system) == "own" else []
    return [*own, *PRESETS, CUSTOM]


def read_preset(settings: RetrievalSettings) -> str:
    """Tells which of them these settings are; keeps those that are no preset, to go back to."""
    if settings.method == "own":
        return OWN
    if settings.preset is None:
        st.session_state[keys.LAST_CUSTOM] = settings
    return settings.preset or CUSTOM


def write_preset(name: str, session: Session) -> None:
    """Sets the widgets to one of them, with its usual relevance; K and what else is not part of
    a preset stays."""
    settings = read_settings(session)
    if name == OWN:
        settings = replace(settings, method="own", relevance=None)
    elif name == CUSTOM:
        last = st.session_state.get(keys.LAST_CUSTOM, RetrievalSettings())
        settings = settings.scored_as(last)
    else:
        settings = settings.with_preset(name)
    write_settings(settings, session.memory.system)


def write_relevance(name: str, session: Session) -> None:
    """Sets the relevance; the usual one is kept as such, for whatever method is chosen next."""
    usual = replace(read_settings(session), relevance=None).relevance_for(session.memory.model)
    st.session_state[keys.RELEVANCE] = None if name == usual else name


def write_live_setting(live: Live) -> None:
    """Sets what the header of the canvas was set to: policy, α and H."""
    state, settings = st.session_state, live.settings
    state[keys.POLICY], state[keys.ALPHA] = settings.policy, float(settings.alpha)
    state[keys.HORIZON] = int(settings.horizon)
    state[keys.DRAWN] = (live.drawing, live.sequence)


def write_moment(settings: RetrievalSettings, session: Session) -> None:
    """Sets the admissible levels and the step asked at, as far as this memory has them; after
    the question, which may have a moment."""
    state, structure = st.session_state, session.memory.structure
    count = int(structure.level.max(initial=0)) + 1
    key = keys.levels(count)
    if settings.levels is not None or key in state:
        admitted = range(count) if settings.levels is None else settings.levels
        state[key] = [level for level in admitted if level < count]
    key, begins = asked_step(session)
    if settings.step is not None or key in state:
        wanted = begins if settings.step is None else settings.step
        state[key] = min(wanted, len(session.memory.steps))
