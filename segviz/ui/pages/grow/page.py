"""Page Grow: watch the memory being built, step by step."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from segviz.tree import Step, Structure
from segviz.ui import keys
from segviz.ui.address import write
from segviz.ui.inspector.node import node_details, node_transcript
from segviz.ui.inspector.pins import pins_panel
from segviz.ui.pages.grow.decision import decision_panel
from segviz.ui.pages.grow.shape import shape_panel, warnings
from segviz.ui.pages.grow.structure_views import structure_views_panel
from segviz.ui.pages.grow.transport import keep_playing, playing, transport
from segviz.ui.sidebar.watching import TICK, following, look_back, newest
from segviz.ui.state import Session
from segviz.ui.view_state import view_shown
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.lists import transcript
from segviz.ui.widgets.outline import draw_outline
from segviz.ui.widgets.tree import canvas_height, draw_canvas, draw_node_link, scene
from segviz.view.scene import grown

PANEL = 340


def render(session: Session) -> None:
    """Draws the page."""
    if session.live and following():
        _newest()
        return
    st.session_state.setdefault(keys.grow_step(session.key), len(session.memory.steps))
    if not playing(session):
        st.session_state[keys.PLAYING] = None  # another memory came between
    _panel(session)


@st.fragment
def _panel(session: Session) -> None:
    transport(session)
    now: int = st.session_state[keys.grow_step(session.key)]
    step = session.memory.steps[now - 1]
    structure = session.shown(session.memory.at(now))
    if session.memory.laws == "segment-tree":  # what is too deep or wide is told of these
        warnings(structure, step.decision)
    view = view_shown(keys.GROW_VIEW)
    if view == "Time axis":
        _tree(session, structure, step, now)
    elif view == "Outline":
        draw_outline(session, grown(scene(session, structure), now, step), key="grow-outline")
    else:
        draw_node_link(session, structure)
    structure_views_panel(session, structure, now)
    left, right = st.columns([10, 11], gap="medium")
    with left:
        _transcript(session, structure, step, now)
    with right:
        decision_panel(session, structure, step, now)
    pins_panel(session, structure)
    shape_panel(session, structure, now)
    keep_playing(session)
    if not playing(session):
        write(session)


@st.fragment(run_every=TICK)
def _newest() -> None:
    """What is newest of a conversation that is watched, as it comes."""
    held = newest()
    if held is None or not following():
        st.rerun()
    # One canvas for the whole part, however far it has grown.
    session = replace(held.session, key=held.session.source)
    memory, now = session.memory, len(session.memory.steps)
    structure = session.shown(memory.structure)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Look back", key=keys.LOOK_BACK, on_click=look_back, icon=":material/history:")
        nodes = counted(int(structure.active.sum()), "node")
        st.caption(f"Following: {counted(now, 'turn')}, {nodes}")
    _tree(session, structure, memory.steps[-1], now, goes_on=True)
    left, right = st.columns([10, 11], gap="medium")
    with left:
        _transcript(session, structure, memory.steps[-1], now)
    with right:
        st.markdown(f"**Step {now:,}**")
        st.text(memory.steps[-1].note)


def _tree(
    session: Session, structure: Structure, step: Step, now: int, goes_on: bool = False
) -> None:
    """Draws the tree; one that ``goes_on`` has room for more than there is."""
    total = len(session.memory.steps)
    levels = int(session.memory.structure.level.max()) + 1
    # The axis grows in doublings: between two of them nothing on the canvas moves.
    axis = 40
    while axis < now:
        axis *= 2
    shown = replace(
        grown(scene(session, structure), now, step),
        total_units=axis if goes_on else min(axis, total),
        levels_total=levels,
    )
    height = canvas_height(levels)
    draw_canvas(session, shown, key="grow-tree", height=height, gutter=True, passing=goes_on)


def _transcript(session: Session, structure: Structure, step: Step, now: int) -> None:
    node = session.selected_in(structure)
    if node is not None:
        node_details(session, structure, node, now)
        node_transcript(session, structure, node, key=keys.GROW_TRANSCRIPT, height=PANEL - 130)
        return
    if session.selected is not None:
        st.caption(f"The selected node {session.selected} has not appeared yet at this step.")
    st.markdown("**Transcript**, up to the leaf that has just joined")
    transcript(
        session,
        key=keys.GROW_TRANSCRIPT,
        height=PANEL,
        focus=step.unit.turn_ids[0],
        marked=set(step.unit.turn_ids),
        mark="new",
        until=step.unit.turn_ids[-1],
    )
