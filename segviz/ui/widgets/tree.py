"""The tree on its time axis, as both pages show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from segviz.export import file_name
from segviz.figures.node_link import node_link_html
from segviz.frontend.live import LiveSetting
from segviz.frontend.payload import tree_payload
from segviz.tree import Decision, Structure
from segviz.tree.coherence import known_coherence
from segviz.tree.unfold import Unfolded, follows_time, unfold
from segviz.ui.state import Session, begin
from segviz.ui.widgets.canvas import clicked, sent_look, sent_setting, tree_canvas
from segviz.view.look import Look
from segviz.view.palette import ACCENT, SCORE_RAMP_DARK, SCORE_RAMP_LIGHT, session_colours

VIEWS = ("Time axis", "Node-link", "Outline")


def canvas_height(levels: int, mirrored: bool = False) -> int:
    """Pixels for so many levels: rows neither stretched nor squeezed out of sight. The
    mirrored picture has a second line in its header."""
    return min(192 + 70 * levels, 722) if mirrored else min(202 + 40 * levels, 522)


def view_choice(key: str) -> str:
    """The ways to look at one structure, as tabs that draw only the one in front."""
    begin(key, VIEWS[0])
    chosen = st.segmented_control(
        "View",
        VIEWS,
        required=True,
        key=key,
        label_visibility="collapsed",
        persist_state="session",
    )
    return chosen or VIEWS[0]


def draw_canvas(
    session: Session,
    structure: Structure,
    *,
    key: str,
    height: int,
    on_setting: Callable[[LiveSetting], None] | None = None,
    **options: Any,
) -> None:
    """The canvas tree; a click selects the node for every panel of the page.
    ``on_setting`` gets what the controls of its header are set to.

    A structure that does not follow time is drawn in the order of its branches."""
    conversation, look = session.conversation, _look()
    options |= {"look": look, "coherence": known_coherence(structure, look.colour == "coherence")}
    drawn = None if in_time(session, structure) else unfold(structure)
    selected, sessions = session.selected, session.sessions
    if drawn is not None:
        structure, options = drawn.structure, _moved(drawn, structure, options)
        selected = next(iter(drawn.first([] if selected is None else [selected])), None)
        sessions = [sessions[unit] for unit in drawn.unit.tolist()]
    payload = tree_payload(
        structure,
        unit_sessions=sessions,
        session_labels=[f"S{i + 1}" for i in range(len(conversation.sessions))],
        session_dates=[s.start or s.raw_date for s in conversation.sessions],
        identity=session.key,
        selected=selected,
        title=conversation.id,
        **options,
    )

    if drawn is not None:
        payload["axis_units"] = drawn.unit.tolist()  # to point at turns

    def select() -> None:
        here = clicked(key, selected)
        session.select(here if drawn is None or here is None else int(drawn.node[here]))

    def heard() -> None:
        setting = sent_setting(key)
        if setting is not None and on_setting is not None:
            on_setting(setting)

    def chosen() -> None:
        sent = sent_look(key)
        if sent is not None:
            st.session_state["colour"], st.session_state["labels"] = sent.colour, sent.labels

    tree_canvas(
        payload,
        key=key,
        height=height,
        texts=structure.text,
        on_select=select,
        on_setting=heard,
        on_look=chosen,
    )
    if drawn is not None:
        st.caption(
            "This memory does not follow time: it is drawn in the order of its branches, nodes "
            "with several parents under each of them. Colours are sessions, oldest violet."
        )


def _look() -> Look:
    """Colour and label as chosen on either page, or by a link."""
    state = st.session_state
    return Look(state.get("colour", ""), state.get("labels", ""))


def in_time(session: Session, structure: Structure) -> bool:
    """Whether a structure of this memory can be shown on the time axis."""
    return session.memory.laws == "segment-tree" or follows_time(structure)


def _moved(drawn: Unfolded, structure: Structure, options: dict[str, Any]) -> dict[str, Any]:
    """Options of ``tree_payload`` for the drawing of a structure; scores can be shown there,
    but not propagated, as copies would count twice."""
    moved = dict(options) | {"total_units": len(drawn.unit), "live": None, "origin": drawn.node}
    for name in ("initial", "final", "coherence"):
        if options.get(name) is not None and len(options[name]):
            moved[name] = options[name][drawn.node]
    for name in ("top_initial", "top_final"):
        moved[name] = drawn.first(options.get(name, ()))
    for name in ("added", "revised", "gold"):
        moved[name] = drawn.every(options.get(name, ()))
    if options.get("mode") == "grow":
        moved["frontier"] = drawn.every(structure.frontier)
    decision: Decision | None = options.get("decision")
    if decision is not None:
        judged = [(item, drawn.first([item.node])) for item in decision.candidates]
        moved["decision"] = replace(
            decision,
            candidates=tuple(replace(item, node=place[0]) for item, place in judged if place),
            chosen=next(iter(drawn.first([decision.chosen])), None)
            if decision.chosen is not None
            else None,
        )
    return moved


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
    with st.container(horizontal=True, vertical_alignment="top"):
        st.caption(
            f"{count}, coloured {coloured}{legend}. Drag to pan, scroll to zoom.", width="stretch"
        )
        st.download_button(
            "This drawing (HTML)",
            lambda: html,
            file_name=file_name(session.conversation.id, "node-link", "html"),
            mime="text/html",
            key="node-link-file",
            help="One file that works offline, the program that draws it included.",
            icon=":material/download:",
            on_click="ignore",
        )
