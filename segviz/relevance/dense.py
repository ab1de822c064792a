"""Similarity of embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.parameters import check_ranges, param
from segviz.protocols import Embedder, Scorer
from segviz.relevance.standardise import sharpened, standardised
from segviz.structure import Structure


@dataclass(frozen=True)
class Cosine:
    """Cosine of the question's embedding with each annotation's, as it is.

    Scores lie in [-1, 1]; 0 where either text is empty. Source: SegTreeMem §5.3, Table 2.
    """

    name: ClassVar[str] = "cosine"

    def prepare(self, structure: Structure, embedder: Embedder) -> Scorer:
        """A function from q questions to raw scores, float64 (q, n)."""

        def score(questions: Sequence[str]) -> NDArray[np.float64]:
            if not len(structure) or not questions:
                return np.zeros((len(questions), len(structure)))
            # Embedders return unit rows, so the product is the cosine. One product per
            # question, not one for all: a score must not depend, even in its last bit, on
            # what else is asked, or a sweep and a single question could rank differently.
            rows = [structure.vector @ query for query in embedder.embed(list(questions))]
            return np.stack(rows).astype(np.float64)

        return score


@dataclass(frozen=True)
class Dense:
    """exp(standardised cosine / temperature), over the nodes of a structure.

    Ranks as the cosine does. The shares s⁽⁰⁾ differ: cosines of chat with static
    embeddings are all alike, so that after r / Σ r every node holds about 1/n and what
    propagation adds is noise; here the best node holds .18 of the whole (median over 930
    LoCoMo questions).

    Source: SegTreeMem §5.3, Table 2 ("normalized cosine similarity", which leaves the
    normalisation open); softmax over similarities is classical. ``cosine`` is the plain
    reading. In the paper's setting (top-down, alpha .10, H 2) recall@10 over those
    questions is .529 here, .515 with ``cosine`` and .516 without propagation.
    """

    name: ClassVar[str] = "dense"

    temperature: float = param(
        0.5, help="How evenly the scores are spread over the nodes.", low=0.1, high=10, step=0.1
    )

    def __post_init__(self) -> None:
        """Refuse values outside the declared ranges."""
        check_ranges(self)

    def prepare(self, structure: Structure, embedder: Embedder) -> Scorer:
        """A function from q questions to raw scores in (0, 1], float64 (q, n)."""
        cosine = Cosine().prepare(structure, embedder)

        def score(questions: Sequence[str]) -> NDArray[np.float64]:
            return sharpened(standardised(cosine(questions)), self.temperature)

        return score
