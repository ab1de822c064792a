"""Page Grow: watch the memory being built, step by step."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from segviz.evaluation.node_texts import contentless_share
from segviz.figures.cost import cost_figure, cost_rows, cost_sentence, dollars, total_sentence
from segviz.llm import price
from segviz.tree import Decision, Step, Structure, total_cost
from segviz.tree.inspect import digest
from segviz.tree.shape import boundary_f1, diagnose, random_f1, session_starts, shape
from segviz.ui import keys
from segviz.ui.address import read_view, written
from segviz.ui.inspector.node import node_details, node_transcript
from segviz.ui.inspector.pins import pins_panel
from segviz.ui.pages.grow.decision import decision_line, decision_panel, step_summary
from segviz.ui.pages.grow.side_tables import side_tables_panel
from segviz.ui.pages.grow.transport import keep_playing, playing, transport
from segviz.ui.sidebar.watching import TICK, following, look_back, newest
from segviz.ui.state import AppSession
from segviz.ui.widgets.canvas import part
from segviz.ui.widgets.captions import counted
from segviz.ui.widgets.charts import chart, colours
from segviz.ui.widgets.lists import transcript
from segviz.ui.widgets.tree import canvas_height, draw_canvas, draw_node_link, draw_outline, scene
from segviz.view.captions import provenance_lines
from segviz.view.scene import grown

PANEL = 340

# Fixed room for two lines above the tree, so that the tree does not move from step to step. Its
# tools stand beside them. On a phone the lines are below the tree.
_ROOM = """<style>
@media (min-width: 641px) {
  .st-key-decided { min-height: 3.1rem; padding-right: 15.5rem; }
  .st-key-grow-tree { margin-top: -2.9rem; pointer-events: none; }
  .st-key-grow-tree > * { pointer-events: auto; }
}
</style>"""


def render(session: AppSession) -> None:
    """Draws the page."""
    st.html(_ROOM)
    if session.live and following():
        _newest()
        return
    st.session_state.setdefault(keys.grow_step(session.key), len(session.memory.steps))
    if not playing(session):
        st.session_state[keys.PLAYING] = None  # another memory was opened meanwhile
    _panel(session)


@st.fragment
def _panel(session: AppSession) -> None:
    transport(session)
    now: int = st.session_state[keys.grow_step(session.key)]
    step = session.memory.steps[now - 1]
    structure = session.shown(session.memory.at(now))
    if session.memory.has_frontier:  # only these trees can cascade or become stars
        warnings(structure, step.decision)
    line, why = step_summary(session, structure, step)
    decision_line(line)
    view = read_view()
    if view == "Time axis":
        _tree(session, structure, step, now)
    elif view == "Outline":
        draw_outline(session, grown(scene(session, structure), now, step), key="grow-outline")
    else:
        draw_node_link(session, structure)
    side_tables_panel(session, now)
    left, right = st.columns([10, 11], gap="medium")
    with left:
        _transcript(session, structure, step, now)
    with right:
        decision_panel(session, structure, step, now, why)
    pins_panel(session, structure)
    shape_panel(session, structure, now)
    keep_playing(session)
    if not playing(session):
        part("address", key="address-panel", data=written(session))


@st.fragment(run_every=TICK)
def _newest() -> None:
    """Draws the newest state of a watched conversation, again and again."""
    held = newest()
    if held is None or not following():
        st.rerun()
    # The key of the file keeps one canvas while the memory grows.
    session = replace(held.session, key=held.session.source)
    memory, now = session.memory, len(session.memory.steps)
    structure = session.shown(memory.structure)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Look back", key=keys.LOOK_BACK, on_click=look_back, icon=":material/history:")
        nodes = counted(int(structure.active.sum()), "node")
        st.caption(f"Following: {counted(now, 'turn')}, {nodes}")
    step = memory.steps[-1]
    line, why = step_summary(session, structure, step)
    decision_line(line)
    _tree(session, structure, step, now, goes_on=True)
    left, right = st.columns([10, 11], gap="medium")
    with left:
        _transcript(session, structure, step, now)
    with right:
        st.text(why)


def _tree(
    session: AppSession, structure: Structure, step: Step, now: int, goes_on: bool = False
) -> None:
    """Draws the tree; if it ``goes_on``, its axis has room for further units."""
    total = len(session.memory.steps)
    levels = int(session.memory.structure.level.max()) + 1
    # The axis grows by doubling, so that nothing on the canvas moves in between.
    axis = 40
    while axis < now:
        axis *= 2
    shown = replace(
        grown(scene(session, structure), now, step),
        total_units=axis if goes_on else min(axis, total),
        levels_total=levels,
    )
    height = canvas_height(levels)
    draw_canvas(session, shown, key="grow-tree", height=height, gutter=True)


def _transcript(session: AppSession, structure: Structure, step: Step, now: int) -> None:
    node = session.selected_in(structure)
    if node is not None:
        node_details(session, structure, node, now)
        node_transcript(session, structure, node, key="grow-transcript", height=PANEL - 130)
        return
    if session.selected is not None:
        st.caption(f"The selected node {session.selected} does not exist yet at this step.")
    st.markdown("**Transcript**, up to the leaf that has just joined")
    transcript(
        session,
        key="grow-transcript",
        height=PANEL,
        focus=step.unit.turn_ids[0],
        marked=set(step.unit.turn_ids),
        mark="new",
        until=step.unit.turn_ids[-1],
    )


def warnings(structure: Structure, decision: Decision | None) -> None:
    """Warns of a tree that is nearly a chain (a cascade) or has one node above most (a star).

    The remedy depends on the kind of compatibility model that made ``decision``.
    """
    scored = decision is None or any(item.score is not None for item in decision.candidates)
    for trouble in diagnose(shape(structure), thresholds=scored):
        st.warning(f"{trouble.what} {trouble.remedy}", icon=":material/warning:")


def shape_panel(session: AppSession, structure: Structure, now: int) -> None:
    """Draws the shape table and the cost charts of the tree after ``now`` steps."""
    with st.expander("Shape and cost", key="shape-panel", on_change="rerun") as panel:
        if not panel.open:
            return
        _table(session, now)
        _agreement(session, session.memory.at(now))
        _cost(session, now)
        _provenance(session)
        st.caption(
            f"Structure after step {now}: {digest(structure)}",
            help="A hash of all spans, texts and edges. The same conversation, settings and "
            "version of segviz give the same hash on every machine.",
        )


def _table(session: AppSession, now: int) -> None:
    from segviz.ui.widgets.shapes import MemorySummary, draw_shapes  # reads what is published

    # The literal structure: in the shown one every same-text chain is one node already.
    structure = session.memory.at(now)
    measured = shape(structure)
    steps = session.memory.steps[:now]
    calls = total_cost(steps).calls / max(1, measured.leaves)
    empty = contentless_share(structure, session.conversation.speakers)
    made = total_cost(steps).by_model
    this = MemorySummary("this memory", session.memory.system, measured, calls, empty, made)
    draw_shapes([this], session.conversation.source_format)


def _agreement(session: AppSession, structure: Structure) -> None:
    # The literal tree, because there a lone leaf has a node of level 1, too. Other systems end
    # episodes or trees at session ends by construction, so their agreement has no meaning.
    starts = session_starts(session.sessions[: len(structure.leaves)])
    if not session.memory.has_frontier or not starts or structure.level.max(initial=0) < 1:
        return
    if session.memory.settings["compatibility"].get("session_break", 0) > 0:
        st.caption(
            "The agreement of level-1 nodes with sessions is not shown: with session_break "
            "above 0, the construction is told where sessions start."
        )
        return
    found, chance = boundary_f1(structure, starts), random_f1(structure, starts)
    st.caption(
        f"Level-1 nodes start at session starts with F1 {found:.2f}. A random cut into as many "
        f"pieces reaches F1 {chance:.2f}."
    )


def _provenance(session: AppSession) -> None:
    lines = provenance_lines(session.memory)
    if lines:
        st.text("\n".join(f"{name}: {value}" for name, value in lines))


def _cost(session: AppSession, now: int) -> None:
    steps = session.memory.steps[:now]
    memory = session.memory
    known = session.chat is not None and session.chat.name == memory.chat
    endpoint = session.chat.usual.endpoint if session.chat and known else None
    spent = dollars(steps, price(endpoint, endpoint.model) if endpoint else None)
    chart(
        cost_figure(steps, spent=spent, **colours()),
        f"{total_sentence(steps, spent)} {cost_sentence(steps)}",
        "cost-chart",
        rows=lambda: cost_rows(steps, spent),
    )
