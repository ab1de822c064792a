"""Stage: how relevant each node is to a question, before any propagation.

Each model gives a raw score per node (higher is better, any range);
:func:`initial_scores` turns it into the distribution s⁽⁰⁾ of SegTreeMem §4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.protocols import Embedder
from segviz.structure import Structure

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Dense:
    """Cosine of the question's embedding with each annotation's (the paper's scorer).

    Returns float64 (n,) in [-1, 1]; 0 where either text is empty. Retired nodes are
    scored like any other and left out at selection.
    """

    name: ClassVar[str] = "dense"

    def score(self, question: str, structure: Structure, embedder: Embedder) -> Scores:
        """Raw relevance r, one number per node."""
        if not len(structure):
            return np.zeros(0)
        # Embedders return unit rows, so the product is the cosine.
        query = embedder.embed([question])[0]
        return np.asarray(structure.vector @ query, dtype=np.float64)


RELEVANCE: dict[str, Callable[..., Any]] = {
    "dense": Dense,
}


def initial_scores(relevance: Scores, active: NDArray[np.bool_] | None = None) -> Scores:
    """s⁽⁰⁾ = r / Σ r over the active nodes; float64 (n,), sums to 1 (0 when n = 0).

    Source: SegTreeMem §4.3.1. The paper does not say what happens to negative relevance
    or to an all-zero vector: negatives are clipped to 0, all zero becomes uniform.
    """
    clipped = np.clip(relevance, 0.0, None)
    live = np.ones(len(clipped), dtype=np.bool_) if active is None else active
    clipped = np.where(live, clipped, 0.0)
    total = clipped.sum()
    if total > 0:
        return np.asarray(clipped / total)
    count = int(live.sum())
    return np.where(live, 1.0 / count, 0.0) if count else clipped
