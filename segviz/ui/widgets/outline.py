"""The memory as an outline: rows that open and close, to be read in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from segviz.frontend.bundles import script, stylesheet
from segviz.frontend.outline import MAX_TEXTS, outline_payload, pack_outline
from segviz.retrieval import Result, ranking
from segviz.tree import Structure
from segviz.ui.state import Session
from segviz.ui.widgets.captions import kind_label
from segviz.view.palette import session_colours

_OUTLINE = st.components.v2.component(
    "segviz_outline", js=script("outline"), css=stylesheet("outline")
)

_WANTED = "outline-wanted"


def draw_outline(
    session: Session,
    structure: Structure,
    *,
    key: str,
    height: int = 460,
    result: Result | None = None,
    **marks: Any,
) -> None:
    """The outline of ``structure``; selecting a row selects the node for the whole page.

    With a ``result`` every row has its scores and ranks; ``marks`` are further arguments of
    ``outline_payload`` (gold, added, …).
    """
    names, name = _names(session, structure)
    sessions = session.conversation.sessions
    scores: dict[str, Any] = {}
    if result is not None:
        scores = {
            "initial": result.initial,
            "final": result.final,
            "ranks": _ranks(result),
            "retrieved": result.after,
            "score_names": result.score_names,
        }
    payload = outline_payload(
        structure,
        names=names,
        name=name,
        unit_sessions=session.sessions,
        session_labels=[f"S{i + 1}" for i in range(len(sessions))],
        session_colours=session_colours(len(sessions)),
        identity=session.key,
        selected=session.selected,
        wanted=_wanted(session),
        title=session.conversation.id,
        **scores,
        **marks,
    )

    def select() -> None:
        node = (st.session_state.get(key) or {}).get("selected")
        if isinstance(node, int) and 0 <= node < len(structure):
            session.select(node)

    def want() -> None:
        sent = (st.session_state.get(key) or {}).get("wanted")
        if isinstance(sent, Sequence):
            nodes = [node for node in sent[:MAX_TEXTS] if isinstance(node, int)]
            st.session_state[_WANTED] = (session.key, nodes)

    _OUTLINE(
        key=key,
        data=pack_outline(payload | {"height": height}),
        on_selected_change=select,
        on_wanted_change=want,
    )


def _wanted(session: Session) -> list[int]:
    """The nodes whose texts the browser asked for."""
    key, nodes = st.session_state.get(_WANTED, ("", []))
    return list(nodes) if key == session.key else []


def _names(session: Session, structure: Structure) -> tuple[list[str], list[int]]:
    """What nodes are called, each name once, and which of them each node goes by."""
    known: dict[tuple[int, str], int] = {}
    column = [
        known.setdefault(pair, len(known))
        for pair in zip(structure.level.tolist(), structure.kind, strict=True)
    ]
    return [kind_label(session.memory, level, kind) for level, kind in known], column


def _ranks(result: Result) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rank of every node by both scores, 0 for what does not compete. A system's own
    retrieval ranks only what it brings back."""
    structure, settings = result.structure, result.settings
    if result.own:
        return _places(result.before, len(structure)), _places(result.after, len(structure))
    group = np.arange(len(structure)) if settings.literal else structure.carrier
    found = []
    for scores in (result.initial, result.final):
        order = ranking(scores, structure, settings.levels, not settings.literal)
        found.append(_places(group[order], len(structure))[group])
    return found[0], found[1]


def _places(nodes: Any, n: int) -> NDArray[np.int32]:
    places = np.zeros(n, dtype=np.int32)
    places[np.asarray(nodes, dtype=np.int64)] = np.arange(1, len(nodes) + 1)
    return places
