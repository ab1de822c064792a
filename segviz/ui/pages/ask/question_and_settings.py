"""What to ask and how: the question and the retrieval settings."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.construct import Recalls
from segviz.conversation import Question
from segviz.frontend.live import ALPHA_MAX, ALPHA_STEP, HORIZON_MAX, LIVE_POLICIES, Setting
from segviz.retrieval import POLICIES, RELEVANCE
from segviz.retrieval.adaptive import ADAPTIVE
from segviz.ui.state import Session, begin
from segviz.ui.widgets.captions import level_label
from segviz.ui.widgets.tree import VIEWS, in_time, view_choice


def choices(session: Session) -> tuple[Question, dict[str, Any], DeltaGenerator]:
    """The question, settings for ``segviz.memory.builder.ask``, and the row of controls above."""
    questions = session.conversation.questions
    origin: str | None = "Own question"
    row = st.container(horizontal=True, vertical_alignment="center", key="asking")
    with row:
        if questions:
            begin("origin", "Dataset question")
            chosen = st.segmented_control(
                "Question from",
                ["Dataset question", "Own question"],
                required=True,
                key="origin",
                label_visibility="collapsed",
                persist_state="session",
            )
            origin = chosen or origin
        view_choice("ask-view")
    asked, many, more = st.columns([9, 3, 3], gap="medium", vertical_alignment="bottom")
    with asked:
        question = _question(session, origin)
    kept = kept_setting()
    policy, alpha, horizon = kept.policy, kept.alpha, kept.horizon
    method = _method(session)
    settings = _retrieval(session, many, more)
    if method == "propagate" and settings.pop("adaptive"):
        policy = ADAPTIVE
    elif method == "propagate" and not live(session):
        policy, alpha, horizon = _propagation()
    settings.pop("adaptive", None)
    spread = {"policy": policy, "alpha": alpha, "horizon": horizon, "method": method}
    return question, spread | settings, row


def _method(session: Session) -> str:
    """Propagation, or what the system came with, where it came with something."""
    if not isinstance(session.memory.model, Recalls):
        return "propagate"
    names = {
        "own": "The system's own retrieval",
        "propagate": "Collapsed retrieval and propagation",
    }
    begin(f"method-{session.memory.system}", "own")
    method: str = st.segmented_control(
        "Retrieval",
        list(names),
        required=True,
        format_func=lambda name: names[name],
        key=f"method-{session.memory.system}",
        label_visibility="collapsed",
        persist_state="session",
    )
    return method


def _question(session: Session, origin: str | None) -> Question:
    """A question of the dataset or one's own (index -1)."""
    questions = session.conversation.questions
    own = Question(-1, "", None, None, ())
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


def on_time_axis() -> bool:
    """Whether the canvas is shown, whose header then holds policy, α and H."""
    return bool(st.session_state.get("ask-view", VIEWS[0]) == VIEWS[0])


def live(session: Session) -> bool:
    """Whether the header of the canvas holds the controls: it does where the time axis is
    shown and the browser can propagate along what it draws, which are no relations."""
    structure = session.memory.structure
    follows = kept_setting().policy in LIVE_POLICIES and not structure.relations
    return follows and on_time_axis() and in_time(session, structure)


def kept_setting() -> Setting:
    """The setting that widgets, the canvas and other pages share; the defaults at first."""
    default = Setting()
    for name in ("policy", "alpha", "horizon"):
        st.session_state.setdefault(name, getattr(default, name))
    state = st.session_state
    drawing, sequence = state.get("drawn", (default.drawing, default.sequence))
    return Setting(state["policy"], state["alpha"], state["horizon"], drawing, sequence)


def keep_setting(setting: Setting) -> None:
    """Store what the header of the canvas was set to."""
    st.session_state.update(
        policy=setting.policy,
        alpha=setting.alpha,
        horizon=setting.horizon,
        drawn=(setting.drawing, setting.sequence),
    )


def _retrieval(session: Session, many: DeltaGenerator, more: DeltaGenerator) -> dict[str, Any]:
    """K in the container ``many``, the rest in a popover in ``more``."""
    structure = session.memory.structure
    levels = list(range(int(structure.level.max()) + 1))
    begin("k", 10)
    k = many.slider(
        "Retrieved K",
        1,
        30,
        key="k",
        help="How many nodes are retrieved",
        persist_state="session",
    )
    with more.popover("More settings", width="stretch"):
        relevance = st.selectbox(
            "Relevance",
            list(RELEVANCE),
            key="relevance",
            help="How a node is scored on its own",
            persist_state="session",
        )
        begin(f"levels-{len(levels)}", levels)
        admitted = st.multiselect(
            "Admissible levels",
            levels,
            format_func=lambda level: level_label(session.memory, level),
            key=f"levels-{len(levels)}",
            help="Only these levels may be retrieved; all of them take part in propagation",
            persist_state="session",
        )
        begin("distinct", True)
        distinct = st.toggle(
            "Count nodes with the same text once",
            key="distinct",
            help="A leaf and the single-child nodes above it carry one text. Off: Algorithm 2 "
            "to the letter.",
            persist_state="session",
        )
        adaptive = st.toggle(
            "Let each question choose policy, α and H",
            key="adaptive",
            help="A short list of signs in the question decides; what was chosen and why is "
            "written below the tree.",
            persist_state="session",
        )
        budget = _budget()
        step = _asked_step(session)
    return {
        "adaptive": adaptive,
        "budget": budget,
        "k": k,
        "relevance": relevance,
        "levels": admitted,
        "distinct": distinct,
        "step": step,
    }


def _budget() -> int | None:
    """A budget of tokens in place of K, if one is wanted."""
    wanted = st.toggle(
        "Fill a token budget instead of K",
        key="by-budget",
        help="Nodes are taken best first until the next one no longer fits. A token is "
        "estimated as four characters.",
        persist_state="session",
    )
    if not wanted:
        return None
    begin("budget", 1_000)
    budget: int = st.number_input(
        "Tokens", 50, 100_000, step=50, key="budget", persist_state="session"
    )
    return budget


def _propagation() -> tuple[str, float, int]:
    """Policy, α and H as widgets, for views without the canvas; ``kept_setting`` has put
    their values into the session's state."""
    columns = st.columns([5, 4, 3], gap="medium")
    policy: str = columns[0].selectbox(
        "Propagation",
        list(POLICIES),
        key="policy",
        help="Which way scores travel along the tree before the best nodes are taken:\n\n"
        + "\n".join(f"- {POLICIES[name]().label}" for name in POLICIES),
        persist_state="session",
    )
    still = policy == "none"
    alpha: float = columns[1].slider(
        "Decay α",
        0.0,
        ALPHA_MAX,
        step=ALPHA_STEP,
        key="alpha",
        disabled=still,
        help="Weight of each further hop: final = Σ αᵏ sᵏ / Σ αᵏ. 0 switches propagation off.",
        persist_state="session",
    )
    horizon: int = columns[2].slider(
        "Hops H",
        0,
        HORIZON_MAX,
        key="horizon",
        disabled=still,
        help="How many edges a score may travel. 0 is collapsed retrieval.",
        persist_state="session",
    )
    return policy, alpha, horizon


def _asked_step(session: Session) -> int:
    """The moment the memory is asked at: now, or after an earlier step."""
    total = len(session.memory.steps)
    if total == 1:
        return 1
    begin(f"asked-{session.key}", total)
    step: int = st.slider(
        "Memory after step",
        1,
        total,
        key=f"asked-{session.key}",
        help="Ask the memory as it stood earlier in the conversation",
        persist_state="session",
    )
    return step
