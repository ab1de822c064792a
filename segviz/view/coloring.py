"""What nodes can be coloured by and labelled with, and the choice of both.

The browser changes both by itself and reports the choice, so that links and the next page
can carry it. A choice that the data of a page cannot show falls back to the page's default.
A new measure of nodes needs only a row in ``MEASURES``.

So are the settings of retrieval: the browser recomputes scores while a control moves and reports
the setting once it rests; Python stores it and answers with the true scores. ``sequence`` numbers
the browser's changes, so that an answer to an older one is told from the answer to the last.
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


ALPHA_MAX: Final = 0.99
ALPHA_STEP: Final = 0.01
HORIZON_MAX: Final = 5
"""Range of the controls; equation 4 itself takes any α below 1 and any number of hops."""

LIVE_POLICIES: Final = {
    name: make for name, make in POLICIES.items() if getattr(make, "live", False)
}
"""The policies the browser can compute by itself: those that say so by ``live``."""

DRAWINGS: Final = ("mirrored", "change")
"""Both scores mirrored on one axis, or their signed difference."""


@dataclass(frozen=True)
class Live:
    """What the browser needs to compute by itself which nodes are retrieved: the settings
    of the question, the drawing, and the number of the browser's last change. Of what the browser
    sends policy, α and H count."""

    settings: RetrievalSettings
    drawing: str = DRAWINGS[0]
    sequence: int = 0

    def payload(self) -> dict[str, Any]:
        """As JSON, with the range of every control."""
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
            "alpha_max": ALPHA_MAX,
            "alpha_step": ALPHA_STEP,
            "horizon_max": HORIZON_MAX,
        }


def read_setting(sent: object) -> Live | None:
    """The setting a browser sent; None for anything that is not a legal one."""
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
