"""The tree of a memory for other Streamlit apps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from segviz.export.live import LiveView
from segviz.memory import Memory, settings_for
from segviz.retrieval import RetrievalSettings
from segviz.ui.widgets.canvas import CanvasActions, tree_canvas
from segviz.ui.widgets.style import apply_colours


def memory_tree(
    memory: Memory,
    question: str | None = None,
    *,
    key: str,
    number: int | None = None,
    settings: RetrievalSettings | None = None,
) -> LiveView:
    """Draws a memory, or its answer to a question, on the canvas of segviz.

    Args:
        memory: the memory, the same object at every run (``st.cache_resource``).
        question: any text; None draws the tree alone.
        key: key of the component; the selection lives as long as it does.
        number: index of a question of the conversation, instead of ``question``.
        settings: retrieval settings at first; the canvas then changes policy, α and H.

    Returns:
        The view with the selected ``node`` and the ``settings`` of the canvas. Its ``view.result``
        has the evidence.

    Raises:
        ValueError: the number is unknown, or a setting is illegal.
    """
    apply_colours()
    entry = f"segviz-{key}"
    kept: LiveView | None = st.session_state.get(entry)
    given = (memory, question, number)
    if kept is None or (kept.memory, kept.question, kept.number) != given:
        asked = question is not None or number is not None
        kept = LiveView(*given, settings_for(memory, settings, {}) if asked else settings)
    st.session_state[entry] = kept

    def take(change: Callable[[LiveView, Any], LiveView], sent: Any) -> None:
        st.session_state[entry] = change(st.session_state[entry], sent)

    tree_canvas(
        kept.payload,
        key=key,
        height=kept.height or "content",
        texts=kept.scene.structure.text,
        actions=CanvasActions(
            select=partial(take, LiveView.selecting), setting=partial(take, LiveView.setting)
        ),
    )
    return kept
