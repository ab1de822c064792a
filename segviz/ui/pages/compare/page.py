"""Page Compare: several systems on the same units, embeddings and K."""

from __future__ import annotations

import streamlit as st

from segviz.evaluation import COLLAPSED, LEAVES, NATIVE, contentless_share
from segviz.retrieval import PRESETS_HELP, RELEVANCE, RERANKED, RetrievalSettings
from segviz.systems import SYSTEMS
from segviz.tree import total_cost
from segviz.tree.shape import shape
from segviz.ui.pages import Panel, draw_panels
from segviz.ui.pages.compare import Comparing, cached
from segviz.ui.pages.compare.answers import graded_panel
from segviz.ui.pages.compare.questions import (
    atlas_panel,
    numbers_panel,
    question_panel,
    returned_panel,
    verdict_panel,
)
from segviz.ui.pages.compare.structures import build_missing
from segviz.ui.state import AppSession, linked
from segviz.ui.widgets import captions, measures, shapes

DEFAULT = ("segment-tree", "clustering", "memtree")

ASKED_BY = {
    "each system's own retrieval": NATIVE,
    "segviz's relevance over its nodes": COLLAPSED,
    RERANKED: LEAVES,
}
"""Options for the retrieval; all questions are measured with each, the chosen one first."""

USUAL = "that of each way"
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


def _countable(compared: Comparing) -> bool:
    return bool(measures.countable(compared.questions))


def _measured(compared: Comparing) -> bool:
    return _countable(compared) and compared.comparison is not None


PANELS: tuple[Panel[Comparing], ...] = (
    Panel("", question_panel),
    Panel("", verdict_panel, _countable),  # in slots at the top, after the trees are there
    Panel(
        "Retrieved for this question", returned_panel, lambda it: it.results, "compare-retrieved"
    ),
    Panel(
        "All ways of asking, costs, and curves over tokens",
        numbers_panel,
        _measured,
        "compare-numbers",
    ),
    Panel("Question atlas", atlas_panel, _measured, "compare-atlas-open", bound="compare-atlas-"),
    Panel("", graded_panel, _countable),
    Panel("Shape, beside what papers print", _shapes, closed="compare-shapes"),
)


def _choices(session: AppSession) -> Comparing | None:
    """Draws the choices and builds missing memories; returns what the panels show, if any."""
    verdict, plot = st.empty(), st.container()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    here = [session.memory.system] if session.memory.system in SYSTEMS else []
    usual = list(dict.fromkeys([*here, *DEFAULT]))[: len(DEFAULT)]
    chosen = row.multiselect(
        "Systems",
        list(SYSTEMS),
        format_func=lambda name: SYSTEMS[name].label,
        label_visibility="collapsed",
        wrap=True,
        **linked("compared-systems", usual, SYSTEMS),
    )
    with row.popover("Setting", key="compare-setting"):
        st.caption(
            "All systems have the same leaves and embeddings, and their default parameters; that "
            "of the sidebar has its parameters there."
        )
        asked = st.selectbox(
            "Asked by",
            list(ASKED_BY),
            help="The own retrieval is that of its paper or program; for segment trees and "
            "clusters, top-down propagation of cosines. segviz's relevance ranks all nodes of all "
            f"levels together. {PRESETS_HELP[RERANKED]}",
            on_change=_ask_anew,
            **linked("compare-asked", next(iter(ASKED_BY)), ASKED_BY),
        )
        offered = [USUAL, *RELEVANCE]
        relevance = st.selectbox(
            "Relevance",
            offered,
            help=f"Of each way: {RetrievalSettings().relevance_for()}; in a system's own "
            "retrieval, the relevance of its paper",
            **linked("compare-relevance", USUAL, offered),
        )
        k = st.slider("Retrieved K", 1, 30, **linked("compare-k", 10, range(1, 31)))
        how: tuple[str, bool, bool] = "", True, True
        if measures.countable(session.conversation.questions):
            how = (measures.measure_choice(session, k), *measures.counting_choices(session))
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
    return Comparing(session, ready, settings, ASKED_BY[asked], *how, verdict, plot)


def _ask_anew() -> None:
    """Resets the columns that the atlas compares, so that both are asked alike."""
    for name in "AB":
        st.session_state.pop(f"compare-atlas-{name}", None)
