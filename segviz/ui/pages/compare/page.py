"""Page Compare: several systems on the same units, embeddings, K and budget."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.retrieval import RELEVANCE, RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.tree.shape import shape
from segviz.ui.pages.compare.questions import asked_of_all, measure_panel, question_panel
from segviz.ui.pages.compare.structures import PER_ROW, cached, offer, structures_panel
from segviz.ui.state import Session
from segviz.ui.widgets.captions import counted, unmarked
from segviz.ui.widgets.measures import countable
from segviz.ui.widgets.shapes import Measured, draw_shapes

DEFAULT = ("segment-tree", "clustering", "memtree")

USUAL = "as usual"
"""The relevance where none is chosen."""


def render(session: Session) -> None:
    """Draws the page."""
    chosen, settings = _choices(session)
    built = {name: cached(session, name) for name in chosen}
    missing = [name for name, found in built.items() if found is None]
    if missing:
        offer(session, missing)
    ready = {name: found for name, found in built.items() if found is not None}
    if not ready:
        if not chosen:
            st.info("Choose one system or more to compare.")
        return
    verdict = st.empty()
    st.subheader("One question", divider="gray")
    results = asked_of_all(session, ready, settings)
    structures_panel(session, ready, results)
    if results:
        question_panel(session, ready, results)
        if countable(session.conversation.questions):
            st.subheader("All questions", divider="gray")
            measure_panel(session, ready, settings, verdict)
    else:
        st.info("This conversation has no questions to compare by.")
    st.subheader("Shape", divider="gray")
    shapes = [
        Measured(SYSTEMS[name].label, name, shape(memory.structure))
        for name, memory in ready.items()
    ]
    draw_shapes(shapes, session.conversation.source_format)


def _choices(session: Session) -> tuple[list[str], dict[str, Any]]:
    first = [session.memory.system] if session.memory.system in SYSTEMS else []
    default = list(dict.fromkeys([*first, *DEFAULT]))[:PER_ROW]
    chosen = st.multiselect(
        "Systems",
        list(SYSTEMS),
        default=default,
        format_func=lambda name: SYSTEMS[name].label,
        key="compared-systems",
        persist_state="session",
        help="All with their defaults, over the same leaves and embeddings; the one in the "
        "sidebar with its parameters there.",
        wrap=True,
    )
    second, third, fourth = st.columns(3, gap="medium")
    relevance = second.selectbox(
        "Relevance",
        [USUAL, *RELEVANCE],
        key="compare-relevance",
        persist_state="session",
        help=f"As usual: {RetrievalSettings().relevance_for()}, and in a system's own retrieval "
        "what its paper scores by",
    )
    k = third.slider("Retrieved K", 1, 30, 10, key="compare-k", persist_state="session")
    budget = fourth.slider(
        "Units read N",
        5,
        60,
        20,
        key="compare-budget",
        persist_state="session",
        help="For evidence reached: nodes are read in the order of their rank until so many "
        "units are read.",
    )
    st.caption(
        f"Same for all: {counted(len(session.memory.units), 'leaf', 'leaves')} by the rule "
        f"'{session.memory.unit}', embedded by {unmarked(session.memory.embedder.name)}, relevance "
        f"{relevance}, K {k}, N {budget} units."
    )
    named = None if relevance == USUAL else relevance
    return chosen, {"relevance": named, "k": k, "units": budget}
