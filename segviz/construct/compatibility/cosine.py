"""The paper's cheapest compatibility model, and the cosine it decides by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.construct.parameter import Declared, param
from segviz.construct.protocols import Arrival, Candidate, Verdict
from segviz.tree import Judgement, told_apart

# Ties are decided by level or age, not by the last bits of a product: those of a matrix product
# (BLAS) differ between equal rows, by where a row stands; einsum adds every row up alike. Rounding
# does the same for rows of equal direction: vectors are float32, exact to about seven digits.
_DIGITS = 6


def cosines(vector: NDArray[np.floating], matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    """Cosine of ``vector`` (d,) with each row of ``matrix`` (n, d), float64 (n,), rounded to
    six digits, so that equal rows have equal cosines; 0 for zero vectors."""
    norms = np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector)
    dots = np.einsum("ij,j->i", matrix, vector).astype(np.float64)
    ratios = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
    return np.asarray(np.round(ratios, _DIGITS))


@dataclass(frozen=True)
class Cosine(Declared):
    """Joins the frontier node whose annotation is most similar to the unit.

    NONE below ``threshold``; a tie goes to the lower level. Source: SegTreeMem §4.2 (i),
    which does not state a threshold. With one threshold the literal reading either puts
    everything under one node or opens a new root at almost every unit; the tree view
    makes that visible.
    """

    name: ClassVar[str] = "cosine"

    threshold: float = param(
        0.3,
        "Least similarity at which a unit may join.",
        (-1, 1),
        source="SegTreeMem §4.2 (i) without a value; .3 is ours",
    )

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the most similar candidate, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """Returns the choice with every candidate's cosine."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        scores = cosines(unit.vector, np.stack([c.vector for c in candidates])).tolist()
        judgements = tuple(
            Judgement(c.node, score, self.threshold)
            for c, score in zip(candidates, scores, strict=True)
        )
        best = max(range(len(scores)), key=lambda i: (scores[i], -i))
        place = candidates[best].place
        score, needed = told_apart(scores[best], self.threshold)
        if scores[best] >= self.threshold:
            why = f"Most similar: {place} at {score}, which reaches {needed}."
            return Verdict(best, judgements, why)
        why = f"Even the most similar, {place} at {score}, stays below {needed}."
        return Verdict(None, judgements, why)
