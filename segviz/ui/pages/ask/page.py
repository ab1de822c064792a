"""Page Ask: a question, its scores before and after propagation, the evidence and why."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.conversation import Question
from segviz.evaluation.cases import setting_name
from segviz.files import NoRoom
from segviz.memory import ask
from segviz.memory.answer import is_adversarial
from segviz.retrieval import Result, RetrievalSettings
from segviz.retrieval.gold import ABSENT, COVERED, HIT, MISSED, GoldEvidence
from segviz.ui import keys
from segviz.ui.address import VIEWS, read_view
from segviz.ui.inspector.node import node_details, node_transcript
from segviz.ui.inspector.pins import pins_panel
from segviz.ui.pages import drawn
from segviz.ui.pages.ask.answer import answer_panel
from segviz.ui.pages.ask.explanations import ledger_panel, stages_panel
from segviz.ui.pages.ask.question_and_settings import ask_controls, live, question_row, tally
from segviz.ui.settings import (
    CUSTOM,
    asked_question,
    read_beside,
    read_option,
    read_settings,
    write_live_setting,
)
from segviz.ui.state import AppSession
from segviz.ui.widgets.captions import counted, level_label, unmarked
from segviz.ui.widgets.export_menu import exports_panel
from segviz.ui.widgets.lists import transcript
from segviz.ui.widgets.question import nothing_asked
from segviz.ui.widgets.tree import draw_canvas, draw_node_link, draw_outline, scene, stage_height
from segviz.view.captions import dispute_lines, moment_sentence
from segviz.view.coloring import Live
from segviz.view.scene import answered, peaked

_PAIRED = 260
"""Height in pixels of each of two trees side by side; their lists begin on the first screen."""


_SIMILAR = 20
"""Number of nodes that a search by meaning finds."""


def render(session: AppSession) -> None:
    """Draws the page: the question, and a fragment that all other controls redraw."""
    st.fragment(drawn, key=keys.ANSWER)(_below, session, question_row(session))


def _below(session: AppSession, row: DeltaGenerator) -> None:
    question = asked_question(session)
    place = ask_controls(session, row)
    _answer(session, question, row)
    with place:  # last, because it asks every question
        tally(session, question)


def _answer(session: AppSession, question: Question, row: DeltaGenerator) -> None:
    settings = read_settings(session)
    result = _answered(session, question, settings)
    if result is None:
        return
    with row:
        exports_panel(session, result.structure, result)
    if result.settings.step is not None:
        _moment(session, question, result.settings.step)
    if settings.levels == ():
        st.warning("No level is admissible, so nothing can be retrieved. Choose levels under More.")
    elif settings.levels is not None:
        names = ", ".join(level_label(session.memory, level) for level in settings.levels)
        st.caption(f"Only these levels may be retrieved: {names}.")
    gold = session.memory.gold(question.evidence, result.structure)
    status = gold.fate(result.evidence)
    if not len(result.structure):
        _gold_line(question, status)
        return
    view, beside = read_view(), read_beside(session)
    on_time_axis = view == VIEWS[0]
    if on_time_axis and beside is not None:
        _two_trees(session, question, gold, result, beside)
    elif on_time_axis:
        _tree(session, gold, result)
    else:
        drawing, list_beside = st.columns([4, 3], gap="medium")
        with drawing:
            _other_drawing(session, gold, result, view)
        with list_beside:
            _tree(session, gold, result, bare=True)
    if result.native and on_time_axis:
        st.caption("Above the axis: relevance alone. Below the axis: the system's own scores.")
    _gold_line(question, status)
    answer_panel(session, question, result)
    stages_panel(session, result)
    _selected(session, question, result)
    pins_panel(session, result.structure, result)


def _answered(
    session: AppSession, question: Question, settings: RetrievalSettings
) -> Result | None:
    """Returns the result; draws a note and returns None without a question or enough memory."""
    if not question.text.strip():
        nothing_asked(session)
        return None
    try:
        return ask(session.memory, question, settings, chat=session.chat)
    except NoRoom as error:
        st.warning(unmarked(f"{error}."))
        return None


def _moment(session: AppSession, question: Question, step: int) -> None:
    """Says that an earlier state of the memory is asked, and how many texts are out of date."""
    memory = session.memory
    written = memory.settled(step, session.chat) is not memory.at(step)
    stale = 0 if written else len(memory.pending(step))
    late = f" A chat model is needed to update {counted(stale, 'text')}." * (stale > 0)
    st.info(unmarked(moment_sentence(memory, question, step) + late))


def _two_trees(
    session: AppSession,
    question: Question,
    gold: GoldEvidence,
    result: Result,
    settings: RetrievalSettings,
) -> None:
    """Draws the tree with the result, and beside it with the result of other ``settings``."""
    second = _answered(session, question, settings)
    if second is None:
        return
    names, found = [], []
    for place, each in (("first", result), ("second", second)):
        option = read_option(each.settings)
        name = setting_name(each.settings) if option == CUSTOM else option
        names.append(f"**{unmarked(name)}** ({place})")
        found.append(list(gold.fate(each.evidence).values()).count(HIT))
    said = " and ".join(names)
    if gold.turns:
        said = f"{names[0]} finds {found[0]} of {counted(len(gold.turns), 'gold turn')}, "
        said += f"{names[1]} finds {found[1]}"
    common = len(set(result.after) & set(second.after))
    both = f"{common} of {counted(len(result.after), 'retrieved node')}"
    with st.container(key="ask-pair"):
        st.markdown(f"{said}. In both: {both}.")
        left, right = st.columns(2, gap="medium")
    with left:
        _tree(session, gold, result)
    with right:
        _tree(session, gold, second, canvas=keys.BESIDE)


def _live(session: AppSession, settings: RetrievalSettings, canvas: str) -> Live | None:
    """Returns the input of the browser's own retrieval; None if it cannot follow these settings."""
    if settings.method == "native" or not live(session, settings):
        return None
    return Live(settings, *st.session_state.get(keys.drawn(canvas), ()))


def _tree(
    session: AppSession,
    gold: GoldEvidence,
    result: Result,
    bare: bool = False,
    canvas: str = "ask",
) -> None:
    live = _live(session, result.settings, canvas)
    levels = int(session.memory.structure.level.max()) + 1
    paired = read_beside(session) is not None and not bare
    shown = replace(
        answered(scene(session, result.structure), result, gold, live),
        total_units=len(session.memory.units),
        levels_total=levels,
    )
    with st.container(key=f"{canvas}-room" if live else None):
        draw_canvas(
            session,
            shown,
            key=f"{canvas}-tree",
            stage=_PAIRED if paired else stage_height(levels),
            bare=bare,
            on_setting=partial(write_live_setting, session, canvas),
            similar=partial(result.similar, count=_SIMILAR),
        )


def _other_drawing(session: AppSession, gold: GoldEvidence, result: Result, view: str) -> None:
    if view == "Outline":
        shown = answered(scene(session, result.structure), result, gold)
        draw_outline(session, shown, key="ask-outline", height=560, result=result)
        return
    draw_node_link(
        session,
        result.structure,
        scores=result.final.tolist(),
        root=peaked(result.initial, result.structure.active),
        retrieved=result.after,
        gold=gold.leaves,
    )


def _gold_line(question: Question, status: dict[str, str]) -> None:
    if question.index < 0:
        return
    lines: list[str] = []
    if not question.evidence:
        lines.append("Gold evidence: none in this conversation.")
    else:
        parts = []
        for name, meaning in (
            (HIT, "retrieved"),
            (COVERED, "inside a wider retrieved node"),
            (MISSED, "missed"),
            (ABSENT, "in no leaf (dropped by the unit rule, or not said yet)"),
        ):
            found = [turn for turn, what in status.items() if what == name]
            if found:
                parts.append(f"{len(found)} {meaning} ({', '.join(found)})")
        lines.append(f"Gold evidence, {counted(len(status), 'turn')}: " + "; ".join(parts))
    if question.unresolved:
        unknown = ", ".join(question.unresolved)
        lines.append(f"Unresolved evidence, in no turn of this conversation: {unknown}")
    if question.answer is not None:
        lines.append(f"Gold answer: {question.answer}")
    elif question.adversarial is not None:
        wrong = question.adversarial
        lines.append(f"Gold answer: not mentioned. The tempting wrong answer: {wrong}")
    elif is_adversarial(question):
        lines.append("Gold answer: not mentioned (adversarial).")
    else:
        lines.append("Gold answer: the file gives none.")
    lines += dispute_lines(question.disputed) if question.disputed else []
    st.text("\n".join(lines))


def _selected(session: AppSession, question: Question, result: Result) -> None:
    flags = dict.fromkeys(question.corrected.evidence, "audit")
    flags |= dict.fromkeys(question.evidence, "gold")
    node = session.selected_in(result.structure)
    if node is None:
        _transcript(session, result, flags)
        return
    details, turns = st.columns([11, 10], gap="medium")
    with details:
        step = result.settings.step or len(session.memory.steps)
        node_details(session, result.structure, node, step, result)
        with st.expander("All parts of the score", key="ledger", on_change="rerun") as opened:
            if opened.open:
                ledger_panel(session, result, node)
    with turns:
        if session.shown_session is not None:
            _transcript(session, result, flags)
        else:
            node_transcript(
                session, result.structure, node, key="ask-transcript", height=420, flags=flags
            )


def _transcript(session: AppSession, result: Result, flags: dict[str, str]) -> None:
    """Draws the transcript at the session that the tree shows alone, else at the best node."""
    place = session.shown_session
    best = result.evidence[0].turn_ids if result.evidence else ()
    focus = best[0] if best else None
    if place is None:
        st.markdown("**Transcript** at the best node. Select a node to read its turns.")
    else:
        st.markdown(f"**Transcript** at session {place + 1}")
        said = session.conversation.sessions[place].turns
        focus = said[0].id if said else focus
    transcript(
        session, key="ask-transcript", height=420, focus=focus, marked=set(best), flags=flags
    )
