"""The question and the retrieval settings of a browser session.

Ask shows both in widgets and in the header of the canvas. Links, session files and other pages set
them with these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import streamlit as st

from segviz.construct import Parameter, parameters
from segviz.conversation import Question
from segviz.memory import Memory, MissingEmbedder
from segviz.retrieval import PRESETS, Result, RetrievalSettings, Retriever
from segviz.retrieval.gold import GoldEvidence
from segviz.ui import keys
from segviz.ui.state import AppSession, PageState, shows
from segviz.view.bookmark import Bookmark, opening_settings, usual_method
from segviz.view.coloring import LIVE, Live

# --- the question ----------------------------------------------------------------------


def read_question(session: AppSession) -> tuple[int | None, str | None]:
    """Returns the index of the chosen question of the data set, or the typed text.

    Both belong to the conversation, so they survive a change of memory.
    """
    index, text = st.session_state.get(f"question-{session.source}", (None, None))
    if text is not None or not session.conversation.questions:
        return None, text
    return index, None


def picked_question(session: AppSession) -> Question | None:
    """Returns the current question of the data set; None for a typed one."""
    index, text = read_question(session)
    questions = session.conversation.questions
    return None if text is not None or not questions else questions[index or 0]


def asked_question(session: AppSession) -> Question:
    """Returns the current question; a typed one has index -1, and no text means no question."""
    _, text = read_question(session)
    return picked_question(session) or Question(-1, text or "", None, None, ())


def write_question(session: AppSession, index: int | None, text: str | None = None) -> None:
    """Sets the question: a typed ``text``, else the question of the data set at ``index``.

    Without either, or for an unknown index, no question is chosen. A chosen step is reset if the
    old or the new question has a moment.
    """
    state, count = st.session_state, len(session.conversation.questions)
    before = asked_from(session)
    own = text if text and text.strip() else None
    known = None if index is None or index >= count or own else index
    if (known, own) != state.get(f"question-{session.source}"):
        session.select(None)  # what was selected belongs to the question before
    state[f"question-{session.source}"] = known, own
    state.pop(keys.RESCUED, None)
    if min(before, asked_from(session)) < len(session.memory.steps):
        change_settings(session, step=None)


def asked_from(session: AppSession) -> int:
    """Returns the default step of the question: that of its moment, else the last."""
    question = picked_question(session)
    moment = session.memory.moment(question) if question else None
    return len(session.memory.steps) if moment is None else moment


# --- the settings ----------------------------------------------------------------------


@dataclass(frozen=True)
class AskState:
    """Question and settings of one run of Ask; ``beside`` are those of a second tree, if any."""

    session: AppSession
    question: Question
    settings: RetrievalSettings
    beside: RetrievalSettings | None


@dataclass(frozen=True)
class AnswerState(AskState):
    """Question of one run of Ask with its result; ``second`` is that of the second tree."""

    result: Result
    second: AnswerState | None = None

    @property
    def picked(self) -> AnswerState:
        """The answer of the tree in which a node is selected; this one without a selection."""
        second = self.second
        return second if second and second.session.selected is not None else self

    @cached_property
    def gold(self) -> GoldEvidence:
        """Gold evidence of the question in the structure that was asked."""
        return self.session.memory.gold(self.question, self.result.structure)

    @cached_property
    def shown(self) -> PageState:
        """The structure that was asked, for the panels that Ask shares with Grow."""
        asked, total = self.result.settings.step, len(self.session.memory.steps)
        step = total if asked is None else asked
        return PageState(self.session, self.result.structure, step, self.result)


def read_asked(session: AppSession) -> AskState:
    """Returns the current question and settings."""
    settings = read_settings(session)
    return AskState(session, asked_question(session), settings, read_beside(session, settings))


def read_settings(session: AppSession) -> RetrievalSettings:
    """Returns the current settings, without values that this memory does not support.

    After a change of system, method and an unchanged relevance get the defaults of the new one.
    After a change of memory, levels and step are reset. No ``step`` means the question's moment.
    """
    memory = session.memory
    opening = opening_settings(memory.system)
    unset = (memory.system, session.key, opening)
    stored: tuple[str, str, RetrievalSettings] = st.session_state.get(keys.SETTINGS, unset)
    system, key, settings = stored
    if system != memory.system:
        as_opened = settings.relevance == opening_settings(system).relevance
        relevance = opening.relevance if as_opened else settings.relevance
        settings = replace(settings, method=opening.method, relevance=relevance)
    if key != session.key:
        levels = settings.levels if settings.preset else None  # a preset has levels of its own
        settings = replace(settings, levels=levels, step=None)
    return _possible(memory, settings)


def _possible(memory: Memory, settings: RetrievalSettings) -> RetrievalSettings:
    """Replaces relevance and method if the memory does not support them."""
    if isinstance(memory.embedder, MissingEmbedder):  # words can be compared without vectors
        settings = replace(settings, method="propagate", relevance="lexical")
    if not isinstance(memory.model, Retriever):
        settings = replace(settings, method="propagate")
    return settings


def write_settings(
    session: AppSession, settings: RetrievalSettings, system: str | None = None
) -> None:
    """Sets the settings, without levels and steps that this memory does not have.

    ``system`` is the system of a memory that is about to open; None for the open one.
    """
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
    settings: RetrievalSettings,
    name: str,
    unset: Any = None,
    shown: Callable[[Any], Any] = lambda value: value,
    taken: Callable[[Any], Any] = lambda value: value,
) -> dict[str, Any]:
    """Returns the arguments of a widget that shows and sets one retrieval setting.

    Args:
        session: the open memory.
        settings: the current settings.
        name: field of ``RetrievalSettings``.
        unset: value shown for None.
        shown: converts the setting to the value of the widget.
        taken: converts the value of the widget to the setting.
    """
    value = getattr(settings, name)
    return shows(
        f"setting-{name}",
        shown(unset if value is None else value),
        lambda chosen: change_settings(session, **{name: taken(chosen)}),
    )


def parameter_control(parameter: Parameter, **shown: Any) -> Any:
    """Draws the widget of a parameter of a system, a relevance or the retrieval.

    ``shown`` has the widget's value and key, as ``starts``, ``shows`` or :func:`setting` returns
    them.
    """
    spec, label, kind = parameter.spec, parameter.label, parameter.kind
    about = spec.details or spec.help
    if kind is bool:
        return st.toggle(label, help=about, **shown)
    if spec.choices:
        return st.selectbox(label, list(spec.choices), help=about, **shown)
    return st.number_input(
        label,
        min_value=None if spec.low is None else kind(spec.low),
        max_value=None if spec.high is None else kind(spec.high),
        step=kind(spec.step or (1 if kind is int else 0.01)),
        help=about,
        **shown,
    )


def setting_control(session: AppSession, settings: RetrievalSettings, name: str) -> None:
    """Draws the widget of a retrieval setting, from its declaration."""
    parameter_control(declared_setting(name), **setting(session, settings, name))


def declared_setting(name: str) -> Parameter:
    """Returns the declaration of a retrieval setting."""
    return next(each for each in parameters(RetrievalSettings) if each.name == name)


def read_beside(session: AppSession, settings: RetrievalSettings) -> RetrievalSettings | None:
    """Returns the settings of the second tree on Ask; None without one.

    They differ from ``settings``, those of the first tree, in the ranking or in the step only, or
    are asked of another build.
    """
    other: RetrievalSettings | int | Bookmark | None = st.session_state.get(keys.BESIDE)
    if isinstance(other, Bookmark):
        return _possible(session.second.memory, settings) if session.second else None
    if isinstance(other, int):
        return replace(settings, step=min(other, len(session.memory.steps)))
    if other is None:
        return None
    return _possible(session.memory, settings.ranked_as(other))


def write_beside(other: RetrievalSettings | int | Bookmark | None) -> None:
    """Sets the ranking, step or build of the second tree; None removes the tree."""
    if isinstance(other, RetrievalSettings):
        other = RetrievalSettings().ranked_as(other)
    st.session_state[keys.BESIDE] = other


def follow_build(session: AppSession) -> None:
    """Runs the app again if another build was chosen for the second tree; for fragments."""
    wanted = st.session_state.get(keys.BESIDE) if beside_kind() is Bookmark else None
    if session.axis and wanted != (session.second.build if session.second else None):
        st.rerun()


def beside_kind() -> type | None:
    """Returns what the second tree shows: ``RetrievalSettings``, ``int`` for a moment, or a build.

    None without a second tree.
    """
    other = st.session_state.get(keys.BESIDE)
    return None if other is None else type(other)


def write_live_setting(session: AppSession, canvas: str, live: Live) -> None:
    """Sets policy, α and H from the header of a canvas of Ask, the first or the second."""
    changes = {name: each.kind(getattr(live.settings, name)) for name, each in LIVE.items()}
    if canvas != keys.BESIDE or beside_kind() is not RetrievalSettings:
        change_settings(session, **changes)
    elif (second := read_beside(session, read_settings(session))) is not None:
        write_beside(replace(second, **changes))
    st.session_state[keys.drawn(canvas)] = (live.drawing, live.sequence)


# --- presets ---------------------------------------------------------------------------

OWN, CUSTOM = "the system's own", "custom"
"""Options besides the presets: the system's own retrieval, and the last setting without a preset.
"""


def preset_options(system: str) -> list[str]:
    """Returns the presets, ``CUSTOM``, and ``OWN`` for a system with its own retrieval."""
    own = [OWN] if usual_method(system) == "native" else []
    return [*own, *PRESETS, CUSTOM]


def read_option(settings: RetrievalSettings) -> str:
    """Returns the preset that ranks as these settings do, or ``OWN`` or ``CUSTOM``."""
    return OWN if settings.method == "native" else settings.preset or CUSTOM


def read_preset(settings: RetrievalSettings) -> str:
    """Returns the option of these settings; stores custom ones, so that they can be restored."""
    option = read_option(settings)
    if option == CUSTOM:
        st.session_state["last-custom"] = settings
    return option


def write_preset(session: AppSession, name: str) -> None:
    """Sets the settings to an option, with its usual relevance; K and others do not change."""
    write_settings(session, with_option(read_settings(session), name))


def with_option(settings: RetrievalSettings, name: str) -> RetrievalSettings:
    """Returns the settings, ranked as a preset, ``OWN`` or ``CUSTOM`` says."""
    if name == OWN:
        return replace(settings, method="native", relevance=None, levels=None, literal=False)
    if name == CUSTOM:
        return settings.ranked_as(st.session_state.get("last-custom", RetrievalSettings()))
    return settings.with_preset(name)


def write_relevance(session: AppSession, name: str) -> None:
    """Sets the relevance; the usual one is stored as None, so that it follows the method."""
    usual = replace(read_settings(session), relevance=None).relevance_for(session.memory.model)
    change_settings(session, relevance=None if name == usual else name)
