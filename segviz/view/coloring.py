"""Defines the choices of colour and label of nodes, and the retrieval settings of the canvas.

The browser applies a change of either at once and reports it to Python, for links and next pages.
A choice that a page's data cannot show falls back to the page's default. While a retrieval control
moves, the browser computes scores itself; when it rests, Python returns the exact scores.
``sequence`` numbers the reports, so that the browser can ignore the answer to an older one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from segviz.construct import parameters
from segviz.retrieval import POLICIES, RetrievalSettings
from segviz.tree import Structure
from segviz.tree.shape import coherence

MANY = 20_000
"""Most nodes for which coherence is computed without a request."""


def known_coherence(structure: Structure, asked: bool) -> NDArray[np.float64] | None:
    """Returns :func:`coherence`, None for none; of many nodes an empty array unless ``asked``."""
    if not structure.vector.shape[1] or not len(structure.edges):
        return None
    if not asked and len(structure) > MANY:
        return np.zeros(0)
    value = coherence(structure)
    return value if np.isfinite(value).any() else None


@dataclass(frozen=True)
class NodeMeasure:
    """Measure that gives every node a number.

    ``meaning`` describes it in the menu, ``unit`` in the legend. ``known(structure, asked)``
    returns float64 (n,); an empty array if ``asked`` is False and the computation is slow; None if
    no node has a value.
    """

    meaning: str
    unit: str
    known: Callable[[Structure, bool], NDArray[np.float64] | None]


MEASURES: dict[str, NodeMeasure] = {
    "coherence": NodeMeasure(
        "mean cosine with its children; a leaf: with its parent", "mean cosine", known_coherence
    )
}
"""Name to measure, in the order of the menu; links use the names. Values are from 0 to 1 (others
are clipped for drawing) or NaN if unknown. They are drawn from pale to dark. Menus, legend, labels
and tooltips of the canvas follow the rows."""

COLOURS: Final = ("session", "level", "initial", "propagated", "change", "gold", *MEASURES)
"""Choices of colour. The choice "" is the page's default: sessions on Grow, the scores on Ask."""

LABELS: Final = ("marked", "none", "session", "words", "node", "score")
"""Choices of label. "words" are topic words that distinguish a node from its siblings; "marked"
shows them on retrieved, gold and selected nodes only. The choice "" is "words" if there are any."""

AXES: Final = ("clock",)
"""Choices of the time axis. The choice "" is by order, every unit as wide as the others."""


@dataclass(frozen=True)
class Look:
    """Choice of colour and label of nodes, and of the time axis; "" for the default.

    Legal values are ``COLOURS``, ``LABELS`` and ``AXES``.
    """

    colour: str = ""
    labels: str = ""
    axis: str = ""


def read_look(sent: object) -> Look | None:
    """Returns the choice of colours, labels and axis that a browser sent; None if it is illegal."""
    if not isinstance(sent, Mapping):
        return None
    colour, labels, axis = (sent.get(name) for name in ("colour", "labels", "axis"))
    if colour not in ("", *COLOURS) or labels not in ("", *LABELS) or axis not in ("", *AXES):
        return None
    return Look(colour, labels, axis)


LIVE: Final = {
    each.name: each for each in parameters(RetrievalSettings) if each.spec.drawn_by == "canvas"
}
"""Retrieval settings that the header of the canvas changes, by name."""

LIVE_POLICIES: Final = {
    name: make for name, make in POLICIES.items() if getattr(make, "live", False)
}
"""Policies that the browser can compute by itself."""

DRAWINGS: Final = ("mirrored", "change")
"""Drawings of an answered question: both scores mirrored on one axis, or their difference."""


@dataclass(frozen=True)
class Live:
    """Input of the browser's own retrieval, of whose settings it changes those of ``LIVE``."""

    settings: RetrievalSettings
    drawing: str = DRAWINGS[0]
    sequence: int = 0

    def payload(self) -> dict[str, Any]:
        """Returns the settings for the browser, with the ranges of those that it changes."""
        settings = self.settings
        levels = None if settings.levels is None else list(settings.levels)
        return {
            **{name: each.kind(getattr(settings, name)) for name, each in LIVE.items()},
            **{name: getattr(settings, name) for name in settings.names("reading")},
            "levels": levels,
            "drawing": self.drawing,
            "sequence": self.sequence,
            "alpha_max": LIVE["alpha"].spec.high,
            "alpha_step": LIVE["alpha"].spec.step,
            "horizon_max": LIVE["horizon"].spec.high,
        }


def read_selected(sent: object) -> tuple[int | None, int] | None:
    """Returns the node that a browser sent, None for none, and its number; None if illegal."""
    match sent:
        case [int(node), int(sequence)]:
            return (node if node >= 0 else None), sequence
    return None


def read_setting(sent: object) -> Live | None:
    """Returns the retrieval setting that a browser sent; None if it is illegal."""
    if not isinstance(sent, Mapping):
        return None
    drawing, sequence = sent.get("drawing"), sent.get("sequence")
    if drawing not in DRAWINGS or not isinstance(sequence, int):
        return None
    try:
        values: dict[str, Any] = {name: sent.get(name) for name in LIVE}
        settings = RetrievalSettings(**values)
    except ValueError:
        return None
    return Live(settings, drawing, sequence)
