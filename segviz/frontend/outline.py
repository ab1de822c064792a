"""What Python sends to the outline: a scene as columns, and texts for what can be seen.

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
from segviz.view.palette import session_colours
from segviz.view.scene import Growth, Scene

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
    scene: Scene,
    *,
    names: Sequence[str],
    name: ArrayLike,
    ranks: tuple[ArrayLike, ArrayLike] | None = None,
    wanted: Collection[int] = (),
) -> dict[str, Any]:
    """Everything the outline shows of a scene (not drawn); values and bytes only.

    ``names`` are what kinds of nodes are called, ``name`` int (n,) which of them each node
    goes by; ``ranks`` 1-based ranks (n,) before and after, 0 for nodes that do not compete;
    ``wanted`` the nodes whose texts the browser asked for, where not all are sent. Retired
    nodes are sent as level -1.
    """
    structure, growth, scored = scene.structure, scene.growth or Growth(), scene.scored
    n, labels = len(structure), list(scene.session_labels)
    before, after = ranks or ((), ())
    columns: dict[str, ArrayLike] = {
        "level": np.where(structure.active, structure.level, -1),
        "start": structure.start,
        "stop": structure.stop,
        "edges": structure.edges,
        "name": name,
        "unit_session": list(scene.unit_sessions),
        "initial": _finite(scored.initial if scored else None),
        "final": _finite(scored.final if scored else None),
        "rank_initial": before,
        "rank_final": after,
    }
    payload: dict[str, Any] = {
        key: np.ascontiguousarray(column, dtype=COLUMNS[key]).tobytes()
        for key, column in columns.items()
    }
    selected = scene.selected
    return payload | {
        "identity": scene.identity,
        "nodes": n,
        "step": growth.step,
        "names": list(names),
        "score_names": list(scored.names) if scored else ["initial", "propagated"],
        "session_labels": labels,
        "session_colours": session_colours(len(labels)),
        "selected": selected if selected is not None and 0 <= selected < n else None,
        "retrieved": _ids(scored.after if scored else (), n),
        "gold": _ids(scored.gold if scored else (), n),
        "added": _ids(growth.added, n),
        "revised": _ids(growth.revised, n),
        "texts": _texts(structure, wanted),
        "title": scene.title,
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
