"""Exchanges the settings a canvas computes with between Python and the browser.

The browser recomputes scores while a control moves and reports the setting once it rests;
Python stores it and answers with the true scores. ``sequence`` numbers the browser's
changes, so that an answer to an older one is told from the answer to the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from segviz.retrieval import POLICIES, RetrievalSettings

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
