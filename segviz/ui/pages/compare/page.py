"""Page Compare: several systems on the same units, embeddings, K and budget."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.evaluation.measures import UNITS
from segviz.evaluation.node_texts import contentless_share
from segviz.retrieval import RELEVANCE, RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.tree import total_cost
from segviz.tree.shape import shape
from segviz.ui.pages.compare.answers import answers_panel
from segviz.ui.pages.compare.questions import asked_of_all, measure_panel, question_panel
from segviz.ui.pages.compare.stages import stages_panel
from segviz.ui.pages.compare.structures import PER_ROW, cached, offer, structures_panel
from segviz.ui.state import AppSession
from segviz.ui.widgets.captions import counted, unmarked
from segviz.ui.widgets.measures import countable
from segviz.ui.widgets.question import nothing_asked
from segviz.ui.widgets.shapes import MemorySummary, draw_shapes

DEFAULT = ("segment-tree", "clustering", "memtree")

PAPER, SAME = "each system's own retrieval", "segviz's relevance over its nodes"
"""Options for the retrieval; all questions are measured with both, the chosen one first."""

USUAL = "as usual"
"""Option that leaves each retrieval its default relevance."""


def render(session: AppSession) -> None:
    """Draws the page."""
    chosen, settings, by_paper = _choices(session)
    missing = [name for name in chosen if cached(session, name) is None]
    if missing:
        offer(session, missing)
    built = {name: cached(session, name) for name in chosen}
    ready = {name: found for name, found in built.items() if found is not None}
    if not ready:
        if not chosen:
            st.info("Choose at least one system.")
        return
    verdict = st.empty()
    st.subheader("One question", divider="gray")
    results = asked_of_all(session, ready, settings, by_paper)
    structures_panel(session, ready, results)
    if results:
        question_panel(session, ready, results)
    else:
        nothing_asked(session)
    if countable(session.conversation.questions):
        st.subheader("All questions", divider="gray")
        measure_panel(session, ready, settings, by_paper, verdict)
        above = st.container()
        answers = answers_panel(session, ready, settings, by_paper)
        right = {label: answered.right for label, answered in answers.items()}
        with above:
            stages_panel(session, ready, settings, by_paper, right)
    st.subheader("Shape", divider="gray")
    st.caption(
        f"Same for all: {counted(len(session.memory.units), 'leaf', 'leaves')} by the rule "
        f"'{session.memory.unit}', embedded by {unmarked(session.memory.embedder.name)}."
    )
    shapes = [
        MemorySummary(
            SYSTEMS[name].label,
            name,
            shape(memory.structure),
            contentless=contentless_share(memory.structure, session.conversation.speakers),
            made=total_cost(memory.steps).by_model,
        )
        for name, memory in ready.items()
    ]
    draw_shapes(shapes, session.conversation.source_format)


def _choices(session: AppSession) -> tuple[list[str], dict[str, Any], bool]:
    """Draws the choices; returns the systems, the settings, and True for their own retrieval."""
    here = [session.memory.system] if session.memory.system in SYSTEMS else []
    default = list(dict.fromkeys([*here, *DEFAULT]))[:PER_ROW]
    chosen = st.multiselect(
        "Systems",
        list(SYSTEMS),
        default=default,
        format_func=lambda name: SYSTEMS[name].label,
        help="All systems use the same leaves, embeddings and their default parameters. The "
        "system of the sidebar uses its parameters there.",
        wrap=True,
        key="compared-systems",
        bind="query-params",
    )
    first, second, third, fourth = st.columns([4, 3, 3, 3], gap="medium")
    asked = first.selectbox(
        "Asked by",
        (PAPER, SAME),
        help=f"“{PAPER}” is that of its paper or program; for segment trees and clusters, top-down "
        f"propagation of cosines. “{SAME}” ranks all nodes of all levels together.",
        on_change=_ask_anew,
        key="compare-asked",
        bind="query-params",
    )
    relevance = second.selectbox(
        "Relevance",
        [USUAL, *RELEVANCE],
        help=f"As usual: {RetrievalSettings().relevance_for()}; in a system's own retrieval, the "
        "relevance of its paper",
        key="compare-relevance",
        bind="query-params",
    )
    k = third.slider("Retrieved K", 1, 30, 10, key="compare-k", bind="query-params")
    budget = fourth.slider(
        "Units read N",
        5,
        60,
        UNITS,
        help="For the measure “evidence reached”: nodes are read by rank until N units are read.",
        key="compare-units",
        bind="query-params",
    )
    named = None if relevance == USUAL else relevance
    return chosen, {"relevance": named, "k": k, "units": budget}, asked == PAPER


def _ask_anew() -> None:
    """Resets the columns that the atlas compares, so that both are asked alike."""
    for name in "AB":
        st.session_state.pop(f"compare-atlas-{name}", None)
