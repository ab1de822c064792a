"""Shows the shape of the growing memory beside those published of its system, warnings, and its
cost."""

from __future__ import annotations

import streamlit as st

from segviz.figures.cost import cost_figure, cost_rows, cost_sentence, dollars, total_sentence
from segviz.tree import Decision, Structure, total_cost
from segviz.tree.inspect import digest
from segviz.tree.shape import boundary_f1, diagnose, random_f1, session_starts, shape
from segviz.ui.sidebar.spending import price_of
from segviz.ui.state import Session
from segviz.ui.widgets.charts import chart, colours


def warnings(structure: Structure, decision: Decision | None) -> None:
    """Says when the tree cascades or is a star, and what to change about a model that
    decides as in ``decision``."""
    scored = decision is None or any(item.score is not None for item in decision.candidates)
    for trouble in diagnose(shape(structure), thresholds=scored):
        st.warning(f"{trouble.what} {trouble.remedy}", icon=":material/warning:")


def shape_panel(session: Session, structure: Structure, now: int) -> None:
    """Draws the shape table and the cost charts of the tree after ``now`` steps."""
    with st.expander("Shape and cost", key="shape-panel", on_change="rerun") as panel:
        if not panel.open:
            return
        _table(session, now)
        _agreement(session, session.memory.at(now))
        _cost(session, now)
        st.caption(
            f"Structure after step {now}: {digest(structure)}",
            help="A name computed from all spans, texts and edges. The same conversation, settings "
            "and version of segviz give the same name on every machine.",
        )


def _table(session: Session, now: int) -> None:
    from segviz.ui.widgets.shapes import Measured, draw_shapes  # reads what is published

    # The structure as it was built: what is shown has every same-text chain as one node already.
    measured = shape(session.memory.at(now))
    steps = session.memory.steps[:now]
    calls = total_cost(steps).calls / max(1, measured.leaves)
    this = Measured("this memory", session.memory.system, measured, calls)
    draw_shapes([this], session.conversation.source_format)


def _agreement(session: Session, structure: Structure) -> None:
    # ``structure`` is the literal tree: a lone leaf is a piece of level 1, too. Other systems
    # end episodes or trees where sessions end, so that agreement would say nothing.
    starts = session_starts(session.sessions[: len(structure.leaves)])
    if session.memory.laws != "segment-tree" or not starts or structure.level.max(initial=0) < 1:
        return
    if session.memory.settings["compatibility"].get("session_break", 0) > 0:
        st.caption(
            "How well level-1 nodes agree with sessions is not shown: this tree was told where "
            "sessions begin (session_break above 0)."
        )
        return
    found, chance = boundary_f1(structure, starts), random_f1(structure, starts)
    st.caption(
        f"Level-1 nodes begin where sessions begin with F1 {found:.2f}; a random cut into as "
        f"many pieces reaches {chance:.2f}."
    )


def _cost(session: Session, now: int) -> None:
    steps = session.memory.steps[:now]
    memory = session.memory
    spent = dollars(steps, price_of(memory.chat), price_of(memory.embedder.name))
    chart(
        cost_figure(steps, spent=spent, **colours()),
        f"{total_sentence(steps, spent)} {cost_sentence(steps)}",
        "cost-chart",
        rows=lambda: cost_rows(steps, spent),
    )
