"""The offline default: thresholds per level on background-corrected similarity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from segviz.construct.compatibility.cosine import cosines
from segviz.construct.parameter import check_ranges, param
from segviz.construct.protocols import Arrival, Candidate, Services, Verdict
from segviz.embedding import background_mean
from segviz.tree import Judgement, Vector, told_apart


@dataclass(frozen=True)
class Calibrated:
    """Joins the lowest frontier node that is similar enough for its level.

    Similarity is the cosine after subtracting the background mean (``segviz.embedding.background``)
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

    level_1: float = param(0.10, help="Threshold on level 1.", low=-2, high=2, step=0.01)
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
        """Refuses values outside the declared ranges."""
        check_ranges(self)

    def prepare(self, services: Services) -> Calibrated:
        """Returns the same model with the background mean of this embedder."""
        return replace(self, background=background_mean(services.embedder))

    def thresholds(self, unit: Arrival, candidates: Sequence[Candidate]) -> list[float]:
        """Returns the similarity each candidate must reach for this unit."""
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
        """Returns the choice with every candidate's similarity and threshold."""
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
            if scores[position] >= limits[position]:
                score, needed = told_apart(scores[position], limits[position])
                why = (
                    f"{candidate.place.capitalize()} is the lowest node close enough: "
                    f"{score} reaches {needed}."
                )
                return Verdict(position, judgements, why)
        near = max(range(len(scores)), key=lambda i: scores[i] - limits[i])
        score, needed = told_apart(scores[near], limits[near])
        why = (
            f"No open node is close enough; the nearest miss is {candidates[near].place} "
            f"with {score} against {needed}."
        )
        return Verdict(None, judgements, why)
