"""Page Ask: a question, its scores before and after propagation, and the evidence."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.conversation import Question
from segviz.figures.levels import level_figure, level_name, level_sentence
from segviz.frontend.palette import ACCENT
from segviz.gold import ABSENT, COVERED, HIT, MISSED, gold_status
from segviz.pipeline import ask
from segviz.propagate import POLICIES
from segviz.relevance import RELEVANCE
from segviz.result import Evidence, Result
from segviz.ui.inspector import node_details, node_transcript, place
from segviz.ui.lists import evidence_list, transcript
from segviz.ui.state import Session
from segviz.ui.timeline import VIEWS, canvas_height, draw_canvas, draw_node_link, view_choice

LIST = 470


def render(session: Session) -> None:
    """Draw the page."""
    question = _question(session)
    settings = _settings(session)
    if not question.text.strip():
        st.info("Type a question, or pick one of the dataset's, to see what comes back.")
        return
    result = ask(session.memory, question.text, **settings)
    if settings["step"] < len(session.memory.steps):
        st.info(
            f"This is the memory after step {settings['step']} of {len(session.memory.steps)}; "
            "what came later has not been heard yet. Change it under More settings."
        )
    if not settings["levels"]:
        st.warning(
            "No level is admissible, so nothing can be retrieved. Choose levels under More "
            "settings."
        )
    status = _status(session, question, result)
    if st.session_state.get("ask-view", VIEWS[0]) == VIEWS[0]:
        _tree(session, question, result)
    else:
        draw_node_link(session, result.structure)
    _gold_line(question, status)
    left, right = st.columns([11, 10], gap="medium")
    with left:
        _evidence(session, result, status)
    with right:
        _levels(result)
        _selected(session, question, result, status)


def _question(session: Session) -> Question:
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


def _settings(session: Session) -> dict[str, Any]:
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
        "Evidence K",
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


def _status(session: Session, question: Question, result: Result) -> dict[str, str]:
    heard = len(result.structure.leaves)
    held = [turn for unit in session.memory.units[:heard] for turn in unit.turn_ids]
    return gold_status(result.evidence, question.evidence, held)


def _tree(session: Session, question: Question, result: Result) -> None:
    structure = result.structure
    units = {t: u.index for u in session.memory.units for t in u.turn_ids}
    wanted = {units[turn] for turn in question.evidence if turn in units}
    gold = [leaf for leaf in structure.leaves if int(structure.start[leaf]) in wanted]
    levels = int(session.memory.structure.level.max()) + 1
    draw_canvas(
        session,
        structure,
        key="ask-tree",
        height=canvas_height(levels, mirrored=True),
        mode="scores",
        initial=result.initial,
        final=result.final,
        top_initial=result.before,
        top_final=result.after,
        gold=gold,
        total_units=len(session.memory.units),
        levels_total=levels,
    )


def _gold_line(question: Question, status: dict[str, str]) -> None:
    if question.index < 0:
        return
    if not question.evidence:
        st.caption("This question has no gold evidence that could be found in the conversation.")
    else:
        parts = []
        for name, meaning in (
            (HIT, "retrieved"),
            (COVERED, "inside a wider retrieved node"),
            (MISSED, "missed"),
            (ABSENT, "in no leaf (dropped by the unit rule, or not heard yet)"),
        ):
            found = [turn for turn, what in status.items() if what == name]
            if found:
                parts.append(f"{len(found)} {meaning} ({', '.join(found)})")
        turns = "1 turn" if len(status) == 1 else f"{len(status)} turns"
        st.text(f"Gold evidence, {turns}: " + "; ".join(parts))
    if question.answer is not None:
        st.text(f"Gold answer: {question.answer}")
    elif question.adversarial is not None:
        st.text(f"Gold answer: not mentioned. The tempting wrong answer: {question.adversarial}")


def _move(item: Evidence, k: int) -> str:
    if item.rank_before == item.rank_after:
        return ""
    if item.rank_before > k:
        return f"entered, was {item.rank_before}"
    return f"was {item.rank_before}"


def _evidence(session: Session, result: Result, status: dict[str, str]) -> None:
    words = sum(len(item.text.split()) for item in result.evidence)
    st.markdown(
        f"**Retrieved**, best first · {words} words",
        help=(
            "Initial scores are shares of one whole: over all nodes they add up to 1. "
            "Propagated scores add up to less: a node without a target (under top-down a "
            "leaf, under bottom-up the root) keeps what it has but passes nothing on, and the "
            "sum is divided by Σ αᵏ. Only the order within each column matters."
        ),
    )
    top = max([*result.initial[list(result.before)], *result.final[list(result.after)], 1e-12])
    items = []
    for item in result.evidence:
        gold = sorted(t for t in item.turn_ids if t in status)
        narrow = item.span[1] - item.span[0] == 1
        note = f"{'gold' if narrow else 'covers gold'} {', '.join(gold[:4])}" if gold else ""
        items.append(
            {
                "node": item.node,
                "rank": item.rank_after,
                "place": place(session, result.structure, item.node),
                "move": _move(item, len(result.before)),
                "gold": note,
                "initial": f"{item.initial:.5f}",
                "final": f"{item.final:.5f}",
                "initialShare": item.initial / top,
                "finalShare": item.final / top,
                "text": item.text,
                "selected": item.node == session.selected,
            }
        )
    evidence_list(items, key="evidence", height=LIST + 150, on_pick=session.select)
    left = [node for node in result.before if node not in result.after]
    if left:
        names = (f"node {node} ({place(session, result.structure, node)})" for node in left)
        st.caption(f"Pushed out of the top {len(result.before)}: " + "; ".join(names))


def _levels(result: Result) -> None:
    before, after = result.levels("initial"), result.levels("final")
    moved = len(set(result.after) - set(result.before))
    st.markdown("**Retrieved levels**, before and after propagation")
    dark = st.context.theme.type == "dark"
    figure = level_figure(
        before,
        after,
        accent=ACCENT["dark" if dark else "light"],
        neutral="#9a9690" if dark else "#77736d",
    )
    st.plotly_chart(
        figure,
        key="levels-chart",
        config={"displayModeBar": False},
        alt=level_sentence(before, after),
    )
    st.caption(
        f"{level_sentence(before, after)} {moved} of {len(result.after)} nodes are new in the top."
    )


def _selected(session: Session, question: Question, result: Result, status: dict[str, str]) -> None:
    flags = dict.fromkeys(question.evidence, "gold")
    node = session.selected
    if node is not None and node < len(result.structure):
        node_details(session, result.structure, node)
        order = f"initial {result.initial[node]:.5f}, propagated {result.final[node]:.5f}"
        st.caption(order)
        node_transcript(
            session, result.structure, node, key="ask-transcript", height=230, flags=flags
        )
        return
    st.markdown("**Transcript**, at the best node. Select one to read its turns.")
    best = result.evidence[0].turn_ids if result.evidence else ()
    transcript(
        session.conversation,
        key="ask-transcript",
        height=320,
        focus=best[0] if best else None,
        marked=set(best),
        flags=flags,
    )
