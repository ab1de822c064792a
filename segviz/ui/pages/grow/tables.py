"""Panels with tables: a system's side tables, and the shape and cost of the tree."""

from __future__ import annotations

from typing import cast

import streamlit as st

from segviz.construct import Tabulates
from segviz.evaluation.node_texts import contentless_share
from segviz.figures.cost import cost_figure, cost_rows, cost_sentence, dollars, total_sentence
from segviz.figures.timeline import timed, timeline_figure
from segviz.llm import price
from segviz.tree import total_cost
from segviz.tree.inspect import digest
from segviz.tree.shape import boundary_f1, diagnose, random_f1, session_starts, shape
from segviz.ui.pages.grow.decision import GrowState
from segviz.ui.widgets import captions, charts
from segviz.view.captions import provenance_lines


def has_side_tables(state: GrowState) -> bool:
    """Returns True if the system has side tables."""
    return isinstance(state.session.memory.model, Tabulates)


def side_tables_panel(state: GrowState) -> None:
    """Draws the side tables of a system that has some, after the step shown."""
    memory, step = state.session.memory, state.step
    tables = cast(Tabulates, memory.model).tables(memory.at(step), memory.steps[:step])
    name = st.segmented_control(
        "Table",
        list(tables),
        default=next(iter(tables), None),
        required=True,
        key=f"side-table-{memory.system}",
        label_visibility="collapsed",
    )
    rows = tables.get(name or "", ())
    if not rows:
        st.caption("This table has no rows at this step.")
        return
    if bars := timed(rows):
        lane = next(iter(bars[0]))
        bar = captions.counted(len(bars), "bar")
        sentence = f"{name}: {bar} from start to stop, a lane for each {lane}"
        figure = timeline_figure(bars, neutral=charts.neutral(), ink=charts.ink())
        charts.plot(figure, sentence, "side-table-timeline")
    st.dataframe(rows, height=charts.tall(len(rows), 12), hide_index=True)


def warnings(state: GrowState) -> None:
    """Warns of a tree that is nearly a chain (a cascade) or has one node above most (a star).

    The remedy depends on the kind of compatibility model that decided.
    """
    made = state.made_by.decision
    scored = made is None or any(item.score is not None for item in made.candidates)
    for trouble in diagnose(shape(state.structure), thresholds=scored):
        st.warning(f"{trouble.what} {trouble.remedy}", icon=":material/warning:")


def shape_panel(state: GrowState) -> None:
    """Draws the shape table and the cost charts of the tree."""
    _table(state)
    _agreement(state)
    _cost(state)
    lines = provenance_lines(state.session.memory)
    if lines:
        st.text("\n".join(f"{name}: {value}" for name, value in lines))
    st.caption(
        f"Structure after step {state.step}: {digest(state.structure)}",
        help="A hash of all spans, texts and edges. The same conversation, settings and "
        "version of segviz give the same hash on every machine.",
    )


def _table(state: GrowState) -> None:
    """Draws shape and calls of the memory at this step, with published numbers."""
    from segviz.ui.widgets.shapes import MemorySummary, draw_shapes  # reads what is published

    # The literal structure: in the shown one every same-text chain is one node already.
    session, structure = state.session, state.session.memory.at(state.step)
    measured = shape(structure)
    steps = session.memory.steps[: state.step]
    calls = total_cost(steps).calls / max(1, measured.leaves)
    empty = contentless_share(structure, session.conversation.speakers)
    made = total_cost(steps).by_model
    this = MemorySummary("this memory", session.memory.system, measured, calls, empty, made)
    draw_shapes([this], session.conversation.source_format)


def _agreement(state: GrowState) -> None:
    """Draws how well nodes of level 1 agree with sessions, if that has a meaning."""
    # The literal tree, because there a lone leaf has a node of level 1, too. Other systems end
    # episodes or trees at session ends by construction, so their agreement has no meaning.
    session, structure = state.session, state.session.memory.at(state.step)
    starts = session_starts(session.sessions[: len(structure.leaves)])
    if not session.memory.has_frontier or not starts or structure.level.max(initial=0) < 1:
        return
    chosen = session.memory.settings["compatibility"]
    if seen := [name for name in ("session_break", "session_chapters") if chosen.get(name, 0) > 0]:
        st.caption(
            f"The agreement of level-1 nodes with sessions is not shown: with {seen[0]} "
            "above 0, the construction is told where sessions start."
        )
        return
    agreement, chance = boundary_f1(structure, starts), random_f1(structure, starts)
    st.caption(
        f"Level-1 nodes start at session starts with F1 {agreement:.2f}. A random cut into as many "
        f"pieces reaches F1 {chance:.2f}."
    )


def _cost(state: GrowState) -> None:
    """Draws calls and tokens over the steps; dollars if the price of the model is known."""
    session, memory = state.session, state.session.memory
    steps = memory.steps[: state.step]
    known = session.chat is not None and session.chat.name == memory.chat
    chat = session.chat if known else None
    clients = {chat.of(role) for role in ("decision", "annotation")} if chat else set()
    endpoint = clients.pop().endpoint if len(clients) == 1 else None  # two models have two prices
    spent = dollars(steps, price(endpoint, endpoint.model) if endpoint else None)
    charts.chart(
        cost_figure(steps, spent=spent, accent=charts.ink(), neutral=charts.neutral()),
        f"{total_sentence(steps, spent)} {cost_sentence(steps)}",
        "cost-chart",
        rows=lambda: cost_rows(steps, spent),
    )
