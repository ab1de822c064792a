"""The tree on its time axis, as both pages show it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.figures.node_link import node_link_html
from segviz.frontend.palette import (
    ACCENT,
    SCORE_RAMP_DARK,
    SCORE_RAMP_LIGHT,
    session_colours,
)
from segviz.frontend.payload import tree_payload
from segviz.structure import Structure
from segviz.ui.canvas import clicked, tree_canvas
from segviz.ui.state import Session

VIEWS = ("Time axis", "Node-link")


def canvas_height(levels: int, mirrored: bool = False) -> int:
    """Pixels for so many levels: rows neither stretched nor squeezed out of sight."""
    return min(90 + 70 * levels, 620) if mirrored else min(140 + 40 * levels, 460)


def view_choice(key: str) -> str:
    """The two drawings of one structure, as tabs that draw only the one in front."""
    chosen: str = st.segmented_control(
        "View",
        VIEWS,
        default=VIEWS[0],
        required=True,
        key=key,
        label_visibility="collapsed",
        persist_state="session",
    )
    return chosen


def draw_canvas(
    session: Session, structure: Structure, *, key: str, height: int, **options: Any
) -> None:
    """The canvas tree; a click selects the node for every panel of the page."""
    conversation = session.conversation
    payload = tree_payload(
        structure,
        unit_sessions=session.sessions,
        session_labels=[f"S{i + 1}" for i in range(len(conversation.sessions))],
        session_dates=[s.start or s.raw_date for s in conversation.sessions],
        identity=session.key,
        selected=session.selected,
        title=conversation.id,
        **options,
    )
    tree_canvas(
        payload,
        key=key,
        height=height,
        on_select=lambda: session.select(clicked(key, session.selected)),
    )


def draw_node_link(session: Session, structure: Structure, height: int = 560, **marks: Any) -> None:
    """The pyvis drawing of the same structure; ``marks`` as in ``node_link_html``."""
    palette = session_colours(len(session.conversation.sessions))
    middles = (structure.start + structure.stop - 1) // 2
    colours = [palette[session.sessions[middle]] for middle in middles.tolist()]
    dark = st.context.theme.type == "dark"
    html, shown = node_link_html(
        structure,
        colours,
        background="#171614" if dark else "#ffffff",
        foreground="#edebe8" if dark else "#2f2d2b",
        height=height,
        ramp=SCORE_RAMP_DARK if dark else SCORE_RAMP_LIGHT,
        accent=ACCENT["dark" if dark else "light"],
        selected=session.selected,
        **marks,
    )
    st.iframe(html, height=height + 30, alt="Node-link drawing of the memory")
    total = int(structure.active.sum())
    coloured = "by propagated score" if "scores" in marks else "by session (middle of the span)"
    count = f"All {shown} nodes" if shown == total else f"The {shown} highest of {total} nodes"
    legend = "; retrieved nodes ringed, gold evidence as diamonds" if "scores" in marks else ""
    st.caption(f"{count}, coloured {coloured}{legend}. Drag to pan, scroll to zoom.")
