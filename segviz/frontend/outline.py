"""Builds the outline's message: the canvas's, with kind and ranks of every node.

It contains all texts of a small structure. Of a larger one the outline requests those of its open
rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from segviz.frontend.payload import tree_payload
from segviz.tree import Structure
from segviz.view.scene import Scene

MAX_TEXTS: Final = 2_000
"""Beyond this many nodes texts are sent on request, for at most as many rows."""

_LENGTH = 160


def outline_payload(
    scene: Scene,
    *,
    kinds: Sequence[str],
    kind: ArrayLike,
    ranks: tuple[ArrayLike, ArrayLike] | None = None,
    wanted: Collection[int] = (),
    height: int | None = None,
) -> dict[str, Any]:
    """Returns the outline's message for a scene: that of ``tree_payload`` with further columns.

    Its rows are nodes, so pass the scene itself and not ``scene.drawn()``.

    ``kinds`` are the names of node kinds, ``kind`` int (n,) the kind of each node. ``ranks`` are
    1-based ranks (n,) before and after, 0 for nodes that do not compete. ``wanted`` are the nodes
    whose texts the browser requested, if not all are sent. ``height`` is in pixels.
    """
    before, after = ranks or ((), ())
    return tree_payload(scene, stage=height) | {
        "kinds": list(kinds),
        "kind_of": np.asarray(kind, dtype=np.int32),
        "rank_initial": np.asarray(before, dtype=np.int32),
        "rank_final": np.asarray(after, dtype=np.int32),
        "texts": _texts(scene.structure, wanted),
        "labels": [],
        "title": scene.title,
    }


def _texts(structure: Structure, wanted: Collection[int]) -> dict[str, str]:
    """Returns the beginnings of texts on one line, by node: all, or the wanted ones."""
    n = len(structure)
    nodes = range(n) if n <= MAX_TEXTS else [node for node in wanted if 0 <= node < n]
    return {str(node): _line(structure.text[node]) for node in nodes[:MAX_TEXTS]}


def _line(text: str) -> str:
    line = " ".join(text[: 4 * _LENGTH].split())
    return line if len(line) <= _LENGTH and len(text) <= 4 * _LENGTH else line[:_LENGTH] + "…"
