"""Page Grow: watch the memory being built, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from segviz.ui import keys
from segviz.ui.address import VIEWS, current, message, pinned, read_view
from segviz.ui.inspector import (
    changes_of,
    changes_panel,
    node_details,
    node_transcript,
    pins_panel,
    tree_name,
)
from segviz.ui.pages import Panel, draw_panels
from segviz.ui.pages.grow import decision, tables, transport
from segviz.ui.settings import follow_build
from segviz.ui.sidebar.watching import TICK, following, look_back, newest
from segviz.ui.state import AppSession
from segviz.ui.widgets import canvas, captions, lists, tree
from segviz.ui.widgets.waiting import labels
from segviz.view.scene import grown

PANEL = 340

_PAIRED = 290
"""Height in pixels of each of two trees below each other, without the legend."""

# Fixed room for two lines above the tree, so that the tree does not move from step to step. Its
# tools stand beside them. On a phone the lines are below the tree.
_ROOM = """<style>
@media (min-width: 641px) {
  .st-key-decided { min-height: 3.1rem; padding-right: 15.5rem; }
  :is(.st-key-grow-tree, .st-key-second-tree) { margin-top: -2.9rem; pointer-events: none; }
  :is(.st-key-grow-tree, .st-key-second-tree) > * { pointer-events: auto; }
}
.st-key-second-tree { --segviz-hint: none; }
</style>"""


def render(session: AppSession) -> None:
    """Draws the page."""
    st.html(_ROOM)
    if session.live and following():
        _newest()
        return
    st.session_state.setdefault(session.grow_step, len(session.memory.steps))
    if not transport.playing(session):
        st.session_state[keys.PLAYING] = None  # another memory was opened meanwhile
    _panels(session)


@st.fragment
def _panels(session: AppSession) -> None:
    follow_build(session)
    now: int = st.session_state[session.grow_step]
    structure = session.shown(session.memory.at(now))
    labels(session.memory, structure)  # the first line of the page has one
    state = decision.GrowState(session, structure, now)
    with st.container(key="grow-page"):
        draw_panels(PANELS, state, _COLUMNS)
        transport.keep_playing(session)
        if not transport.playing(session):
            canvas.part("address", key="address-panel", data=message(lambda: current(session)))


@st.fragment(run_every=TICK)
def _newest() -> None:
    """Draws the newest state of a watched conversation, again and again."""
    watched = newest()
    if watched is None or not following():
        st.rerun()
    # The key of the file keeps one canvas while the memory grows.
    session = replace(watched.session, key=watched.session.source)
    structure = session.shown(session.memory.structure)
    state = decision.GrowState(session, structure, len(session.memory.steps))
    with st.container(key="grow-page"):
        draw_panels(FOLLOWING, state, _COLUMNS)


def _following(state: decision.GrowState) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Look back", key=keys.LOOK_BACK, on_click=look_back, icon=":material/history:")
        nodes = captions.counted(int(state.structure.active.sum()), "node")
        st.caption(f"Following: {captions.counted(state.step, 'turn')}, {nodes}")


def _trees(state: decision.GrowState) -> None:
    """Draws the tree; below it another build at the same step, with what differs."""
    second = state.second
    if second is None:
        _tree(state)
        return
    changes = changes_of(state, second)
    here = [row.node for row in changes.rows if row.kind != "retired"]
    there = [row.node for row in changes.rows if row.kind == "retired"]
    there += [changes.twins[row.node] for row in changes.rows if row.kind == "rewritten"]
    pale = "What both builds have is pale. " * bool(changes.rows)
    st.markdown(captions.unmarked(f"{pale}This one: {tree_name(state, second)}."))
    _tree(state, differs=here)
    st.markdown(captions.unmarked(f"The other one: {tree_name(second, state)}."))
    _tree(second, key=keys.BESIDE, differs=there)
    changes_panel(state, second)


def _tree(
    state: decision.GrowState,
    goes_on: bool = False,
    key: str = "grow",
    differs: Sequence[int] = (),
) -> None:
    """Draws a tree; if it ``goes_on``, its axis has room for further units.

    Nodes that only this build has, which ``differs`` lists, stand out.
    """
    session, now, other = state.session, state.step, state.second
    total = len(session.memory.steps)
    levels = int(session.memory.structure.level.max()) + 1
    # The axis grows by doubling, so that nothing on the canvas moves in between.
    axis = 40
    while axis < now:
        axis *= 2
    shown = replace(
        grown(tree.scene(session, state.structure, other), now, state.made_by),
        total_units=axis if goes_on else min(axis, total),
        levels_total=levels,
    )
    # Of two trees below each other the lower one explains the marks.
    legend = other is None or key == keys.BESIDE
    height = tree.canvas_height(levels) if other is None else _PAIRED + 40 * legend
    tree.draw_canvas(
        session,
        shown,
        key=f"{key}-tree",
        height=height,
        gutter=True,
        legend=legend,
        differs=differs,
    )


def _other_drawing(state: decision.GrowState) -> None:
    session, structure = state.session, state.structure
    if read_view() == "Outline":
        shown = grown(tree.scene(session, structure), state.step, state.made_by)
        tree.draw_outline(session, shown, key="grow-outline")
    else:
        tree.draw_node_link(session, structure)


def _node(state: decision.GrowState) -> None:
    state = state.picked
    node_details(state)
    node_transcript(state, key="grow-transcript", height=PANEL - 130)


def _transcript(state: decision.GrowState) -> None:
    session, turns = state.session, state.made_by.unit.turn_ids
    if session.selected is not None:
        st.caption(f"The selected node {session.selected} does not exist yet at this step.")
    st.markdown("**Transcript**, up to the leaf that has just joined")
    passage = lists.Passage(turns[0], marked=set(turns), mark="new", until=turns[-1])
    lists.transcript(session, passage, key="grow-transcript", height=PANEL)


_COLUMNS = (10, 11)

PANELS: tuple[Panel[decision.GrowState], ...] = (
    Panel("", transport.transport),
    # Only trees with a frontier can cascade or become stars.
    Panel("", tables.warnings, lambda it: it.session.memory.has_frontier),
    Panel("", decision.decision_line),
    Panel("", _trees, lambda it: read_view() == VIEWS[0]),
    Panel("", _other_drawing, lambda it: read_view() != VIEWS[0]),
    Panel("Tables", tables.side_tables_panel, tables.has_side_tables, closed="tables-panel"),
    Panel("", _node, lambda it: it.picked.node is not None, column=0),
    Panel("", _transcript, lambda it: it.picked.node is None, column=0),
    Panel("", decision.decision_panel, column=1),
    Panel("", pins_panel, lambda it: pinned(it.session)),
    Panel("Shape and cost", tables.shape_panel, closed="shape-panel"),
)
"""Panels of the page, from the top."""

FOLLOWING: tuple[Panel[decision.GrowState], ...] = (
    Panel("", _following),
    Panel("", decision.decision_line),
    Panel("", lambda it: _tree(it, goes_on=True)),
    *(panel for panel in PANELS if panel.draw in (_node, _transcript)),
    Panel("", lambda it: st.text(it.summary[1]), column=1),
)
"""Panels while a watched conversation is followed."""
