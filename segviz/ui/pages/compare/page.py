"""Page Compare: several systems on the same units, embeddings and K."""

from __future__ import annotations

import streamlit as st

from segviz.evaluation import COLLAPSED, LEAVES, NATIVE, ONE_WRITER, contentless_share
from segviz.retrieval import PRESETS_HELP, RELEVANCE, RERANKED, RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.tree import total_cost
from segviz.tree.shape import shape
from segviz.ui.pages import Panel, draw_panels
from segviz.ui.pages.compare import Comparing, cached, has_written_texts
from segviz.ui.pages.compare.answers import graded_panel
from segviz.ui.pages.compare.questions import measure_panel, question_panel
from segviz.ui.pages.compare.structures import PER_ROW, build_missing
from segviz.ui.state import AppSession
from segviz.ui.widgets import captions, measures, shapes

DEFAULT = ("segment-tree", "clustering", "memtree")

ASKED_BY = {
    "each system's own retrieval": NATIVE,
    "segviz's relevance over its nodes": COLLAPSED,
    RERANKED: LEAVES,
}
"""Options for the retrieval; all questions are measured with each, the chosen one first."""

USUAL = "as usual"
"""Option that leaves each retrieval its default relevance."""


def render(session: AppSession) -> None:
    """Draws the page."""
    compared = _choices(session)
    if compared is not None:
        draw_panels(PANELS, compared)


def _shapes(compared: Comparing) -> None:
    """Draws the shape of every structure beside those that papers print."""
    conversation, memory = compared.session.conversation, compared.session.memory
    st.caption(
        f"Same for all: {captions.counted(len(memory.units), 'leaf', 'leaves')} by the rule "
        f"'{memory.unit}', embedded by {captions.unmarked(memory.embedder.name)}."
        + f" {ONE_WRITER}"
        * has_written_texts(memory)
    )
    summaries = [
        shapes.MemorySummary(
            compared.label(name),
            name,
            shape(one.structure),
            contentless=contentless_share(one.structure, conversation.speakers),
            made=total_cost(one.steps).by_model,
        )
        for name, one in compared.memories.items()
    ]
    shapes.draw_shapes(summaries, conversation.source_format)


PANELS: tuple[Panel[Comparing], ...] = (
    Panel("One question", question_panel),
    Panel("All questions", measure_panel, lambda it: measures.countable(it.questions)),
    Panel("", graded_panel, lambda it: measures.countable(it.questions)),
    Panel("Shape", _shapes),
)


def _choices(session: AppSession) -> Comparing | None:
    """Draws the choices and builds missing memories; returns what the panels show, if any."""
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
    first, second, third = st.columns([4, 3, 3], gap="medium")
    asked = first.selectbox(
        "Asked by",
        list(ASKED_BY),
        help="The own retrieval is that of its paper or program; for segment trees and clusters, "
        "top-down propagation of cosines. segviz's relevance ranks all nodes of all levels "
        f"together. {PRESETS_HELP[RERANKED]}",
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
    # Memories that are built or were built before; the others are not compared yet.
    missing = [name for name in chosen if cached(session, name) is None]
    built = build_missing(session, missing) if missing else {}
    memories = {name: built.get(name) or cached(session, name) for name in chosen}
    ready = {name: memory for name, memory in memories.items() if memory is not None}
    if not ready:
        if not chosen:
            st.info("Choose at least one system.")
        return None
    named = None if relevance == USUAL else relevance
    settings = RetrievalSettings(k=k, relevance=named, policy="none")
    return Comparing(session, ready, settings, ASKED_BY[asked], st.empty())


def _ask_anew() -> None:
    """Resets the columns that the atlas compares, so that both are asked alike."""
    for name in "AB":
        st.session_state.pop(f"compare-atlas-{name}", None)
