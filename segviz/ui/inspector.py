"""Details of one node."""

from __future__ import annotations

import streamlit as st

from segviz.structure import Structure
from segviz.ui.lists import transcript
from segviz.ui.state import Session


def turns_of(session: Session, structure: Structure, node: int) -> list[str]:
    """Ids of the turns below a node of ``structure``, in order."""
    units = session.memory.units
    return [turn for index in structure.coverage(node) for turn in units[index].turn_ids]


def place(session: Session, structure: Structure, node: int) -> str:
    """Where a node lies, in words: level, units, sessions."""
    start, stop = int(structure.start[node]), int(structure.stop[node])
    first, last = session.sessions[start] + 1, session.sessions[stop - 1] + 1
    level = int(structure.level[node])
    name = "leaf" if level == 0 else f"level {level}"
    units = f"unit {start}" if stop - start == 1 else f"units {start}–{stop - 1}"
    where = f"session {first}" if first == last else f"sessions {first}–{last}"
    return f"{name} · {units} · {where}"


def node_details(session: Session, structure: Structure, node: int) -> None:
    """The node's place, children and annotation. Text is shown literally."""
    children = len(structure.children[node])
    held = "" if not children else f" · {children} {'child' if children == 1 else 'children'}"
    head, close = st.columns([6, 1], vertical_alignment="center")
    head.markdown(f"**Node {node}** · {place(session, structure, node)}{held}")
    close.button(
        "",
        icon=":material/close:",
        help="Clear the selection",
        type="tertiary",
        key="clear-selection",
        on_click=lambda: session.select(None),
    )
    with st.container(border=True, height=170):
        st.text(structure.text[node])


def node_transcript(
    session: Session,
    structure: Structure,
    node: int,
    *,
    key: str,
    height: int,
    flags: dict[str, str] | None = None,
) -> None:
    """The transcript with the node's turns lit."""
    covered = turns_of(session, structure, node)
    transcript(
        session.conversation,
        key=key,
        height=height,
        focus=covered[0] if covered else None,
        marked=set(covered),
        flags=flags,
    )
