"""The memory as an outline: rows that open and close, to be read in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from segviz.frontend.outline import MAX_TEXTS, outline_payload
from segviz.retrieval import Result, ranking
from segviz.tree import Structure
from segviz.ui import keys
from segviz.ui.state import Session
from segviz.ui.widgets.canvas import part
from segviz.ui.widgets.captions import kind_label
from segviz.view.scene import Scene


def draw_outline(
    session: Session, scene: Scene, *, key: str, height: int = 460, result: Result | None = None
) -> None:
    """The outline of a scene; selecting a row selects the node for the whole page.

    With the ``result`` behind its scores every row has its ranks.
    """
    structure = scene.structure
    kinds, kind = _kinds(session, structure)
    asked, nodes = st.session_state.get(keys.OUTLINE_WANTED, ("", []))  # texts the browser wants
    payload = outline_payload(
        scene,
        kinds=kinds,
        kind=kind,
        ranks=None if result is None else _ranks(result),
        wanted=nodes if asked == session.key else [],
        height=height,
    )

    def select(node: object) -> None:
        if isinstance(node, int) and 0 <= node < len(structure):
            session.select(node)

    def want(sent: object) -> None:
        if isinstance(sent, Sequence):
            nodes = [node for node in sent[:MAX_TEXTS] if isinstance(node, int)]
            st.session_state[keys.OUTLINE_WANTED] = (session.key, nodes)

    part("outline", key=key, data=payload, selected=select, wanted=want)


def _kinds(session: Session, structure: Structure) -> tuple[list[str], list[int]]:
    """What kinds of nodes are called, each once, and which of them each node goes by."""
    known: dict[tuple[int, str], int] = {}
    column = [
        known.setdefault(pair, len(known))
        for pair in zip(structure.level.tolist(), structure.kind, strict=True)
    ]
    return [kind_label(session.memory, level, kind) for level, kind in known], column


def _ranks(result: Result) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rank of every node by both scores, 0 for what does not compete. A system's own
    retrieval ranks only what it brings back."""
    structure = result.structure
    if result.own:
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
