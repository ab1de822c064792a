"""Choices of colour and label of nodes, and the retrieval settings of the canvas.

The browser changes both kinds by itself and reports them; links and the next page use the report. A
choice that a page's data cannot show falls back to the page's default. A new measure of nodes needs
only a row in ``MEASURES``.

While a retrieval control moves, the browser recomputes scores. It reports the setting once the
control rests; Python stores it and answers with the true scores. ``sequence`` numbers the browser's
changes, so that it can ignore an answer to an older one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from segviz.retrieval import POLICIES, RetrievalSettings
from segviz.tree import Structure
from segviz.tree.shape import known_coherence


@dataclass(frozen=True)
class NodeMeasure:
    """Number for every node: its ``meaning`` in the menu, its ``unit`` in the legend, its function.

    ``known(structure, asked)`` returns float64 (n,). It returns an empty array if computation is
    postponed until requested, None if no node has a value.
    """

    meaning: str
    unit: str
    known: Callable[[Structure, bool], NDArray[np.float64] | None]


MEASURES: dict[str, NodeMeasure] = {
    "coherence": NodeMeasure(
        "mean cosine with its children; a leaf: with its parent", "mean cosine", known_coherence
    ),
}
"""Name to measure, in the order of the menu; links use the names. Values run from 0 to 1 (others
are clipped for drawing), NaN where unknown, on one ramp from pale to dark. Menus, legend, labels
and tooltips of the canvas follow the rows."""

COLOURS: Final = ("session", "level", "initial", "propagated", "change", "gold", "own", *MEASURES)
"""Values nodes can be coloured by; "own" are the labels of a file. "" is the page's default:
sessions on Grow, each half's score on Ask."""

LABELS: Final = ("marked", "none", "session", "words", "node", "score")
"""Labels of nodes. "" is the default: "words", which distinguish a node from its siblings, where
they are known. "marked" shows them on retrieved, gold and selected nodes only."""


@dataclass(frozen=True)
class Look:
    """Choice of colour and label."""

    colour: str = ""
    labels: str = ""


def read_look(sent: object) -> Look | None:
    """Returns the choice a browser sent; None unless it is a legal one."""
    if not isinstance(sent, Mapping):
        return None
    colour, labels = sent.get("colour"), sent.get("labels")
    if colour not in ("", *COLOURS) or labels not in ("", *LABELS):
        return None
    return Look(colour, labels)


ALPHA_MAX: Final = 0.99
ALPHA_STEP: Final = 0.01
HORIZON_MAX: Final = 5
"""Range of the controls; equation 4 itself allows any α below 1 and any number of hops."""

LIVE_POLICIES: Final = {
    name: make for name, make in POLICIES.items() if getattr(make, "live", False)
}
"""Policies the browser can compute by itself: those with ``live``."""

DRAWINGS: Final = ("mirrored", "change")
"""Both scores mirrored on one axis, or their signed difference."""


@dataclass(frozen=True)
class Live:
    """Input of the browser's own retrieval: settings, drawing, and the number of its last change.

    Of the settings that the browser reports only policy, α and H count.
    """

    settings: RetrievalSettings
    drawing: str = DRAWINGS[0]
    sequence: int = 0

    def payload(self) -> dict[str, Any]:
        """Returns the settings for the browser, with the maxima of α and H and the step of α."""
        settings = self.settings
        return {
            "policy": settings.policy,
            "alpha": float(settings.alpha),
            "horizon": int(settings.horizon),
            "drawing": self.drawing,
            "sequence": self.sequence,
            "k": settings.k,
            "levels": None if settings.levels is None else list(settings.levels),
            "budget": settings.budget,
            "deduplicate": settings.deduplicate,
            "alpha_max": ALPHA_MAX,
            "alpha_step": ALPHA_STEP,
            "horizon_max": HORIZON_MAX,
        }


def read_setting(sent: object) -> Live | None:
    """Returns the setting a browser sent; None unless it is a legal one."""
    if not isinstance(sent, Mapping):
        return None
    policy, alpha, horizon, drawing, sequence = (
        sent.get(name) for name in ("policy", "alpha", "horizon", "drawing", "sequence")
    )
    if drawing not in DRAWINGS or not isinstance(sequence, int):
        return None
    try:
        settings = RetrievalSettings(policy=policy, alpha=alpha, horizon=horizon)  # type: ignore[arg-type]
    except ValueError:
        return None
    return Live(settings, drawing, sequence)
