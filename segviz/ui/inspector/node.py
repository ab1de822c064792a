"""Shows one node: its name and place, four tabs, its turns."""

from __future__ import annotations

from functools import partial

import streamlit as st

from segviz.retrieval import Result
from segviz.tree import Structure
from segviz.ui.inspector.pins import pin_button
from segviz.ui.inspector.tabs import history_tab, lineage_tab, similar_tab, text_tab
from segviz.ui.state import Session
from segviz.ui.widgets.captions import coverage, named, turns_of, unmarked
from segviz.ui.widgets.lists import transcript


def node_details(
    session: Session, structure: Structure, node: int, step: int, result: Result | None = None
) -> None:
    """Draws the selected node of ``structure``, which is the memory after ``step`` steps, the
    words that match the question of ``result`` marked.

    Text is shown literally. Only the open tab is computed.
    """
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        name, where = named(session, structure, node).split(" · ", 1)
        st.markdown(f"**{unmarked(name)}** · {unmarked(where)}", width="stretch")
        pin_button(session, node)
        with st.popover("Copy", icon=":material/content_copy:", type="tertiary", key="copy"):
            st.code(_citation(session, structure, node), language=None, wrap_lines=True)
        st.button(
            "",
            icon=":material/close:",
            help="Clear the selection",
            type="tertiary",
            key="clear-selection",
            on_click=lambda: session.select(None),
        )
    st.caption(unmarked(coverage(session, structure, node)))
    draws = {
        "Text": partial(text_tab, structure, node, result),
        "Above and below": partial(lineage_tab, session, structure, node),
        "Similar": partial(similar_tab, session, structure, node),
        "History": partial(history_tab, session, structure, node, step),
    }
    tabs = st.tabs(list(draws), key="inspect", on_change="rerun")
    for tab, draw in zip(tabs, draws.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def _citation(session: Session, structure: Structure, node: int) -> str:
    """Returns a node's text and where it comes from, to be pasted elsewhere."""
    turns = ", ".join(turns_of(session, structure, node))
    where = f"{session.conversation.id}, node {node}, {coverage(session, structure, node)}"
    return f"{structure.text[node]}\n[{where}; turns {turns}]"


def node_transcript(
    session: Session,
    structure: Structure,
    node: int,
    *,
    key: str,
    height: int,
    flags: dict[str, str] | None = None,
) -> None:
    """Draws the transcript with the node's turns marked. A node that has left the memory has none;
    the transcript then opens where the node began."""
    covered = turns_of(session, structure, node)
    began = session.memory.units[int(structure.start[node])].turn_ids[0]
    transcript(
        session,
        key=key,
        height=height,
        focus=covered[0] if covered else began,
        marked=set(covered),
        flags=flags,
    )
