"""What compatibility models share: cosines, and how a candidate is called in a sentence."""

from __future__ import annotations

import numpy as np

from segviz.construct.protocols import Candidate
from segviz.tree import Vector


def cosines(vector: Vector, matrix: Vector) -> Vector:
    """Cosine of ``vector`` (d,) with each row of ``matrix`` (n, d); 0 for zero vectors."""
    norms = np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector)
    dots = matrix @ vector
    return np.asarray(np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0))


def describe(candidate: Candidate) -> str:
    """``level 2 (units 4–9)``."""
    start, stop = candidate.span
    units = f"unit {start}" if stop - start == 1 else f"units {start}–{stop - 1}"
    return f"level {candidate.level} ({units})"
