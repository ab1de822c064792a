"""Stage: compatibility models, which choose where a new unit joins the frontier.

``cosine``      the paper's cheapest variant: the most similar frontier annotation, if it
                is similar enough.
``calibrated``  ours, the offline default: background-corrected similarity, first
                candidate from below that reaches its own threshold.

Both see only the frontier, so they keep construction online.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from segviz.background import background_mean
from segviz.parameters import check_ranges, param
from segviz.protocols import Arrival, Candidate, Embedder, Explains, Verdict
from segviz.steps import Judgement, Vector


def cosines(vector: Vector, matrix: Vector) -> Vector:
    """Cosine of ``vector`` (d,) with each row of ``matrix`` (n, d); 0 for zero vectors."""
    norms = np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector)
    dots = matrix @ vector
    return np.asarray(np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0))


def _describe(candidate: Candidate) -> str:
    start, stop = candidate.span
    units = f"unit {start}" if stop - start == 1 else f"units {start}–{stop - 1}"
    return f"level {candidate.level} ({units})"


@dataclass(frozen=True)
class Cosine:
    """Joins the frontier node whose annotation is most similar to the unit.

    NONE below ``threshold``; a tie goes to the lower level. Source: SegTreeMem §4.2 (i),
    which does not state a threshold. With one threshold the literal reading either puts
    everything under one node or opens a new root at almost every unit; the tree view
    makes that visible.
    """

    name: ClassVar[str] = "cosine"

    threshold: float = param(
        0.3, help="Least similarity at which a unit may join.", low=-1, high=1, step=0.01
    )

    def __post_init__(self) -> None:
        """Refuse values outside the declared ranges."""
        check_ranges(self)

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the most similar candidate, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """The choice with every candidate's cosine."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        scores = cosines(unit.vector, np.stack([c.vector for c in candidates])).tolist()
        judgements = tuple(
            Judgement(c.node, score, self.threshold)
            for c, score in zip(candidates, scores, strict=True)
        )
        best = max(range(len(scores)), key=lambda i: (scores[i], -i))
        place = _describe(candidates[best])
        if scores[best] >= self.threshold:
            why = (
                f"Most similar: {place} at {scores[best]:.2f}, which reaches {self.threshold:.2f}."
            )
            return Verdict(best, judgements, why)
        why = (
            f"Even the most similar, {place} at {scores[best]:.2f}, "
            f"stays below {self.threshold:.2f}."
        )
        return Verdict(None, judgements, why)


@dataclass(frozen=True)
class Calibrated:
    """Joins the lowest frontier node that is similar enough for its level.

    Similarity is the cosine after subtracting the background mean (``segviz.background``)
    from unit and annotation. Candidates are asked from low to high; each has its own
    threshold, stricter for low levels, which grows by ``crowding``·ln(1 + children/3)
    and, for the lowest one, by ``session_break`` when the unit opens a session. NONE
    when no candidate reaches its threshold.

    Source: ours. Departs from SegTreeMem §4.2 (i): first sufficient candidate in place of
    arg-max, per-level thresholds, background correction. The reason is shape: a tree of
    the depth and branching the paper reports (Table 5) needs low nodes to stay narrow and
    high nodes to stay open. The defaults were set on five LoCoMo conversations (exchange
    units, wordllama); a threshold below zero on high levels is what stops cascades.
    """

    name: ClassVar[str] = "calibrated"

    level_1: float = param(0.07, help="Threshold on level 1.", low=-2, high=2, step=0.01)
    level_2: float = param(0.05, help="Threshold on level 2.", low=-2, high=2, step=0.01)
    level_3: float = param(-0.10, help="Threshold on level 3.", low=-2, high=2, step=0.01)
    above: float = param(-0.30, help="Threshold on level 4 and higher.", low=-2, high=2, step=0.01)
    crowding: float = param(
        0.15,
        help="How fast a node with many children gets harder to join.",
        low=0,
        high=2,
        step=0.01,
    )
    session_break: float = param(
        0.30, help="Added on the lowest candidate when a session opens.", low=0, high=2, step=0.01
    )
    background: Vector | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse values outside the declared ranges."""
        check_ranges(self)

    def prepare(self, embedder: Embedder) -> Calibrated:
        """The same model with the background mean of this embedder."""
        return replace(self, background=background_mean(embedder))

    def thresholds(self, unit: Arrival, candidates: Sequence[Candidate]) -> list[float]:
        """The similarity each candidate must reach for this unit."""
        by_level = (self.level_1, self.level_2, self.level_3, self.above)
        limits = [
            by_level[min(c.level, 4) - 1] + self.crowding * math.log1p(c.children / 3)
            for c in candidates
        ]
        if limits and unit.opens_session:
            limits[0] += self.session_break
        return limits

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the lowest sufficient candidate, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """The choice with every candidate's similarity and threshold."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        centre = self.background if self.background is not None else np.float32(0)
        rows = np.stack([c.vector for c in candidates]) - centre
        scores = cosines(unit.vector - centre, rows).tolist()
        limits = self.thresholds(unit, candidates)
        judgements = tuple(
            Judgement(c.node, score, limit)
            for c, score, limit in zip(candidates, scores, limits, strict=True)
        )
        for position, candidate in enumerate(candidates):
            score, limit = scores[position], limits[position]
            if score >= limit:
                why = (
                    f"{_describe(candidate).capitalize()} is the lowest node close enough: "
                    f"{score:.2f} reaches {limit:.2f}."
                )
                return Verdict(position, judgements, why)
        near = max(range(len(scores)), key=lambda i: scores[i] - limits[i])
        why = (
            f"No open node is close enough; the nearest miss is {_describe(candidates[near])} "
            f"with {scores[near]:.2f} against {limits[near]:.2f}."
        )
        return Verdict(None, judgements, why)


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
    return Verdict(chosen, judgements, f"The model chose {_describe(candidates[chosen])}.")


COMPATIBILITY: dict[str, Callable[..., Any]] = {
    "cosine": Cosine,
    "calibrated": Calibrated,
}
