"""A step's decision as the column beside the tree shows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from segviz.tree import Decision, Judgement, Structure


def candidate_rows(decision: Decision | None, structure: Structure) -> list[dict[str, Any]]:
    """The candidates as JSON rows, from low to high level. ``node`` is what the candidate is
    shown as, which may be the same for two of one same-text chain."""
    if decision is None:
        return []
    return [
        {
            "node": int(structure.chain[item.node]),
            "taken": item.node == decision.chosen,
            "level": int(structure.level[item.node]),
            "score": _finite(item.score),
            "threshold": _finite(item.threshold),
            "numbers": _compared(_finite(item.score), _finite(item.threshold)),
            "label": item.label[:80],
        }
        for item in decision.candidates
        if 0 <= item.node < len(structure)
    ]


def outcome(
    decision: Decision | None, structure: Structure, added: Sequence[int]
) -> dict[str, Any] | None:
    """Where no candidate was chosen: that, and the highest level of the root made instead."""
    if decision is None or decision.chosen is not None or not decision.candidates:
        return None
    roots = [node for node in added if node in structure.roots]
    if not roots:
        highest = int(structure.top[structure.active].max(initial=0))
        return {"text": "none taken", "level": highest}
    return {"text": "none: new root", "level": int(structure.top[roots[-1]])}


def _compared(score: float | None, threshold: float | None) -> str:
    """As in "0.178 < 0.182"; a score without a threshold stands alone."""
    similar, needed = Judgement(0, score, threshold).numbers
    if score is None or threshold is None:
        return similar or (f"? / {needed}" if needed else "")
    return f"{similar} {'≥' if score >= threshold else '<'} {needed}"


def _finite(value: float | None) -> float | None:
    """JSON has no NaN: a number that is none becomes null."""
    return None if value is None or not math.isfinite(value) else float(value)
