"""What nodes can be coloured by and labelled with, and the choice of both.

The browser changes both by itself and reports the choice, so that links and the next page
can carry it. A choice that the data of a page cannot show falls back to the page's default.
A new measure of nodes needs only a row in ``MEASURES``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from segviz.tree import Structure
from segviz.tree.shape import known_coherence


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
"""Name to measure, in the order of the menu; the name is also what links say. Values run from 0
to 1 (values beyond are drawn as the nearer end), NaN where unknown, on one ramp from pale to
dark; menus, legend, labels and tooltips of the canvas follow the rows."""

COLOURS: Final = ("session", "level", "initial", "propagated", "change", "gold", "own", *MEASURES)
"""The values nodes can be coloured by, "own" being the labels of a file; "" is the page's default:
sessions on Grow, each half's score on Ask."""

LABELS: Final = ("marked", "none", "session", "words", "node", "score")
"""The labels nodes can have; "" is the default: the words that tell a node from its siblings, as
"words", where they are known; "marked" has them on retrieved, gold and selected nodes alone."""


@dataclass(frozen=True)
class Look:
    """A choice of colour and label."""

    colour: str = ""
    labels: str = ""


def read_look(sent: object) -> Look | None:
    """The choice a browser sent; None for anything that is not a legal one."""
    if not isinstance(sent, Mapping):
        return None
    colour, labels = sent.get("colour"), sent.get("labels")
    if colour not in ("", *COLOURS) or labels not in ("", *LABELS):
        return None
    return Look(colour, labels)
