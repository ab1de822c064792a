"""Scores relevance by the cosine of embeddings: plain, sharpened, or together with BM25."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Declared, param
from segviz.embedding import Embedder
from segviz.retrieval.protocols import Scorer
from segviz.retrieval.relevance.lexical import Lexical, shared_words
from segviz.tree import Structure


def standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standardises each row of scores to mean 0 and deviation 1; a constant row becomes 0."""
    if not scores.shape[1]:
        return np.zeros_like(scores)
    centred = scores - scores.mean(axis=1, keepdims=True)
    squares = np.multiply(centred, centred).sum(axis=1, keepdims=True)
    deviation = np.sqrt(squares / scores.shape[1])
    spread = deviation > 1e-12
    if not spread.all():
        centred *= spread
    return np.asarray(np.divide(centred, np.where(spread, deviation, 1.0), out=centred))


def sharpened(scores: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Returns exp(scores / temperature), each row divided by its largest: in (0, 1], same order.

    Dividing by the row's sum afterwards gives the softmax. Differences beyond 700 temperatures
    become the smallest float instead of 0.
    """
    if not scores.shape[1]:
        return np.zeros_like(scores)
    below = scores - scores.max(axis=1, keepdims=True)
    below /= temperature
    np.maximum(below, -700.0, out=below)
    return np.asarray(np.exp(below, out=below))


@dataclass(frozen=True)
class Dense:
    """Cosine of the question's embedding with each annotation's.

    Scores lie in [-1, 1]; 0 where either text is empty.

    Source: SegTreeMem §5.3, Table 2 ("normalized cosine similarity": r / Σ r makes it the
        distribution s⁽⁰⁾).
    """

    name: ClassVar[str] = "dense"

    def prepare(self, structure: Structure, embedder: Embedder, *_: object) -> Scorer:
        """Returns a function from q questions to raw scores, float64 (q, n)."""
        vectors = structure.vector

        def score(questions: Sequence[str]) -> NDArray[np.float64]:
            """Returns the cosine of each question with each node, float64 (q, n)."""
            # Embedders return unit rows, so the product is the cosine. One product per
            # question, not one for all: a score must not depend, even in its last bit, on
            # what else is asked, or a sweep and a single question could rank differently.
            if not questions or not len(vectors):
                return np.zeros((len(questions), len(vectors)))
            queries = embedder.embed(list(questions))
            scores = np.empty((len(questions), len(vectors)))
            for row, query in zip(scores, queries, strict=True):
                row[:] = vectors.dot(query)
            return scores

        return score


@dataclass(frozen=True)
class Softmax(Declared):
    """exp(standardised cosine / temperature), over the nodes of a structure.

    The ranking is that of ``dense``, but s⁽⁰⁾ differs. Static embeddings give chat messages nearly
    equal cosines: after r / Σ r every node has about 1/n, and propagation adds noise. With softmax
    the best node has about a sixth of the sum (median over 930 LoCoMo questions).

    Source: ours; a softmax over similarities is classical. Departs from SegTreeMem §4.3.1, which
        divides by the sum.
    """

    name: ClassVar[str] = "softmax"

    temperature: float = param(
        0.5, "How evenly the scores are spread over the nodes.", (0.1, 10), source="ours"
    )

    def prepare(self, structure: Structure, embedder: Embedder, *_: object) -> Scorer:
        """Returns a function from q questions to raw scores in (0, 1], float64 (q, n)."""
        cosine = Dense().prepare(structure, embedder)

        def score(questions: Sequence[str]) -> NDArray[np.float64]:
            return sharpened(standardised(cosine(questions)), self.temperature)

        return score


@dataclass(frozen=True)
class Hybrid(Declared):
    """exp((standardised BM25 + dense_weight · standardised cosine) / temperature), over all nodes.

    Scores are positive; each question's best node has 1. The exponential gives strong matches most
    of the sum, so that propagation spreads from few nodes. At temperature 1 the best node has .69
    of the sum (median over 930 LoCoMo questions); at 2 it has .20, and propagation gains a little.
    A question that shares no word with the memory is scored by the dense part only.

    Source: ours; standardised score sums are classical (Fox and Shaw 1994).
    """

    name: ClassVar[str] = "hybrid"

    dense_weight: float = param(
        1.0, "Weight of the embedding part against the words.", (0, 5), source="ours"
    )
    temperature: float = param(
        2.0, "How evenly the scores are spread over the nodes.", (0.5, 10), source="ours"
    )

    def prepare(self, structure: Structure, embedder: Embedder, *_: object) -> Scorer:
        """Returns a function from q questions to raw scores in (0, 1], float64 (q, n)."""
        return _Hybrid(self, structure, embedder)


class _Hybrid:
    """Scorer of :class:`Hybrid` for one structure."""

    matches = staticmethod(shared_words)

    def __init__(self, settings: Hybrid, structure: Structure, embedder: Embedder) -> None:
        self._settings = settings
        self._dense = Dense().prepare(structure, embedder)
        self._lexical = Lexical().prepare(structure, embedder)

    def __call__(self, questions: Sequence[str]) -> NDArray[np.float64]:
        together = standardised(self._lexical(questions))
        together += self._settings.dense_weight * standardised(self._dense(questions))
        return sharpened(together, self._settings.temperature)

    def parts(self, question: str) -> dict[str, NDArray[np.float64]]:
        """Returns what words and meaning add to the logarithm of the scores, float64 (n,) each."""
        words = standardised(self._lexical([question]))[0]
        meaning = self._settings.dense_weight * standardised(self._dense([question]))[0]
        return {
            "words": words / self._settings.temperature,
            "meaning": meaning / self._settings.temperature,
        }
