"""Scores the relevance of each node to a question, before any propagation.

``hybrid``   dense and lexical together; the offline default
``dense``    cosine of question and annotation embeddings (the paper's)
``lexical``  BM25 over the annotations
``softmax``  the same cosines, sharpened: the best nodes hold more of the whole

A model is prepared once per structure and then scores any number of questions. Scores are
raw (higher is better, any range); :func:`initial_scores` turns them into the distribution
s⁽⁰⁾ of SegTreeMem §4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Scorer
from segviz.embedding import Embedder
from segviz.retrieval.relevance.dense import Dense
from segviz.retrieval.relevance.hybrid import Hybrid
from segviz.retrieval.relevance.lexical import Lexical
from segviz.retrieval.relevance.softmax import Softmax
from segviz.tree import Structure

__all__ = ["RELEVANCE", "Dense", "Hybrid", "Lexical", "Softmax", "initial_scores", "over_active"]

Scores = NDArray[np.float64]

RELEVANCE: dict[str, Callable[..., Any]] = {
    "hybrid": Hybrid,
    "dense": Dense,
    "lexical": Lexical,
    "softmax": Softmax,
}
"""Name to relevance model; a new model needs only a row here."""


def over_active(model: Any, structure: Structure, embedder: Embedder) -> Scorer:
    """Prepare ``model`` on the active nodes alone; retired ones score 0.

    Word frequencies and standardisation must not depend on texts that are no longer in
    the memory: a RAPTOR rebuild retires more summaries than it keeps.
    """
    if structure.active.all():
        whole: Scorer = model.prepare(structure, embedder)
        return whole
    rows = np.flatnonzero(structure.active)
    living = Structure(
        structure.level[rows],
        structure.start[rows],
        structure.stop[rows],
        tuple(structure.text[row] for row in rows.tolist()),
        structure.vector[rows],
        structure.active[rows],
        np.zeros((0, 2), dtype=np.int32),
    )
    inner: Scorer = model.prepare(living, embedder)

    def score(questions: Sequence[str]) -> NDArray[np.float64]:
        scores = np.zeros((len(questions), len(structure)))
        scores[:, rows] = inner(questions)
        return scores

    return score


def initial_scores(relevance: Scores, active: NDArray[np.bool_] | None = None) -> Scores:
    """s⁽⁰⁾ = r / Σ r over the active nodes; float64 (n,) or (q, n), rows sum to 1.

    Source: SegTreeMem §4.3.1. The paper does not say what happens to negative relevance
    or to an all-zero vector: negatives are clipped to 0, all zero becomes uniform.
    """
    live = np.ones(relevance.shape[-1], dtype=np.bool_) if active is None else active
    clipped = np.clip(relevance, 0.0, None)
    if not live.all():
        clipped[..., ~live] = 0.0
    total = clipped.sum(axis=-1, keepdims=True)
    if (total > 0).all():
        return np.asarray(np.divide(clipped, total, out=clipped))
    count = int(live.sum())
    uniform = np.where(live, 1.0 / count, 0.0) if count else np.zeros(len(live))
    return np.asarray(
        np.where(total > 0, np.divide(clipped, total, where=total > 0, out=clipped * 0), uniform)
    )
