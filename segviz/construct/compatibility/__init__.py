"""Compatibility models, which choose where a new unit joins the frontier.

``calibrated``  ours, the offline default: like the unit just before or like a higher
                annotation, first candidate from below that reaches its own threshold
``cosine``      the most similar frontier annotation, if it is similar enough
``pointwise``   a chat model judges one candidate at a time
``batch``       a chat model sees all candidates at once

All see only the frontier, calibrated the units before as well, so they keep construction
online.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from segviz.construct.compatibility.calibrated import Calibrated
from segviz.construct.compatibility.chat_model import Batch, Pointwise
from segviz.construct.compatibility.cosine import Cosine, cosines
from segviz.construct.protocols import Arrival, Candidate, Verdict
from segviz.tree import Judgement

__all__ = ["COMPATIBILITY", "Batch", "Calibrated", "Cosine", "Pointwise", "cosines", "judge"]

COMPATIBILITY: dict[str, Callable[..., Any]] = {
    "calibrated": Calibrated,
    "cosine": Cosine,
    "pointwise": Pointwise,
    "batch": Batch,
}
"""Name to frozen dataclass; adding a row is all it takes."""


def judge(model: Any, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
    """Asks any compatibility model; a bare ``choose`` is wrapped into a Verdict.

    Raises ValueError, naming the answer and what was expected, when the model answers
    with something else or points outside the candidates.
    """
    name = type(model).__name__
    explained = getattr(model, "judge", None)
    if explained is not None:
        verdict = explained(unit, candidates)
        if not isinstance(verdict, Verdict):
            raise ValueError(
                f"{name}.judge returned {verdict!r:.80} ({type(verdict).__name__}); "
                "expected a segviz.construct.Verdict(chosen, judgements, why)"
            )
        chosen = _position(f"{name}.judge", verdict.chosen, len(candidates))
        return verdict if chosen is verdict.chosen else replace(verdict, chosen=chosen)
    chosen = _position(f"{name}.choose", model.choose(unit, candidates), len(candidates))
    judgements = tuple(Judgement(c.node) for c in candidates)
    if chosen is None:
        return Verdict(None, judgements, "The model found no compatible node.")
    return Verdict(chosen, judgements, f"The model chose {candidates[chosen].place}.")


def _position(source: str, chosen: Any, count: int) -> int | None:
    """None or a position in 0..count-1. Numpy's integers count, booleans do not."""
    if chosen is None:
        return None
    if isinstance(chosen, Integral) and not isinstance(chosen, bool) and 0 <= int(chosen) < count:
        return int(chosen)
    legal = f"None or a position in 0..{count - 1}" if count else "None"
    raise ValueError(f"{source} chose {chosen!r:.80}; expected {legal} ({count} candidates)")
