"""The canvas as a widget for other Streamlit apps."""

from __future__ import annotations

import streamlit as st

from segviz.frontend.payload import tree_payload
from segviz.memory import Memory
from segviz.ui.widgets.canvas import tree_canvas
from segviz.view.coloring import Look
from segviz.view.scene import scene_of


def memory_view(
    memory: Memory, *, step: int | None = None, key: str = "segviz", height: int = 480
) -> int | None:
    """Draws a memory in a Streamlit app and returns the selected node.

    Use it like any widget; a click reruns the page::

        node = memory_view(memory)
        if node is not None:
            st.write(memory.turn_ids(node), memory.structure.text[node])

    Chat text is drawn as text, never as HTML.

    Args:
        memory: the memory.
        step: show its state after this many steps; None for all.
        key: key of the widget, unique on the page. The session keeps the selection under it;
            another memory starts without a selection.
        height: height in pixels, with legend and axis.

    Returns:
        The selected node, or None.

    Raises:
        ValueError: the memory has no such step.
    """
    structure = (memory.structure if step is None else memory.at(step)).collapsed
    kept, identity = f"{key}-selected", f"{memory.conversation.id} {id(memory.steps)}"
    about, before = st.session_state.get(kept, (identity, None))
    selected: int | None = before if about == identity else None
    shown = scene_of(memory, structure, identity=identity, look=Look(), selected=selected)
    drawn = shown.drawn()

    def select(box: int | None) -> None:
        st.session_state[kept] = identity, drawn.node(box)

    tree_canvas(
        tree_payload(drawn), key=key, height=height, texts=drawn.structure.text, on_select=select
    )
    return shown.selected
