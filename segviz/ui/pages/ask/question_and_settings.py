"""Draws the controls of Ask: the question, and the retrieval settings it is asked with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.conversation import Question
from segviz.retrieval import POLICIES, RELEVANCE, RetrievalSettings
from segviz.ui import keys
from segviz.ui.settings import (
    START_BUDGET,
    asked_step,
    begin_settings,
    preset_options,
    read_preset,
    read_settings,
    return_to_moment,
    write_preset,
    write_relevance,
)
from segviz.ui.state import Session, begin
from segviz.ui.view_state import ORIGINS, VIEWS, view_shown
from segviz.ui.widgets.captions import level_label
from segviz.ui.widgets.tree import literal_switch, view_choice
from segviz.view.live import ALPHA_MAX, ALPHA_STEP, HORIZON_MAX, LIVE_POLICIES
from segviz.view.scene import keeps_time


@dataclass(frozen=True)
class Asked:
    """A question, the settings it is asked with, and the row above them, for more controls."""

    question: Question
    settings: RetrievalSettings
    row: DeltaGenerator


def ask_controls(session: Session) -> Asked:
    """Draws the controls of the page; returns what they say."""
    questions = session.conversation.questions
    origin: str | None = "Own question"
    row = st.container(horizontal=True, vertical_alignment="center", key=keys.ASKING)
    with row:
        if questions:
            begin(keys.ORIGIN, "Dataset question")
            chosen = st.segmented_control(
                "Question from",
                ORIGINS,
                required=True,
                key=keys.ORIGIN,
                label_visibility="collapsed",
                persist_state="session",
            )
            origin = chosen or origin
        view_choice(keys.ASK_VIEW)
    asked, many, more = st.columns([9, 3, 3], gap="medium", vertical_alignment="bottom")
    with asked:
        question = _question(session, origin)
    begin_settings()
    _retrieval(session, many, more)
    _scoring(session)
    if read_settings(session).method == "propagate" and not live(session):
        _propagation()
    return Asked(question, read_settings(session), row)


def _scoring(session: Session) -> None:
    """Draws the presets, one click each, and relevance; both show what is in force."""
    state, model = st.session_state, session.memory.model
    settings = read_settings(session)
    usual = replace(settings, relevance=None).relevance_for(model)
    state[keys.SCORING_PRESET] = read_preset(settings)
    state[keys.RELEVANCE_SHOWN] = settings.relevance_for(model)

    def label(name: str) -> str:
        own = settings.method == "own" and name == usual
        return f"relevance: {name}" + ", its paper's" * own

    with st.container(horizontal=True, vertical_alignment="center", key=keys.SCORING):
        st.segmented_control(
            "Preset",
            preset_options(session.memory.system),
            required=True,
            key=keys.SCORING_PRESET,
            label_visibility="collapsed",
            wrap=True,
            on_change=lambda: write_preset(state[keys.SCORING_PRESET], session),
        )
        # Streamlit draws option texts as plain text.
        st.selectbox(
            "Relevance: how a node is scored on its own",
            list(RELEVANCE),
            format_func=label,
            key=keys.RELEVANCE_SHOWN,
            label_visibility="collapsed",
            width=225,
            on_change=lambda: write_relevance(state[keys.RELEVANCE_SHOWN], session),
        )


def _question(session: Session, origin: str | None) -> Question:
    """Draws the choice of question; returns one of the data set's or one's own (index -1)."""
    questions = session.conversation.questions
    own = Question(-1, "", None, None, ())
    if origin == "Own question":
        text = st.text_input(
            "Question",
            key=keys.own_question(session.key),
            placeholder="What would you ask this memory?",
            label_visibility="collapsed",
            persist_state="session",
        )
        return Question(own.index, text, None, None, ())

    def label(index: int) -> str:
        return f"{questions[index].category_label} · {questions[index].text}"

    # Streamlit draws option texts as plain text.
    index: int = st.selectbox(
        "Dataset question",
        range(len(questions)),
        format_func=label,
        key=keys.question(session.source),
        on_change=lambda: return_to_moment(session),
        label_visibility="collapsed",
        help="Type to search. The number is LoCoMo's category id.",
        persist_state="session",
    )
    return questions[index]


def on_time_axis() -> bool:
    """Tells whether the canvas is shown, whose header then holds policy, α and H."""
    return view_shown(keys.ASK_VIEW) == VIEWS[0]


def live(session: Session) -> bool:
    """Tells whether the header of the canvas holds the controls: where the time axis is shown and
    the browser knows the policy."""
    follows = read_settings(session).policy in LIVE_POLICIES
    return follows and on_time_axis() and keeps_time(session.memory, session.memory.structure)


def _retrieval(session: Session, many: DeltaGenerator, more: DeltaGenerator) -> None:
    """Draws K in the container ``many``, the rest in a popover in ``more``."""
    structure = session.memory.structure
    levels = list(range(int(structure.level.max()) + 1))
    many.slider(
        "Retrieved K",
        1,
        30,
        key=keys.K,
        help="How many nodes are retrieved",
        persist_state="session",
    )
    with more.popover("More settings", width="stretch"):
        begin(keys.levels(len(levels)), levels)
        st.multiselect(
            "Admissible levels",
            levels,
            format_func=lambda level: level_label(session.memory, level),
            key=keys.levels(len(levels)),
            help="Only these levels may be retrieved; all of them take part in propagation",
            persist_state="session",
        )
        literal_switch()
        _budget()
        _asked_step(session)


def _budget() -> None:
    """Draws the budget of tokens that replaces K, if one is wanted."""
    wanted = st.toggle(
        "Fill a token budget instead of K",
        key=keys.BY_BUDGET,
        help="Nodes are taken best first until the next one no longer fits. A token is "
        "estimated as four characters.",
        persist_state="session",
    )
    if wanted:
        begin(keys.BUDGET, START_BUDGET)
        st.number_input("Tokens", 50, 100_000, step=50, key=keys.BUDGET, persist_state="session")


def _propagation() -> None:
    """Draws policy, α and H as widgets, for views without the canvas."""
    columns = st.columns([5, 4, 3], gap="medium")
    policy: str = columns[0].selectbox(
        "Propagation",
        list(POLICIES),
        key=keys.POLICY,
        help="Which way scores travel along the tree before the best nodes are taken:\n\n"
        + "\n".join(f"- {POLICIES[name]().label}" for name in POLICIES),
        persist_state="session",
    )
    still = policy == "none"
    columns[1].slider(
        "Decay α",
        0.0,
        ALPHA_MAX,
        step=ALPHA_STEP,
        key=keys.ALPHA,
        disabled=still,
        help="Weight of each further hop: final = Σ αᵏ sᵏ / Σ αᵏ. 0 switches propagation off.",
        persist_state="session",
    )
    columns[2].slider(
        "Hops H",
        0,
        HORIZON_MAX,
        key=keys.HORIZON,
        disabled=still,
        help="How many edges a score may travel. 0 is collapsed retrieval.",
        persist_state="session",
    )


def _asked_step(session: Session) -> None:
    """Draws the step the memory is asked at: the question's moment or the last, until moved."""
    total = len(session.memory.steps)
    if not total:
        return
    key, begins = asked_step(session)
    begin(key, begins)
    st.slider(
        "Memory after step",
        0,
        total,
        key=key,
        help="Ask the memory as it stood earlier in the conversation. A question that stands at "
        "a moment of it is asked there, until you move this.",
        persist_state="session",
    )
