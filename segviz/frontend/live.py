"""The setting the canvas computes with: on its way to the browser, and back.

The browser recomputes scores while a control moves and reports the setting once it rests;
Python stores it and answers with the true scores. ``sequence`` numbers the browser's
changes, so that an answer to an older one is told from the answer to the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from segviz.retrieval import POLICIES, check_setting

ALPHA_MAX: Final = 0.99
ALPHA_STEP: Final = 0.01
HORIZON_MAX: Final = 5
"""Range of the controls; equation 4 itself takes any α below 1 and any number of hops."""

LIVE_POLICIES: Final = {
    name: make for name, make in POLICIES.items() if getattr(make, "live", True)
}
"""The policies the browser can compute by itself."""

DRAWINGS: Final = ("mirrored", "change")
"""Both scores mirrored on one axis, or their signed difference."""


@dataclass(frozen=True)
class Setting:
    """What the header of the canvas sets: policy, α in [0, 0.99], H in 0…5, the drawing."""

    policy: str = "top-down"
    alpha: float = 0.1
    horizon: int = 2
    drawing: str = DRAWINGS[0]
    sequence: int = 0


@dataclass(frozen=True)
class Live:
    """A setting and what else decides which nodes are retrieved.

    ``k`` nodes, or what ``budget`` tokens pay for, are taken from the admissible
    ``levels`` (None: all); ``distinct`` counts nodes that carry one text once.
    """

    setting: Setting
    k: int
    levels: tuple[int, ...] | None = None
    distinct: bool = True
    budget: int | None = None

    def payload(self) -> dict[str, Any]:
        """As JSON, with the range of every control."""
        return {
            **asdict(self.setting),
            "k": self.k,
            "levels": None if self.levels is None else list(self.levels),
            "distinct": self.distinct,
            "budget": self.budget,
            "policies": {name: make().label for name, make in LIVE_POLICIES.items()},
            "alpha_max": ALPHA_MAX,
            "alpha_step": ALPHA_STEP,
            "horizon_max": HORIZON_MAX,
        }


def read_setting(sent: object) -> Setting | None:
    """The setting a browser sent; None for anything that is not a legal one."""
    if not isinstance(sent, Mapping):
        return None
    policy, alpha, horizon, drawing, sequence = (
        sent.get(name) for name in ("policy", "alpha", "horizon", "drawing", "sequence")
    )
    if drawing not in DRAWINGS or not isinstance(sequence, int):
        return None
    try:
        check_setting(policy, alpha, horizon)  # type: ignore[arg-type]
    except ValueError:
        return None
    return Setting(policy, float(alpha), int(horizon), drawing, sequence)  # type: ignore[arg-type]
