"""What Python sends to the canvas: a Structure and its scores as one message.

``tree_payload`` builds a dict of JSON values and bytes columns, easy to test; ``pack``
turns it into the single bytes object that travels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segviz.frontend.candidates import candidate_rows, outcome
from segviz.frontend.live import Live
from segviz.frontend.message import packed
from segviz.retrieval import estimated_tokens
from segviz.tree import Decision, Structure
from segviz.view.captions import session_title, short_date, summary, tooltip_texts
from segviz.view.look import Look
from segviz.view.palette import (
    ACCENT,
    CHANGE_RAMP_DARK,
    CHANGE_RAMP_LIGHT,
    COHERENCE_RAMP_DARK,
    COHERENCE_RAMP_LIGHT,
    GOLD_COLOURS,
    LEVEL_COLOURS,
    LEVEL_SHARE,
    SCORE_RAMP_DARK,
    SCORE_RAMP_LIGHT,
    session_colours,
)

Mode = Literal["grow", "scores"]

COLUMNS: Final = {
    "level": "<i4",
    "start": "<i4",
    "stop": "<i4",
    "parent": "<i4",
    "edges": "<i4",
    "carrier": "<i4",
    "tokens": "<i4",
    "unit_session": "<i4",
    "initial": "<f8",
    "final": "<f8",
    "coherence": "<f8",
    "origin": "<i4",
    "top_initial": "<i4",
    "top_final": "<i4",
    "gold": "<i4",
}
"""The bytes columns of a payload and their dtypes."""


def tree_payload(
    structure: Structure,
    *,
    unit_sessions: Sequence[int],
    session_labels: Sequence[str],
    session_dates: Sequence[date | str | None] = (),
    session_titles: Sequence[str] = (),
    identity: str,
    mode: Mode = "grow",
    step: int | None = None,
    decision: Decision | None = None,
    added: Sequence[int] = (),
    revised: Sequence[int] = (),
    frontier: Sequence[int] | None = None,
    initial: ArrayLike | None = None,
    final: ArrayLike | None = None,
    score_names: tuple[str, str] = ("initial", "propagated"),
    top_initial: Sequence[int] = (),
    top_final: Sequence[int] = (),
    gold: Sequence[int] = (),
    coherence: ArrayLike | None = None,
    origin: ArrayLike = (),
    look: Look | None = None,
    selected: int | None = None,
    total_units: int | None = None,
    levels_total: int | None = None,
    gutter: bool | None = None,
    root_scale: bool = False,
    live: Live | None = None,
    legend: bool = True,
    title: str = "",
) -> dict[str, Any]:
    """Everything the canvas needs to draw ``structure``; plain values and bytes only.

    Args:
        structure: the tree at this moment; retired nodes are sent as level -1.
        unit_sessions: session position of every unit of the axis, -1 for none.
        session_labels: short label of each session ("S7").
        session_dates: a date or a ready short text for each session, may be short.
        session_titles: full title of each session for the tooltip; label and date if absent.
        identity: names the conversation; zoom and focus are kept until it changes.
        mode: "grow" or "scores".
        step: number of the step shown, for tests and the fading of new nodes.
        decision: candidates of this step, drawn right of the tree in "grow".
        added: nodes that appeared in this step.
        revised: nodes changed in this step.
        frontier: nodes outlined as frontier; the structure's own if None.
        initial: score of each node before propagation, shape (n,); non-finite counts as 0.
        final: score of each node after propagation, shape (n,).
        score_names: what the two are called.
        top_initial: retrieved nodes before propagation, best first.
        top_final: retrieved nodes after propagation, best first.
        gold: evidence leaves.
        coherence: of each node, NaN where it is not known; empty if it is only computed once
            it is chosen, None if it never can be.
        origin: the memory's node for each node, where the drawing shows some more than once.
        look: what nodes are coloured by and what is written on them.
        selected: the selected node.
        total_units: length of the axis, so that it keeps still while the tree grows.
        levels_total: rows to reserve, for the same reason.
        gutter: reserve the candidate column; None means: if there are candidates.
        root_scale: colour by the square root of the relative score, so that weak scores show
            beside one that holds nearly everything.
        live: the setting behind ``final`` and ``top_final``; with it the header shows
            controls, and the browser computes both itself while one moves. ``initial`` must
            then be given. None: no controls.
        legend: explain the marks above the tree.
        title: name of the conversation, used in the summary.
    """
    if mode not in ("grow", "scores"):
        raise ValueError(f"mode {mode!r}: expected 'grow' or 'scores'")
    if live is not None and initial is None:
        raise ValueError("live controls need the initial scores to compute with: pass initial=…")
    n = len(structure)
    level = np.where(structure.active, structure.level, -1)
    present = int(structure.stop[structure.active].max(initial=0))
    units = max(present, len(unit_sessions) if total_units is None else total_units)
    sessions = np.full(units, -1, dtype=np.int32)
    known = min(units, len(unit_sessions))
    sessions[:known] = list(unit_sessions)[:known]
    sessions[sessions >= len(session_labels)] = -1
    dates = [*session_dates, *[None] * len(session_labels)][: len(session_labels)]
    parent, edges = _parents(structure)
    candidates = candidate_rows(decision, structure)
    if frontier is None:
        frontier = structure.frontier if mode == "grow" else ()
    levels = max(int(level.max(initial=-1)) + 1, levels_total or 0, 1)
    columns: dict[str, NDArray[np.generic]] = {
        "level": level,
        "start": structure.start,
        "stop": structure.stop,
        "parent": parent,
        "edges": edges,
        "carrier": structure.carrier if live else np.zeros(0, dtype=np.int32),
        "tokens": _tokens(structure.text)
        if live and live.settings.budget
        else np.zeros(0, dtype=np.int32),
        "unit_session": sessions,
        "initial": _scores(initial, n, "initial"),
        "final": _scores(final, n, "final"),
        "coherence": _coherence(coherence, n),
        "origin": np.asarray(origin, dtype=np.int32),
        "top_initial": _ids(top_initial, n, "top_initial"),
        "top_final": _ids(top_final, n, "top_final"),
        "gold": _ids(gold, n, "gold"),
    }
    payload: dict[str, Any] = {
        name: np.ascontiguousarray(column, dtype=COLUMNS[name]).tobytes()
        for name, column in columns.items()
    }
    return payload | {
        "identity": identity,
        "mode": mode,
        "score_names": list(score_names),
        "step": step,
        "nodes": n,
        "total_units": units,
        "levels_total": levels,
        "session_labels": list(session_labels),
        "session_dates": [short_date(when) for when in dates],
        "session_titles": [
            session_titles[i] if i < len(session_titles) else session_title(label, dates[i])
            for i, label in enumerate(session_labels)
        ],
        "session_colours": session_colours(len(session_labels)),
        "ramps": {
            "light": {
                "ramp": list(SCORE_RAMP_LIGHT),
                "change": list(CHANGE_RAMP_LIGHT),
                "coherence": list(COHERENCE_RAMP_LIGHT),
            },
            "dark": {
                "ramp": list(SCORE_RAMP_DARK),
                "change": list(CHANGE_RAMP_DARK),
                "coherence": list(COHERENCE_RAMP_DARK),
            },
        },
        "level_colours": list(LEVEL_COLOURS),
        "level_share": LEVEL_SHARE,
        "gold_colours": GOLD_COLOURS,
        "coherent": coherence is not None,
        "look": (look or Look()).payload(),
        "accent": dict(ACCENT),
        "frontier": _ids(frontier, n, "frontier").tolist(),
        "added": _ids(added, n, "added").tolist(),
        "revised": _ids(revised, n, "revised").tolist(),
        "chosen": None if decision is None else decision.chosen,
        "candidates": candidates,
        "outcome": outcome(decision, structure, added),
        "gutter": bool(candidates) if gutter is None else gutter,
        "selected": selected if selected is not None and 0 <= selected < n else None,
        "root_scale": root_scale,
        "legend": legend,
        "live": live.payload() if live else None,
        "labels": tooltip_texts(structure.text),
        "summary": summary(structure, units, present, selected, title),
    }


def pack(payload: Mapping[str, Any]) -> bytes:
    """The payload as one message: its JSON values as header, then its columns."""
    plain = {name: value for name, value in payload.items() if name not in COLUMNS}
    return packed(
        plain, {name: np.frombuffer(payload[name], dtype) for name, dtype in COLUMNS.items()}
    )


def _parents(structure: Structure) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """First parent of each node (-1 for none), and all edges if some node has several."""
    parent = np.full(len(structure), -1, dtype=np.int32)
    if not len(structure.edges):
        return parent, np.zeros((0, 2), dtype=np.int32)
    children, first = np.unique(structure.edges[:, 1], return_index=True)
    parent[children] = structure.edges[first, 0]
    several = len(children) < len(structure.edges)
    return parent, structure.edges if several else np.zeros((0, 2), dtype=np.int32)


def _scores(values: ArrayLike | None, n: int, name: str) -> NDArray[np.float64]:
    """A score column of shape (n,), or an empty one if there are no scores."""
    if values is None:
        return np.zeros(0)
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (n,):
        raise ValueError(f"{name} has shape {column.shape}; the structure has {n} nodes")
    return np.where(np.isfinite(column), column, 0.0)


def _coherence(values: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """The column of shape (n,) with its NaNs, or an empty one if it is not known."""
    column = np.zeros(0) if values is None else np.asarray(values, dtype=np.float64)
    if column.size and column.shape != (n,):
        raise ValueError(f"coherence has shape {column.shape}; the structure has {n} nodes")
    return column


def _tokens(texts: Sequence[str]) -> NDArray[np.int32]:
    """What each text costs of a token budget."""
    return np.array([estimated_tokens(text) for text in texts], dtype=np.int32)


def _ids(nodes: Sequence[int], n: int, name: str) -> NDArray[np.int32]:
    """Node ids, checked against the number of nodes."""
    ids = np.array(list(nodes), dtype=np.int32)
    if ids.size and not (0 <= ids.min() and ids.max() < n):
        raise ValueError(f"{name} names a node outside 0..{n - 1}")
    return ids
