"""Scores relevance by the cosine of embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Scorer
from segviz.conversation import Unit
from segviz.embedding import Embedder
from segviz.tree import Structure


@dataclass(frozen=True)
class Dense:
    """Cosine of the question's embedding with each annotation's, as it is.

    Scores lie in [-1, 1]; 0 where either text is empty. Source: SegTreeMem §5.3, Table 2
    ("normalized cosine similarity": r / Σ r makes it the distribution s⁽⁰⁾).
    """

    name: ClassVar[str] = "dense"

    def prepare(
        self,
        structure: Structure,
        embedder: Embedder,
        units: Sequence[Unit] = (),
        speakers: Sequence[str] = (),
    ) -> Scorer:
        """A function from q questions to raw scores, float64 (q, n)."""

        def score(questions: Sequence[str]) -> NDArray[np.float64]:
            scores = np.zeros((len(questions), len(structure)))
            # Embedders return unit rows, so the product is the cosine. One product per
            # question, not one for all: a score must not depend, even in its last bit, on
            # what else is asked, or a sweep and a single question could rank differently.
            if scores.size:
                for row, query in zip(scores, embedder.embed(list(questions)), strict=True):
                    row[:] = structure.vector @ query
            return scores

        return score
