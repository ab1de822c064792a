"""What Python sends to the outline: a Structure as columns, and texts for what can be seen.

Structure, scores and marks travel whole, as in the canvas's message; texts only while they
are few, else for the rows that are open, which the outline asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segviz.frontend.message import packed
from segviz.tree import Structure

MAX_TEXTS: Final = 2_000
"""Beyond this many nodes texts are sent on request, for at most as many rows."""

_LENGTH = 160

COLUMNS: Final = {
    "level": "<i4",
    "start": "<i4",
    "stop": "<i4",
    "edges": "<i4",
    "name": "<i4",
    "unit_session": "<i4",
    "initial": "<f8",
    "final": "<f8",
    "rank_initial": "<i4",
    "rank_final": "<i4",
}
"""The bytes columns of the message and their dtypes."""


def outline_payload(
    structure: Structure,
    *,
    names: Sequence[str],
    name: ArrayLike,
    unit_sessions: Sequence[int],
    session_labels: Sequence[str],
    session_colours: Sequence[str],
    identity: str,
    step: int | None = None,
    selected: int | None = None,
    initial: ArrayLike | None = None,
    final: ArrayLike | None = None,
    ranks: tuple[ArrayLike, ArrayLike] | None = None,
    score_names: tuple[str, str] = ("initial", "propagated"),
    retrieved: Sequence[int] = (),
    gold: Sequence[int] = (),
    added: Sequence[int] = (),
    revised: Sequence[int] = (),
    wanted: Collection[int] = (),
    title: str = "",
) -> dict[str, Any]:
    """Everything the outline shows of ``structure``; plain values and bytes only.

    Args:
        structure: the memory at this moment; retired nodes are sent as level -1.
        names: what kinds of nodes are called.
        name: which of ``names`` each node goes by, shape (n,).
        unit_sessions: session position of every unit.
        session_labels: short label of each session ("S7").
        session_colours: colour of each session.
        identity: names the memory; what is open is kept until it changes.
        step: number of the step shown on Grow.
        selected: the selected node.
        initial: score of each node before propagation, shape (n,).
        final: score of each node after propagation, shape (n,).
        ranks: 1-based ranks before and after, 0 for nodes that do not compete.
        score_names: what the two scores are called.
        retrieved: retrieved nodes, best first.
        gold: evidence leaves.
        added: nodes that appeared in this step.
        revised: nodes changed in this step.
        wanted: nodes whose texts the browser asked for, where not all are sent.
        title: name of the conversation, for screen readers.
    """
    n = len(structure)
    before, after = ranks or ((), ())
    columns: dict[str, ArrayLike] = {
        "level": np.where(structure.active, structure.level, -1),
        "start": structure.start,
        "stop": structure.stop,
        "edges": structure.edges,
        "name": name,
        "unit_session": unit_sessions,
        "initial": _finite(initial),
        "final": _finite(final),
        "rank_initial": before,
        "rank_final": after,
    }
    payload: dict[str, Any] = {
        key: np.ascontiguousarray(column, dtype=COLUMNS[key]).tobytes()
        for key, column in columns.items()
    }
    return payload | {
        "identity": identity,
        "nodes": n,
        "step": step,
        "names": list(names),
        "score_names": list(score_names),
        "session_labels": list(session_labels),
        "session_colours": list(session_colours),
        "selected": selected if selected is not None and 0 <= selected < n else None,
        "retrieved": _ids(retrieved, n),
        "gold": _ids(gold, n),
        "added": _ids(added, n),
        "revised": _ids(revised, n),
        "texts": _texts(structure, wanted),
        "title": title,
    }


def pack_outline(payload: Mapping[str, Any]) -> bytes:
    """The payload as one message."""
    plain = {key: value for key, value in payload.items() if key not in COLUMNS}
    return packed(
        plain, {key: np.frombuffer(payload[key], dtype) for key, dtype in COLUMNS.items()}
    )


def _finite(values: ArrayLike | None) -> NDArray[np.float64]:
    """A score column, or an empty one if there are no scores."""
    column = np.zeros(0) if values is None else np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(column), column, 0.0)


def _ids(nodes: Sequence[int], n: int) -> list[int]:
    return [int(node) for node in nodes if 0 <= node < n]


def _texts(structure: Structure, wanted: Collection[int]) -> dict[str, str]:
    """The beginnings of texts on one line, by node: all, or those that are wanted."""
    n = len(structure)
    nodes = range(n) if n <= MAX_TEXTS else [node for node in wanted if 0 <= node < n]
    return {str(node): _line(structure.text[node]) for node in nodes[:MAX_TEXTS]}


def _line(text: str) -> str:
    line = " ".join(text[: 4 * _LENGTH].split())
    return line if len(line) <= _LENGTH and len(text) <= 4 * _LENGTH else line[:_LENGTH] + "…"
