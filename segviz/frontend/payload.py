"""Builds the canvas's message from a scene.

``tree_payload`` returns a dict of JSON values and arrays, easy to test; ``message.pack`` encodes
it. Scores and measures are float32, 8 kB for both scores of 1,000 nodes. Every message is complete
and refers to no other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segviz.retrieval import estimated_tokens
from segviz.tree import Decision, Judgement, Structure
from segviz.tree.icicle_layout import waits
from segviz.view.captions import (
    duration,
    session_title,
    short_dates,
    summary,
    tooltip_length,
)
from segviz.view.coloring import LIVE_POLICIES, MEASURES
from segviz.view.palette import (
    GOLD_COLOURS,
    LEVEL_COLOURS,
    LEVEL_SHARE,
    MEANINGS,
    RAMPS,
    session_colours,
)
from segviz.view.scene import Growth, Scene, Scored

MEASURE: Final = "measure:"
"""Prefix of the column name of a node measure."""


def tree_payload(
    scene: Scene,
    *,
    gutter: bool = False,
    legend: bool = True,
    bare: bool = False,
    stage: int | None = None,
    now: int | None = None,
    differs: Sequence[int] = (),
) -> dict[str, Any]:
    """Returns all that the canvas needs for a scene, as JSON values and arrays.

    The canvas draws every row as a box, so pass it the result of :meth:`Scene.drawn`.

    ``gutter`` reserves the column of candidates right of the tree, even if this step has none;
    ``legend`` explains the marks above the tree; ``bare`` leaves out the tree, which the browser
    has already, and keeps the data about an answer; ``stage`` is the height of the tree in pixels,
    else it fills the component's; ``now`` is the number of units that are known, if the user can
    change it; ``differs`` lists nodes that stand out, because another build does not have them.
    Retired nodes have level -1. Raises ValueError for marks and
    columns that do not fit the structure.
    """
    structure, growth = scene.structure, scene.growth or Growth()
    scored = scene.scored or Scored(initial=np.zeros(0), final=np.zeros(0))
    live = scored.live
    n, labels = len(structure), list(scene.session_labels)
    level, top = (np.where(structure.active, each, -1) for each in (structure.level, structure.top))
    present = int(structure.stop[structure.active].max(initial=0))
    axis = len(scene.unit_sessions) if scene.total_units is None else scene.total_units
    units = max(present, axis)
    sessions = np.full(units, -1, dtype=np.int32)
    known = min(units, len(scene.unit_sessions))
    sessions[:known] = list(scene.unit_sessions)[:known]
    sessions[sessions >= len(labels)] = -1
    dates = [*scene.unit_dates, *[None] * units][:units]
    days = [when.date() if isinstance(when, datetime) else when or None for when in dates]
    every_day = list(dict.fromkeys(when for when in days if when is not None))
    day = {when: place for place, when in enumerate(every_day)}
    began: dict[int, date | str | None] = {}  # the first day of each session
    for session, when in zip(sessions.tolist(), days, strict=True):
        began.setdefault(session, when)
    # An axis in the order of branches has no clock.
    in_order = None if scene.origin is not None else waits([_time(when) for when in dates])
    parent, edges = _parents(structure)
    decision = growth.decision
    candidates = [] if decision is None else _candidates(decision, structure)
    columns: dict[str, ArrayLike] = {
        "level": level,
        "start": structure.start,
        "stop": structure.stop,
        "parent": parent,
        "edges": edges,
        "top": top,
        "tokens": [*map(estimated_tokens, structure.text)] if scored.budget else (),
        "unit_session": sessions,
        "unit_day": [-1 if when is None else day[when] for when in days],
        "origin": () if scene.origin is None else scene.origin,
        "top_initial": _ids(scored.before, n, "top_initial"),
        "top_final": _ids(scored.after, n, "top_final"),
        "places_initial": scored.places[0],
        "places_final": scored.places[1],
        "same_text": scored.repeats.first if scored.repeats else (),
        "quoted": scored.repeats.pairs.ravel() if scored.repeats else (),
        "gold": _ids(scored.gold, n, "gold"),
        "ghost": structure.ghost if structure.ghost.any() else (),
    }
    payload: dict[str, Any] = {
        name: np.asarray(column, dtype=np.int32) for name, column in columns.items()
    }
    payload["waits"] = np.zeros(0, np.float32) if in_order is None else in_order.room
    for name in ("initial", "final"):
        scores = _floats(getattr(scored, name), n, name)
        payload[name] = np.where(np.isfinite(scores), scores, np.float32(0))
    for name, values in scene.measures.items():
        payload[MEASURE + name] = _floats(values, n, name)
    shown = tooltip_length(n)
    there = scene.selected is not None and 0 <= scene.selected < n
    selected = scene.selected if there else None
    return payload | {
        "identity": scene.identity,
        "mode": "scores" if scene.scored else "grow",
        "score_names": list(scored.names),
        "step": growth.step,
        "nodes": n,
        "total_units": units,
        "levels_total": max(int(top.max(initial=-1)) + 1, scene.levels_total or 0, 1),
        "session_labels": labels,
        "days": short_dates(every_day),
        "shortened": {}
        if in_order is None
        else {str(unit): duration(wait) for unit, wait in in_order.shortened.items()},
        "session_titles": [
            session_title(label, began.get(place)) for place, label in enumerate(labels)
        ],
        "session_colours": session_colours(len(labels)),
        "ramps": RAMPS,
        "level_colours": list(LEVEL_COLOURS),
        "level_share": LEVEL_SHARE,
        "gold_colours": GOLD_COLOURS,
        "measures": [
            {"name": name, "meaning": MEASURES[name].meaning, "unit": MEASURES[name].unit}
            for name in scene.measures
        ],
        "gold_turns": {str(leaf): list(turns) for leaf, turns in scored.turns.items()},
        "gold_answers": {str(node): list(turns) for node, turns in scored.answers.items()},
        "gold_needs": {str(node): dict(turns) for node, turns in scored.needs.items()},
        "gold_asked": scored.asked,
        "gold_later": scored.later,
        "budget": scored.budget,
        "level_names": list(scene.level_names),
        "texts": {
            str(node): text[shown:] for node, text in scored.texts.items() if len(text) > shown
        },
        "matches": {
            str(node): {word: round(cosine, 2) for word, cosine in words.items()}
            for node, words in scored.matches.items()
        },
        "answering": {str(node): list(words) for node, words in scored.answering.items() if words},
        "ranks": {str(node): rank for node, rank in scored.ranks.items()},
        "words": scored.words,
        "ingredients": list(scored.ingredients.items()),
        "bare": bare,
        "stage_height": stage,
        "now": None if scene.origin is not None else now,
        "look": asdict(scene.look),
        "meanings": MEANINGS,
        "frontier": _ids(growth.frontier, n, "frontier").tolist(),
        "differs": _ids(differs, n, "differs").tolist(),
        "ended": {str(node): text for node, text in scene.ended.items()},
        "added": _ids(growth.added, n, "added").tolist(),
        "revised": _ids(growth.revised, n, "revised").tolist(),
        "candidates": candidates,
        "outcome": decision and _outcome(decision, structure, growth.added),
        "gutter": gutter or bool(candidates),
        "selected": selected,
        "root_scale": scored.peaked,
        "legend": legend,
        "live": live.payload() if live else None,
        "policies": {name: make().label for name, make in LIVE_POLICIES.items()},
        "labels": [text[:shown] + "…" * (len(text) > shown) for text in structure.text if shown],
        "names": list(scene.names),
        "summary": summary(structure, units, present, selected, scene.title),
    }


def _time(when: datetime | str | None) -> datetime | None:
    return when if isinstance(when, datetime) else None


def _parents(structure: Structure) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Returns the first parent of each node (-1 for none), and the edges if the browser needs them.

    It needs them if a node has several parents, or if the edges of a parent are not in the order of
    its children's ids: scores are added in the order of edges. Otherwise there are no edges.
    """
    parent = np.full(len(structure), -1, dtype=np.int32)
    children, first = np.unique(structure.edges[:, 1], return_index=True)
    parent[children] = structure.edges[first, 0]
    above, below = structure.edges[np.argsort(structure.edges[:, 0], kind="stable")].T
    ordered = ((np.diff(above) > 0) | (np.diff(below) > 0)).all()
    told = ordered and len(children) == len(structure.edges)
    return parent, np.zeros((0, 2), dtype=np.int32) if told else structure.edges


def _floats(values: ArrayLike, n: int, name: str) -> NDArray[np.float32]:
    """Returns values as a float32 column, (n,) or empty; ValueError for any other shape."""
    column = np.asarray(values, dtype=np.float32)
    if column.size and column.shape != (n,):
        raise ValueError(f"{name} has shape {column.shape}; the structure has {n} nodes")
    return column


def _ids(nodes: Sequence[int], n: int, name: str) -> NDArray[np.int32]:
    """Returns node ids, checked against the number of nodes."""
    ids = np.array(list(nodes), dtype=np.int32)
    if ids.size and not (0 <= ids.min() and ids.max() < n):
        raise ValueError(f"{name} names a node outside 0..{n - 1}")
    return ids


# --- the column of candidates -------------------------------------------------------------


def _candidates(decision: Decision, structure: Structure) -> list[dict[str, Any]]:
    """Returns the candidates as JSON rows, from low to high level.

    ``node`` is the node that shows the candidate; two of one same-text chain may share it.
    """
    return [
        {
            "node": int(structure.chain[item.node]),
            "taken": item.node == decision.chosen,
            "level": int(structure.level[item.node]),
            "score": _finite(item.score),
            "threshold": _finite(item.threshold),
            "numbers": _compared(_finite(item.score), _finite(item.threshold)),
            "label": item.label[:80],
        }
        for item in decision.candidates
        if 0 <= item.node < len(structure)
    ]


def _outcome(
    decision: Decision, structure: Structure, added: Sequence[int]
) -> dict[str, Any] | None:
    """Returns a note for a step that chose none of its candidates, with the level to draw it at.

    None for any other step.
    """
    if decision.chosen is not None or not decision.candidates:
        return None
    roots = [node for node in added if node in structure.roots]
    if not roots:
        highest = int(structure.top[structure.active].max(initial=0))
        return {"text": "none taken", "level": highest}
    return {"text": "none: new root", "level": int(structure.top[roots[-1]])}


def _compared(score: float | None, threshold: float | None) -> str:
    """Returns "0.178 < 0.182", or the score alone if there is no threshold."""
    similar, needed = Judgement(0, score, threshold).numbers
    if score is None or threshold is None:
        return similar or (f"? / {needed}" if needed else "")
    return f"{similar} {'≥' if score >= threshold else '<'} {needed}"


def _finite(value: float | None) -> float | None:
    """Replaces NaN, which JSON does not have, by None."""
    return None if value is None or not math.isfinite(value) else float(value)
