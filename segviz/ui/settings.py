"""The retrieval settings of a browser session: read from its widgets as one record, and
written to them by links, session files, the canvas and other pages."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.retrieval import RetrievalSettings
from segviz.ui import keys
from segviz.ui.state import Session
from segviz.ui.view_state import picked_question
from segviz.view.bookmark import usual_method
from segviz.view.live import LiveSetting

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


def begin_settings() -> None:
    """Lets every widget of a setting start from the default of ``RetrievalSettings``."""
    default = RetrievalSettings()
    for name, key in _PLAIN.items():
        st.session_state.setdefault(key, getattr(default, name))


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
    state, default = st.session_state, RetrievalSettings()
    plain: dict[str, Any] = {
        name: state.get(key, getattr(default, name)) for name, key in _PLAIN.items()
    }
    count = int(session.memory.structure.level.max(initial=0)) + 1
    levels = state.get(keys.levels(count))
    key, begins = asked_step(session)
    step = state.get(key, begins)
    usual = usual_method(session.memory.system)
    own = usual == "own"
    return RetrievalSettings(
        **plain,
        budget=state.get(keys.BUDGET, START_BUDGET) if state.get(keys.BY_BUDGET) else None,
        levels=None if levels is None or len(levels) == count else tuple(levels),
        method=state.get(keys.method(session.memory.system), usual) if own else usual,
        step=None if step == begins else step,
    )


def write_settings(settings: RetrievalSettings, system: str) -> None:
    """Sets the widgets, all but levels and step, which belong to an open memory: see
    :func:`write_moment`."""
    state = st.session_state
    for name, key in _PLAIN.items():
        state[key] = getattr(settings, name)
    state[keys.BY_BUDGET] = settings.budget is not None
    if settings.budget is not None:
        state[keys.BUDGET] = settings.budget
    state[keys.method(system)] = settings.method


def write_live_setting(setting: LiveSetting) -> None:
    """Sets what the header of the canvas was set to: policy, α and H."""
    state = st.session_state
    state[keys.POLICY], state[keys.ALPHA] = setting.policy, setting.alpha
    state[keys.HORIZON] = setting.horizon
    state[keys.DRAWN] = (setting.drawing, setting.sequence)


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
