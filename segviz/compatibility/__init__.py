"""Stage: compatibility models, which choose where a new unit joins the frontier.

``calibrated``  ours, the offline default: background-corrected similarity, first
                candidate from below that reaches its own threshold
``cosine``      the most similar frontier annotation, if it is similar enough
``pointwise``   a chat model judges one candidate at a time, from below
``batch``       a chat model sees all candidates at once

All see only the frontier, so they keep construction online. One file each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from segviz.compatibility.batch import Batch
from segviz.compatibility.calibrated import Calibrated
from segviz.compatibility.cosine import Cosine
from segviz.compatibility.pointwise import Pointwise
from segviz.compatibility.similarity import describe
from segviz.protocols import Arrival, Candidate, Explains, Verdict
from segviz.steps import Judgement

__all__ = ["COMPATIBILITY", "Batch", "Calibrated", "Cosine", "Pointwise", "judge"]

COMPATIBILITY: dict[str, Callable[..., Any]] = {
    "calibrated": Calibrated,
    "cosine": Cosine,
    "pointwise": Pointwise,
    "batch": Batch,
}


def judge(model: Any, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
    """Ask any compatibility model; a bare ``choose`` is wrapped into a Verdict.

    Raises ValueError naming answer and legal range when the model points outside the
    candidates.
    """
    if isinstance(model, Explains):
        return model.judge(unit, candidates)
    chosen = model.choose(unit, candidates)
    if chosen is not None and not 0 <= chosen < len(candidates):
        raise ValueError(
            f"the compatibility model chose {chosen!r}; expected None or a position "
            f"in 0..{len(candidates) - 1} ({len(candidates)} candidates)"
        )
    judgements = tuple(Judgement(c.node) for c in candidates)
    if chosen is None:
        return Verdict(None, judgements, "The model found no compatible node.")
    return Verdict(chosen, judgements, f"The model chose {describe(candidates[chosen])}.")
