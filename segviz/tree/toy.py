"""Builds a tree of seven leaves on which propagation can be followed by hand.

It is the smallest segment tree with every case: a node with three children, one with a single
child, a root over two branches, and a leaf of relevance 0 below a parent of high relevance.
Relevance is given, not computed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Unit
from segviz.tree.columns import replay
from segviz.tree.events import Add, Event, Link, Step
from segviz.tree.structure import Structure

QUESTION = "When does the ferry leave?"

_LEAVES = (
    "A: Shall we go to the island?",
    "B: Yes, if there is a ferry on Sunday.",
    "A: There is one at ten past nine.",
    "B: I'll bring bread and the good cheese.",
    "A: And I the blanket.",
    "B: My brother sold his van.",
    "A: The blue one?",
)
# Level, span, text and relevance of the nodes above the leaves, with their children.
_INNER: tuple[tuple[int, tuple[int, int], str, float, tuple[int, ...]], ...] = (
    (1, (0, 3), "Ferry to the island on Sunday", 0.8, (0, 1, 2)),
    (1, (3, 5), "What to bring", 0.1, (3, 4)),
    (1, (5, 7), "The brother's van", 0.05, (5, 6)),
    (2, (0, 5), "A trip to the island by ferry", 0.5, (7, 8)),
    (2, (5, 7), "The brother's van", 0.05, (9,)),
    (3, (0, 7), "A trip, and a van that was sold", 0.2, (10, 11)),
)
_LEAF_RELEVANCE = (0.1, 0.6, 0.3, 0.0, 0.0, 0.2, 0.0)


def toy_structure() -> Structure:
    """Returns the toy tree: nodes 0 to 6 are leaves, 12 is the root, and vectors are empty."""
    nothing = np.zeros(0, dtype=np.float32)
    events: list[Event] = [
        Add(index, 0, (index, index + 1), text, nothing) for index, text in enumerate(_LEAVES)
    ]
    for node, (level, span, text, _, children) in enumerate(_INNER, start=len(_LEAVES)):
        events.append(Add(node, level, span, text, nothing))
        events += [Link(node, child) for child in children]
    last = Unit(len(_LEAVES) - 1, ("toy:7",), 0, _LEAVES[-1], None)
    return replay([Step(last, "The whole tree.", None, tuple(events))])


def toy_relevance() -> NDArray[np.float64]:
    """Returns relevance r of each node to ``QUESTION``, float64 (13,), not normalised."""
    return np.array([*_LEAF_RELEVANCE, *(relevance for *_, relevance, _ in _INNER)])
