"""Numbers of nodes that the canvas can colour by; a row here is all a new one takes.

Values run from 0 to 1 (what lies beyond is drawn as the end), NaN where one is not known,
and are drawn on one ramp from pale to dark. The canvas offers the row in its menus, legend,
labels and tooltips by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segviz.tree import Structure
from segviz.tree.coherence import known_coherence


@dataclass(frozen=True)
class NodeMeasure:
    """One number of every node: what it means in the menu of colours, what its ``unit`` is
    called in the legend, and how it is had.

    ``known(structure, asked)`` gives float64 (n,); an empty array where it is too dear to
    compute before somebody asked; None where this structure can have none.
    """

    meaning: str
    unit: str
    known: Callable[[Structure, bool], NDArray[np.float64] | None]


MEASURES: dict[str, NodeMeasure] = {
    "coherence": NodeMeasure(
        "mean cosine with its children; a leaf: with its parent", "mean cosine", known_coherence
    ),
}
"""Name to measure, in the order of the menu; the name is also what links say."""
