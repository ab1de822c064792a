"""What to ask and how: the question and the retrieval settings."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.conversation import Question
from segviz.figures.levels import level_name
from segviz.propagate import POLICIES
from segviz.relevance import RELEVANCE
from segviz.ui.state import Session
from segviz.ui.timeline import view_choice


def question_choice(session: Session) -> Question:
    """A question of the dataset or one's own (index -1)."""
    questions = session.conversation.questions
    own = Question(-1, "", None, None, ())
    origin = "Own question"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if questions:
            origin = st.segmented_control(
                "Question from",
                ["Dataset question", "Own question"],
                default="Dataset question",
                required=True,
                key="origin",
                label_visibility="collapsed",
                persist_state="session",
            )
        view_choice("ask-view")
    if origin == "Own question":
        text = st.text_input(
            "Question",
            key=f"own-{session.key}",
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
        key=f"question-{session.source}",
        label_visibility="collapsed",
        help="Type to search. The number is LoCoMo's category id.",
        persist_state="session",
    )
    return questions[index]


def retrieval_settings(session: Session) -> dict[str, Any]:
    """Settings for ``segviz.pipeline.ask``."""
    structure = session.memory.structure
    levels = list(range(int(structure.level.max()) + 1))
    columns = st.columns([5, 4, 3, 4, 4], gap="medium")
    policy = columns[0].selectbox(
        "Propagation",
        list(POLICIES),
        index=list(POLICIES).index("top-down"),
        key="policy",
        help="Which way scores travel along the tree before the best nodes are taken:\n\n"
        + "\n".join(f"- {POLICIES[name]().label}" for name in POLICIES),
        persist_state="session",
    )
    still = policy == "none"
    alpha = columns[1].slider(
        "Decay α",
        0.0,
        0.95,
        0.1,
        0.05,
        key="alpha",
        disabled=still,
        help="Weight of each further hop: final = Σ αᵏ sᵏ / Σ αᵏ. 0 switches propagation off.",
        persist_state="session",
    )
    horizon = columns[2].slider(
        "Hops H",
        0,
        5,
        2,
        key="horizon",
        disabled=still,
        help="How many edges a score may travel. 0 is collapsed retrieval.",
        persist_state="session",
    )
    k = columns[3].slider(
        "Retrieved K",
        1,
        30,
        10,
        key="k",
        help="How many nodes are retrieved",
        persist_state="session",
    )
    with columns[4].popover("More settings", width="stretch"):
        relevance = st.selectbox(
            "Relevance",
            list(RELEVANCE),
            key="relevance",
            help="How a node is scored on its own",
            persist_state="session",
        )
        admitted = st.multiselect(
            "Admissible levels",
            levels,
            default=levels,
            format_func=level_name,
            key=f"levels-{len(levels)}",
            help="Only these levels may be retrieved; all of them take part in propagation",
            persist_state="session",
        )
        distinct = st.toggle(
            "Count nodes with the same text once",
            value=True,
            key="distinct",
            help="A leaf and the single-child nodes above it carry one text. Off: Algorithm 2 "
            "to the letter.",
            persist_state="session",
        )
        step = _asked_step(session)
    return {
        "policy": policy,
        "alpha": alpha,
        "horizon": horizon,
        "k": k,
        "relevance": relevance,
        "levels": admitted,
        "distinct": distinct,
        "step": step,
    }


def _asked_step(session: Session) -> int:
    """The moment the memory is asked at: now, or after an earlier step."""
    total = len(session.memory.steps)
    if total == 1:
        return 1
    step: int = st.slider(
        "Memory after step",
        1,
        total,
        total,
        key=f"asked-{session.key}",
        help="Ask the memory as it stood earlier in the conversation",
        persist_state="session",
    )
    return step
