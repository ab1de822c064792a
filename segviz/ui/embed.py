"""The canvas for Streamlit apps of other people."""

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
    """Draw a ``memory`` in a Streamlit app and return the node that is selected in it, or None.

    As any widget::

        node = memory_view(memory)
        if node is not None:
            st.write(memory.turn_ids(node), memory.structure.text[node])

    ``step`` shows it as it was after so many steps (default: all); ``height`` is in pixels, the
    legend and the axis included. Each view of a page needs a ``key`` of its own; the selection is
    kept under it in the session, together with the memory's, so that another memory begins
    without one. A click runs the page again, as any widget does. Chat text is drawn, never made
    into HTML. ValueError for a step the memory does not have.
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
