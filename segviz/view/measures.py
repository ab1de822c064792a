"""Lists the measures of nodes that the canvas can colour by; a new one needs only a row here.

Values run from 0 to 1 (values beyond are drawn as the nearer end), NaN where unknown, on one
ramp from pale to dark. Menus, legend, labels and tooltips of the canvas follow the rows.
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
    """A number for every node: its ``meaning`` in the menu of colours, the name of its
    ``unit`` in the legend, and its function.

    ``known(structure, asked)`` gives float64 (n,); an empty array where computing it is
    postponed until it is asked for; None where no node of the structure has one.
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
