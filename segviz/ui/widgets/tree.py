"""Draws a structure for Grow and Ask: on the time axis, as node links, or as an outline.

The outline has rows that open and close, to be read as text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from segviz.export import file_name
from segviz.figures.node_link import Marks, Page, node_link_html
from segviz.frontend.outline import MAX_TEXTS, outline_payload
from segviz.frontend.payload import tree_payload
from segviz.memory import Memory
from segviz.retrieval import Result, ranking
from segviz.tree import Structure
from segviz.ui.address import VIEWS, read_look, read_view, write_look, write_view
from segviz.ui.state import AppSession, PageState, shows
from segviz.ui.widgets import canvas, captions, charts, waiting
from segviz.view import coloring, palette
from segviz.view.scene import UNFOLDED, Scene, grown, scene_of


def canvas_height(levels: int) -> str:
    """Returns the height of a tree in CSS: rows are readable and fill the window if possible."""
    most = f"{_CHROME + 90 * levels}px"
    return f"clamp({_CHROME + 32 * min(levels, 10)}px, 42vh + {_CHROME}px, {most})"


# Pixels of legend, tools, axis and read-out around the rows of a tree.
_CHROME = 184
_NODE_LINK_HEIGHT = 560


def view_choice(folded: bool = False) -> None:
    """Draws the views of one structure as tabs; as a box if ``folded``."""
    shown = shows("view", read_view(), write_view)
    if folded:
        st.selectbox("View", VIEWS, label_visibility="collapsed", width=112, **shown)
    else:
        st.segmented_control("View", VIEWS, required=True, label_visibility="collapsed", **shown)


def scene(session: AppSession, structure: Structure, beside: PageState | None = None) -> Scene:
    """Returns the scene of the session's memory at one moment, with selection, colours, labels.

    What is selected in a tree ``beside`` it, perhaps of another build, is selected here.
    """
    selected = session.selected
    if selected is None and beside is not None:
        selected = counterpart(beside.node, beside.structure, structure)
    waiting.labels(session.memory, structure)
    return scene_of(
        session.memory,
        structure,
        identity=session.identity,
        look=read_look(),
        selected=selected,
    )


def counterpart(node: int | None, there: Structure, here: Structure) -> int | None:
    """Returns the smallest node of ``here`` over the units of a node of another structure."""
    if node is None or not (held := there.coverage(node)):
        return None
    wide = (here.start <= held[0]) & (here.stop > held[-1]) & here.retrievable
    nodes = [*map(int, wide.nonzero()[0])]
    return min(
        (each for each in nodes if {*held} <= {*here.coverage(each)}),
        key=lambda each: (here.stop[each] - here.start[each], here.level[each]),
        default=None,
    )


def draw_canvas(
    session: AppSession,
    shown: Scene,
    *,
    key: str,
    height: int | str = "content",
    actions: canvas.CanvasActions | None = None,
    similar: Callable[[str], Sequence[int]] | None = None,
    **parts: Any,
) -> None:
    """Draws the canvas of a scene; a click selects the node for every panel of the page.

    ``actions`` are further actions of the user. ``similar`` returns the nodes most
    relevant to a text; it is used only if every node is one box. ``parts`` are as in
    ``tree_payload``.
    """
    drawn = shown.drawn()
    payload = tree_payload(drawn, **parts)
    if drawn.axis_units is not None:
        payload["axis_units"] = drawn.axis_units.tolist()  # lets a box highlight its turns
    canvas.tree_canvas(
        payload,
        key=key,
        height=height,
        texts=drawn.structure.text,
        similar=similar if drawn is shown else None,
        actions=replace(
            actions or canvas.CanvasActions(),
            select=lambda box: session.select(drawn.node(box)),
            session=session.show_session,
            look=write_look,
        ),
    )
    if drawn is not shown and not payload.get("bare"):
        st.caption(f"{UNFOLDED} Colours are sessions, oldest violet.")


def draw_node_link(session: AppSession, structure: Structure, **marks: Any) -> None:
    """Draws the same structure with pyvis; ``marks`` are fields of ``Marks``."""
    sessions = palette.session_colours(len(session.conversation.sessions))
    middles = (structure.start + structure.stop - 1) // 2
    fills = [sessions[session.sessions[middle]] for middle in middles.tolist()]
    background, foreground = palette.SURFACE[charts.theme()]
    page = Page(
        background=background,
        foreground=foreground,
        accent=charts.meaning("enters"),
        gold_colour=charts.meaning("gold"),
        height=_NODE_LINK_HEIGHT,
    )
    drawn = scene(session, structure)
    every = Marks(
        names=drawn.names,
        ended=drawn.ended,
        ramp=charts.ramp("score"),
        selected=session.selected_in(structure),
        **marks,
    )
    work = partial(node_link_html, structure, fills, page, every)
    html, shown = waiting.noted("Draw the nodes", work)
    name = charts.alt(st.iframe, "Node-link drawing of the memory")
    st.iframe(html, height=_NODE_LINK_HEIGHT + 30, **name)
    total = int(structure.active.sum())
    coloured = "by propagated score" if "scores" in marks else "by session (middle of the span)"
    count = f"All {shown} nodes"
    if shown < total:
        count = (
            f"{shown:,} of {total:,} nodes (selected, retrieved and gold nodes, their ancestors, "
            "then the highest nodes)"
        )
    legend = "; retrieved nodes ringed, gold evidence as diamonds" if "scores" in marks else ""
    legend += "; no longer true: dashed" * bool(drawn.ended)
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
            help="One file that works offline.",
            icon=":material/download:",
            on_click="ignore",
        )


def draw_outline(
    session: AppSession, scene: Scene, *, key: str, height: int = 460, result: Result | None = None
) -> None:
    """Draws the outline of a scene; a click on a row selects its node for the whole page.

    With the ``result`` behind its scores every row has its ranks.
    """
    structure = scene.structure
    pairs = [*zip(structure.level.tolist(), structure.kind, strict=True)]
    known = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    asked, nodes = st.session_state.get("outline-wanted", ("", []))  # texts requested
    payload = outline_payload(
        scene,
        kinds=[captions.kind_label(session.memory, level, kind) for level, kind in known],
        kind=[known[pair] for pair in pairs],
        ranks=None if result is None else _ranks(result),
        wanted=nodes if asked == session.key else [],
        height=height,
    )

    def select(node: int | None) -> None:
        if node is not None and node < len(structure):
            session.select(node)

    def want(sent: object) -> None:
        if isinstance(sent, Sequence):
            nodes = [node for node in sent[:MAX_TEXTS] if isinstance(node, int)]
            st.session_state["outline-wanted"] = (session.key, nodes)

    canvas.part("outline", key=key, data=payload, select=select, wanted=want)


def _ranks(result: Result) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Returns the rank of every node by both scores, 0 if it does not compete.

    A system's own retrieval ranks only the nodes it returns.
    """
    structure = result.structure
    if result.native:
        return _places(result.before, len(structure)), _places(result.after, len(structure))
    before, after = (
        _places(ranking(scores, structure, result.settings.levels), len(structure))
        for scores in (result.initial, result.final)
    )
    return before, after


def _places(nodes: Any, n: int) -> NDArray[np.int32]:
    places = np.zeros(n, dtype=np.int32)
    places[np.asarray(nodes, dtype=np.int64)] = np.arange(1, len(nodes) + 1)
    return places


def draw_growing(place: DeltaGenerator, memory: Memory, total: int, number: int) -> None:
    """Draws a tree that is being built, on the axis of the whole conversation.

    ``total`` is the number of all units; ``number`` counts the drawings.
    """
    known: dict[str, Any] = {
        "identity": "growing",
        "look": coloring.Look(),
        "selected": None,
        "labelled": False,
    }
    scene = grown(scene_of(memory, memory.structure.collapsed, **known), len(memory.steps), None)
    drawn = replace(scene, total_units=total).drawn()
    with place.container():
        canvas.tree_canvas(tree_payload(drawn, legend=False), key=f"growing-{number}", height=334)
