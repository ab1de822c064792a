"""Page Ask: a question, its scores before and after propagation, the evidence and why."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.files import NoRoom
from segviz.memory import ask
from segviz.retrieval import RetrievalSettings
from segviz.ui import keys
from segviz.ui.address import VIEWS, pinned, read_view
from segviz.ui.inspector import changes_panel, node_details, node_transcript, pins_panel
from segviz.ui.pages import Panel, draw_panels, drawn
from segviz.ui.pages.ask import answer, explanations, question_and_settings
from segviz.ui.settings import (
    AnswerState,
    AskState,
    beside_kind,
    follow_build,
    read_asked,
    write_beside,
    write_live_setting,
)
from segviz.ui.state import AppSession, keyed_fragment
from segviz.ui.widgets import captions, export_menu, lists, question, tree
from segviz.ui.widgets.canvas import CanvasActions
from segviz.ui.widgets.waiting import noted
from segviz.view import coloring, scene

_PAIRED = 260
"""Height in pixels of each of two trees side by side; their lists begin on the first screen.

That of a single tree depends on its levels, and is enough for the list beside it."""

_SIMILAR = 20
"""Number of nodes that a search by meaning finds."""

_HEIGHT = 420
"""Height of the transcript in pixels."""


def render(session: AppSession) -> None:
    """Draws the page: the question, and a fragment that all other controls redraw."""
    with st.container(key="ask-page"):
        row = question_and_settings.question_row(session)
        keyed_fragment(drawn, keys.ANSWER)(_below, session, row)


def _below(session: AppSession, row: DeltaGenerator) -> RetrievalSettings:
    """Draws the controls and the answer; returns the settings, for the address."""
    follow_build(session)
    asked = read_asked(session)
    with st.container(key="ask-below"):
        question_and_settings.ask_controls(asked, row)
        result = _answered(asked)
        if result is not None:
            with row:
                export_menu.exports_panel(result.shown)
            there = len(result.result.structure)
            draw_panels(PANELS if there else WITHOUT_A_TREE, result, [11, 10])
        question_and_settings.tally(asked)  # last, because it asks every question
    return asked.settings


def _answered(asked: AskState) -> AnswerState | None:
    """Returns the result; draws a note and returns None without a question or enough memory."""
    session = asked.session
    if not asked.question.text.strip():
        question.nothing_asked(session)
        structure = session.memory.structure
        height = tree.canvas_height(int(structure.level.max(initial=0)) + 1)
        shown = tree.scene(session, structure)
        tree.draw_canvas(session, shown, key="unasked-tree", height=height, legend=False)
        return None
    try:
        work = partial(ask, session.memory, asked.question, asked.settings, chat=session.chat)
        result = noted("Ask the question", work)
    except NoRoom as error:
        st.warning(captions.unmarked(f"{error}."))
        return None
    second = None
    if asked.beside is not None and read_view() == VIEWS[0]:
        there = session.second or session
        second = _answered(replace(asked, session=there, settings=asked.beside, beside=None))
    return AnswerState(session, asked.question, asked.settings, asked.beside, result, second)


def _trees(state: AnswerState) -> None:
    """Draws the tree with the result: alone, with a second one beside it, or in another view."""
    view = read_view()
    if view != VIEWS[0]:
        drawing, evidence = st.columns([4, 3], gap="medium")
        with drawing:
            _other_drawing(state, view)
        with evidence:
            _tree(state, bare=True)
        return
    if state.second is None:
        _tree(state)
    else:
        with st.container(key="ask-pair"):
            st.markdown(explanations.pair_sentence(state, state.second))
            left, right = st.columns(2, gap="medium")
        with left:
            _tree(state)
        with right:
            _tree(state.second, beside=state)
    if state.result.native:
        st.caption("Above the axis: relevance alone. Below the axis: the system's own scores.")


def _tree(state: AnswerState, bare: bool = False, beside: AnswerState | None = None) -> None:
    """Draws the canvas; only its list of evidence if ``bare``.

    It is the second tree if it is drawn ``beside`` the first one.
    """
    session, result = state.session, state.result
    canvas = keys.BESIDE if beside else "ask"
    # Settings belong to the first tree; the same node is selected in both.
    first, other = beside or state, beside or state.second
    scene_here = tree.scene(session, result.structure, other.shown if other else None)
    live = None
    # The browser computes the scores itself where it can follow the settings.
    if result.settings.method != "native" and question_and_settings.live(session, result.settings):
        live = coloring.Live(result.settings, *st.session_state.get(keys.drawn(canvas), ()))
    levels = int(session.memory.structure.level.max()) + 1
    paired = other is not None and not bare
    units = len(session.memory.units)
    if result.settings.step is not None and beside_kind() is not int:
        # The axis ends at the moment that is asked; of two moments it is the same.
        units = int(result.structure.stop[result.structure.active].max(initial=0))
    shown = replace(
        scene.answered(scene_here, result, state.gold, live, state.question.answer),
        total_units=units,
        levels_total=levels,
    )
    with st.container(key=f"{canvas}-room" if live else None):
        tree.draw_canvas(
            session,
            shown,
            key=f"{canvas}-tree",
            actions=CanvasActions(
                setting=partial(write_live_setting, first.session, canvas),
                asked=partial(_move_now, first.session, canvas),
            ),
            now=len(session.memory.steps) if result.settings.step is None else result.settings.step,
            similar=partial(result.similar, count=_SIMILAR),
            stage=_PAIRED if paired else min(max(76 + 110 * levels, 290), 640),
            bare=bare,
        )


def _move_now(session: AppSession, canvas: str, units: int | None) -> None:
    """Asks the memory as it was when it knew so many units."""
    step = min(units or 0, len(session.memory.steps))
    if canvas == keys.BESIDE and beside_kind() is int:
        write_beside(step)
    else:
        question_and_settings.write_asked(session, step)


def _other_drawing(state: AnswerState, view: str) -> None:
    """Draws the result as an outline or as a node-link diagram."""
    session, result = state.session, state.result
    if view == "Outline":
        shown = scene.answered(tree.scene(session, result.structure), result, state.gold)
        tree.draw_outline(session, shown, key="ask-outline", height=560, result=result)
        return
    tree.draw_node_link(
        session,
        result.structure,
        scores=result.final.tolist(),
        root=scene.peaked(result.initial, result.structure.active),
        retrieved=result.after,
        gold=state.gold.leaves,
    )


def _changes(state: AnswerState) -> None:
    if state.second is not None:
        changes_panel(state.shown, state.second.shown)


def _node(state: AnswerState) -> None:
    state = state.picked
    node_details(state.shown)
    with st.expander("All parts of the score", key="ledger", on_change="rerun") as opened:
        if opened.open and state.shown.node is not None:
            explanations.ledger_panel(state, state.shown.node)


def _transcript(state: AnswerState) -> None:
    """Draws the transcript at the session that the tree shows alone, else at the selected node.

    Without either it is at the best node.
    """
    state = state.picked
    session, place, question = state.session, state.session.shown_session, state.question
    flags = dict.fromkeys(question.corrected.evidence, "audit")
    flags |= dict.fromkeys(question.evidence, "gold")
    if place is None and state.shown.node is not None:
        node_transcript(state.shown, key="ask-transcript", height=_HEIGHT, flags=flags)
        return
    best = state.result.evidence[0].turn_ids if state.result.evidence else ()
    focus = best[0] if best else None
    if place is None:
        st.markdown("**Transcript** at the best node. Select a node to read its turns.")
    else:
        st.markdown(f"**Transcript** at session {place + 1}")
        turns = session.conversation.sessions[place].turns
        focus = turns[0].id if turns else focus
    passage = lists.Passage(focus, marked=set(best), flags=flags)
    lists.transcript(session, passage, key="ask-transcript", height=_HEIGHT)


PANELS: tuple[Panel[AnswerState], ...] = (
    Panel("", explanations.moment, lambda it: it.result.settings.step is not None),
    Panel("", explanations.no_level, lambda it: it.settings.levels == ()),
    Panel("", _trees, lambda it: len(it.result.structure)),
    Panel("", _changes, lambda it: it.second and beside_kind() is not RetrievalSettings),
    Panel("", explanations.gold_line, lambda it: it.question.index >= 0),
    Panel("", answer.answer_panel),
    Panel("", explanations.stages_panel, lambda it: it.result.stages),
    Panel("", _node, lambda it: it.picked.shown.node is not None, column=0),
    Panel("", _transcript, lambda it: it.picked.shown.node is not None, column=1),
    Panel("", _transcript, lambda it: it.picked.shown.node is None),
    Panel("", lambda it: pins_panel(it.shown), lambda it: pinned(it.session)),
)
"""Panels below the controls, from the top."""

WITHOUT_A_TREE = PANELS[:5]
"""Panels of a memory without nodes."""
