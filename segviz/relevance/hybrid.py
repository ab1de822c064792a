"""Dense and lexical relevance together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.parameters import check_ranges, param
from segviz.protocols import Embedder, Scorer
from segviz.relevance.dense import Dense
from segviz.relevance.lexical import Lexical
from segviz.structure import Structure


def standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row less its mean, divided by its deviation; 0 where a row is constant."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    deviation = scores.std(axis=1, keepdims=True)
    return np.asarray(
        np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 1e-12)
    )


@dataclass(frozen=True)
class Hybrid:
    """exp(standardised BM25 + weight · standardised cosine), over the nodes of a structure.

    Always positive. The exponential keeps the order of the sum and lets a strong match
    carry most of the mass, so that propagation spreads from few nodes. Where a question
    shares no word with the memory only the dense part counts.

    Source: ours; standardised score sums are classical (Fox and Shaw 1994).
    """

    name: ClassVar[str] = "hybrid"

    dense_weight: float = param(
        1.0, help="Weight of the embedding part against the words.", low=0, high=5, step=0.1
    )

    def __post_init__(self) -> None:
        """Refuse values outside the declared ranges."""
        check_ranges(self)

    def prepare(self, structure: Structure, embedder: Embedder) -> Scorer:
        """A function from q questions to raw scores, float64 (q, n)."""
        dense = Dense().prepare(structure, embedder)
        lexical = Lexical().prepare(structure, embedder)

        def score(questions: Sequence[str]) -> NDArray[np.float64]:
            if not len(structure):
                return np.zeros((len(questions), 0))
            together = standardised(lexical(questions))
            together += self.dense_weight * standardised(dense(questions))
            return np.asarray(np.exp(together))

        return score
