"""The retrieval settings of a browser session: read from its widgets as one record, and
written to them by links, session files, the canvas and other pages."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.retrieval import RetrievalSettings
from segviz.ui import keys
from segviz.ui.state import Session
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


def read_settings(session: Session) -> RetrievalSettings:
    """Reads what the widgets say; what was never touched is as by default."""
    state, default = st.session_state, RetrievalSettings()
    plain: dict[str, Any] = {
        name: state.get(key, getattr(default, name)) for name, key in _PLAIN.items()
    }
    count = int(session.memory.structure.level.max(initial=0)) + 1
    levels = state.get(keys.levels(count))
    total = len(session.memory.steps)
    step = state.get(keys.asked_step(session.key), total)
    usual = usual_method(session.memory.system)
    own = usual == "own"
    return RetrievalSettings(
        **plain,
        budget=state.get(keys.BUDGET, START_BUDGET) if state.get(keys.BY_BUDGET) else None,
        levels=None if levels is None or len(levels) == count else tuple(levels),
        method=state.get(keys.method(session.memory.system), usual) if own else usual,
        step=None if step == total else step,
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
    """Sets the admissible levels and the moment asked at, as far as this memory has them."""
    state, structure = st.session_state, session.memory.structure
    count = int(structure.level.max(initial=0)) + 1
    key = keys.levels(count)
    if settings.levels is not None or key in state:
        admitted = range(count) if settings.levels is None else settings.levels
        state[key] = [level for level in admitted if level < count]
    key, total = keys.asked_step(session.key), len(session.memory.steps)
    if settings.step is not None or key in state:
        state[key] = total if settings.step is None else min(settings.step, total)
