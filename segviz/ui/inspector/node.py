"""Details of one node: a head, tabs of which only the open one is computed, its turns."""

from __future__ import annotations

import streamlit as st

from segviz.tree import Structure
from segviz.ui.inspector.pins import pin_button
from segviz.ui.inspector.tabs import kin_tab, nearest_tab, text_tab, written_tab
from segviz.ui.state import Session
from segviz.ui.widgets.captions import held, named, turns_of
from segviz.ui.widgets.formatting import unmarked
from segviz.ui.widgets.lists import transcript


def node_details(session: Session, structure: Structure, node: int, step: int) -> None:
    """The selected node of ``structure``, which is the memory after ``step`` steps.

    Text is shown literally."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        name, where = named(session, structure, node).split(" · ", 1)
        st.markdown(f"**{name}** · {unmarked(where)}", width="stretch")
        pin_button(session, node)
        st.button(
            "",
            icon=":material/close:",
            help="Clear the selection",
            type="tertiary",
            key="clear-selection",
            on_click=lambda: session.select(None),
        )
    st.caption(unmarked(held(session, structure, node)))
    text, kin, similar, history = st.tabs(
        ["Text", "Above and below", "Similar", "History"], key="inspect", on_change="rerun"
    )
    if text.open:
        with text:
            text_tab(structure, node)
    if kin.open:
        with kin:
            kin_tab(session, structure, node)
    if similar.open:
        with similar:
            nearest_tab(session, structure, node)
    if history.open:
        with history:
            written_tab(session, structure, node, step)


def node_transcript(
    session: Session,
    structure: Structure,
    node: int,
    *,
    key: str,
    height: int,
    flags: dict[str, str] | None = None,
) -> None:
    """The transcript with the node's turns lit; a node that has left the memory has none,
    so the transcript opens where it began."""
    covered = turns_of(session, structure, node)
    began = session.memory.units[int(structure.start[node])].turn_ids[0]
    transcript(
        session.conversation,
        key=key,
        height=height,
        focus=covered[0] if covered else began,
        marked=set(covered),
        flags=flags,
        about=session.key,
        units=session.memory.units,
    )
