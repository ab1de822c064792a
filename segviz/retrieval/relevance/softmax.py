"""Scores relevance by the softmax of the cosines of embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Scorer, check_ranges, param
from segviz.conversation import Unit
from segviz.embedding import Embedder
from segviz.retrieval.relevance.dense import Dense
from segviz.retrieval.relevance.standardise import sharpened, standardised
from segviz.tree import Structure


@dataclass(frozen=True)
class Softmax:
    """exp(standardised cosine / temperature), over the nodes of a structure.

    Ranks as ``dense`` does. The shares s⁽⁰⁾ differ: cosines of chat with static embeddings
    are nearly equal, so that after r / Σ r every node holds about 1/n and what propagation
    adds is noise; here the best node holds about a sixth of the whole (median over 930
    LoCoMo questions).

    Source: ours; a softmax over similarities is classical. Departs from SegTreeMem §4.3.1,
    which divides by the sum.
    """

    name: ClassVar[str] = "softmax"

    temperature: float = param(
        0.5, help="How evenly the scores are spread over the nodes.", low=0.1, high=10, step=0.1
    )

    def __post_init__(self) -> None:
        """Refuse values outside the declared ranges."""
        check_ranges(self)

    def prepare(
        self,
        structure: Structure,
        embedder: Embedder,
        units: Sequence[Unit] = (),
        speakers: Sequence[str] = (),
    ) -> Scorer:
        """A function from q questions to raw scores in (0, 1], float64 (q, n)."""
        cosine = Dense().prepare(structure, embedder)

        def score(questions: Sequence[str]) -> NDArray[np.float64]:
            return sharpened(standardised(cosine(questions)), self.temperature)

        return score
