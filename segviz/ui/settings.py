"""What is asked in a browser session: the question, and the retrieval settings as one record.

Ask shows both in widgets and in the header of the canvas; links, session files and other pages set
them with these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from segviz.construct import Retriever
from segviz.conversation import Question
from segviz.memory import MissingEmbedder
from segviz.retrieval import PRESETS, RetrievalSettings
from segviz.ui import keys
from segviz.ui.state import AppSession, shows
from segviz.view.bookmark import opening_settings, usual_method
from segviz.view.coloring import Live

# --- the question ----------------------------------------------------------------------


def read_question(session: AppSession) -> tuple[int | None, str | None]:
    """Returns the index of the data set's question that was chosen, or one's own text. Both belong
    to the conversation, whatever memory is built of it."""
    index, text = st.session_state.get(f"question-{session.source}", (None, None))
    if text is not None or not session.conversation.questions:
        return None, text
    return index, None


def picked_question(session: AppSession) -> Question | None:
    """Returns the data set's question that is asked; None for one's own."""
    index, text = read_question(session)
    questions = session.conversation.questions
    return None if text is not None or not questions else questions[index or 0]


def asked_question(session: AppSession) -> Question:
    """Returns the question that is asked: the data set's, or one's own with index -1, without text
    where none is typed."""
    _, text = read_question(session)
    return picked_question(session) or Question(-1, text or "", None, None, ())


def write_question(session: AppSession, index: int | None, text: str | None = None) -> None:
    """Asks a question of one's own where there is a ``text``, else one of the data set's; without
    either, or where there is none of that index, none has been chosen. A step that was chosen holds
    until a question has a moment."""
    state, count = st.session_state, len(session.conversation.questions)
    before = asked_from(session)
    own = text if text and text.strip() else None
    known = None if index is None or index >= count or own else index
    state[f"question-{session.source}"] = known, own
    state.pop(keys.RESCUED, None)
    if min(before, asked_from(session)) < len(session.memory.steps):
        change_settings(session, step=None)


def asked_from(session: AppSession) -> int:
    """Returns the step the question is asked at by itself: that of its moment, else the last."""
    question = picked_question(session)
    moment = session.memory.moment(question) if question else None
    return len(session.memory.steps) if moment is None else moment


# --- the settings ----------------------------------------------------------------------


def read_settings(session: AppSession) -> RetrievalSettings:
    """Returns the settings in force, as far as this memory has what they name. Another system keeps
    them, but for its usual method and relevance; another memory, but for levels and step. No
    ``step`` means the moment of the question."""
    memory = session.memory
    opening = opening_settings(memory.system)
    unset = (memory.system, session.key, opening)
    kept: tuple[str, str, RetrievalSettings] = st.session_state.get(keys.SETTINGS, unset)
    system, key, settings = kept
    if system != memory.system:
        as_opened = settings.relevance == opening_settings(system).relevance
        relevance = opening.relevance if as_opened else settings.relevance
        settings = replace(settings, method=opening.method, relevance=relevance)
    if key != session.key:
        settings = replace(settings, levels=None, step=None)
    if isinstance(memory.embedder, MissingEmbedder):  # the question's words can be compared
        settings = replace(settings, method="propagate", relevance="lexical")
    if not isinstance(memory.model, Retriever):
        settings = replace(settings, method="propagate")
    return settings


def write_settings(
    session: AppSession, settings: RetrievalSettings, system: str | None = None
) -> None:
    """Sets the settings, as far as this memory has what they name; ``system`` is that of another
    memory which is about to open."""
    count = int(session.memory.structure.level.max(initial=0)) + 1
    levels, step = settings.levels, settings.step
    if levels is not None:
        levels = tuple(level for level in levels if level < count)
        levels = None if len(levels) == count else levels
    if step is not None:
        step = min(step, len(session.memory.steps))
        step = None if step == asked_from(session) else step
    settings = replace(settings, levels=levels, step=step)
    st.session_state[keys.SETTINGS] = (system or session.memory.system, session.key, settings)


def change_settings(session: AppSession, **changes: Any) -> None:
    """Sets some of the settings."""
    write_settings(session, replace(read_settings(session), **changes))


def setting(
    session: AppSession,
    name: str,
    unset: Any = None,
    shown: Callable[[Any], Any] = lambda value: value,
    taken: Callable[[Any], Any] = lambda value: value,
) -> dict[str, Any]:
    """Returns what a widget is called with that shows the setting of this name, or ``unset`` for
    None; ``shown`` and ``taken`` turn a setting into the value of the widget, and back."""
    value = getattr(read_settings(session), name)
    return shows(
        f"setting-{name}",
        shown(unset if value is None else value),
        lambda chosen: change_settings(session, **{name: taken(chosen)}),
    )


def write_live_setting(session: AppSession, live: Live) -> None:
    """Sets what the header of the canvas was set to: policy, α and H."""
    settings = live.settings
    change_settings(
        session, policy=settings.policy, alpha=float(settings.alpha), horizon=settings.horizon
    )
    st.session_state[keys.DRAWN] = (live.drawing, live.sequence)


# --- presets ---------------------------------------------------------------------------

OWN, CUSTOM = "the system's own", "custom"
"""What is offered beside the presets: the system's own retrieval where it has one, and the last
setting that was no preset."""


def preset_options(system: str) -> list[str]:
    """What nodes may be scored by, for memories of a system."""
    own = [OWN] if usual_method(system) == "own" else []
    return [*own, *PRESETS, CUSTOM]


def read_preset(settings: RetrievalSettings) -> str:
    """Tells which of them these settings are; keeps those that are no preset, to go back to."""
    if settings.method == "own":
        return OWN
    if settings.preset is None:
        st.session_state["last-custom"] = settings
    return settings.preset or CUSTOM


def write_preset(session: AppSession, name: str) -> None:
    """Sets the settings to one of them, with its usual relevance; K and what else is not part of
    a preset stays."""
    settings = read_settings(session)
    if name == OWN:
        settings = replace(settings, method="own", relevance=None)
    elif name == CUSTOM:
        last = st.session_state.get("last-custom", RetrievalSettings())
        settings = settings.scored_as(last)
    else:
        settings = settings.with_preset(name)
    write_settings(session, settings)


def write_relevance(session: AppSession, name: str) -> None:
    """Sets the relevance; the usual one is kept as such, for whatever method is chosen next."""
    usual = replace(read_settings(session), relevance=None).relevance_for(session.memory.model)
    change_settings(session, relevance=None if name == usual else name)
