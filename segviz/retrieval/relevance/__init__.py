"""Scores the relevance of each node to a question, before any propagation.

``contextual``  words, meaning, similar words and dates of a node and its neighbours; our own
                model, the default
``hybrid``      dense and lexical together
``dense``       cosine of question and annotation embeddings (the paper's)
``lexical``     BM25 over the annotations
``softmax``     the cosines of ``dense``, sharpened: the best nodes get a larger share of the sum

A model is prepared once per structure and then scores any number of questions. Raw scores have any
range; higher is better. :func:`initial_scores` turns them into the distribution s⁽⁰⁾ of
SegTreeMem §4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.construct import make, parameters
from segviz.conversation import Unit
from segviz.embedding import Embedder
from segviz.handover import built_in, calling, check_scores
from segviz.retrieval.protocols import Scorer
from segviz.retrieval.relevance.contextual import Contextual
from segviz.retrieval.relevance.dense import Dense, Hybrid, Softmax
from segviz.retrieval.relevance.lexical import Lexical
from segviz.tree import Structure
from segviz.waiting import waited_for

__all__ = [
    "RELEVANCE",
    "Contextual",
    "Dense",
    "Hybrid",
    "Lexical",
    "Softmax",
    "initial_scores",
    "matches",
    "over_active",
    "parts",
    "relevance_model",
    "spelled",
]

Scores = NDArray[np.float64]

RELEVANCE: dict[str, type[Any]] = {
    "contextual": Contextual,
    "hybrid": Hybrid,
    "dense": Dense,
    "lexical": Lexical,
    "softmax": Softmax,
}
"""Name to relevance model; to add a model, add a row here."""


def relevance_model(spelled: str) -> Any:
    """Creates a relevance model from its specification.

    Args:
        spelled: a name from ``RELEVANCE``, optionally with a colon and parameters that differ from
            the defaults: ``contextual:dates=0,beside=0.5``.

    Returns:
        The model.

    Raises:
        ValueError: the name or a parameter is unknown, or a value is out of range.
    """
    if not isinstance(spelled, str):
        raise ValueError(
            f"relevance is {spelled!r:.80}; expected a name. Register a class of your own under a "
            "name in segviz.retrieval.RELEVANCE"
        )
    name, _, rest = spelled.partition(":")
    if name not in RELEVANCE:
        raise ValueError(f"unknown relevance {name!r}; choose one of {', '.join(RELEVANCE)}")
    settings = {}
    for pair in rest.split(",") if rest else ():
        key, _, value = pair.partition("=")
        try:
            settings[key.strip()] = float(value)
        except ValueError:
            raise ValueError(
                f"relevance {spelled!r}: {pair!r} is no parameter with a number, as in "
                "'contextual:dates=0'"
            ) from None
    with calling(RELEVANCE[name]):
        return make(RELEVANCE[name], settings)


def spelled(model: Any) -> str:
    """Returns the text from which :func:`relevance_model` makes an equal model."""
    changed = [
        f"{each.name}={getattr(model, each.name):g}"
        for each in parameters(type(model))
        if getattr(model, each.name) != each.default
    ]
    return str(model.name) + (":" + ",".join(changed) if changed else "")


def over_active(
    model: Any,
    structure: Structure,
    embedder: Embedder,
    units: Sequence[Unit] = (),
    speakers: Sequence[str] = (),
) -> Scorer:
    """Prepares a relevance model on the active nodes only.

    Retired nodes and ghosts (leaves of messages that the memory does not store) score 0. Word
    frequencies and standardisation must not depend on their texts: a RAPTOR rebuild retires more
    summaries than it keeps.

    Args:
        model: an instance from ``RELEVANCE``.
        structure: the memory at one moment, n nodes.
        embedder: embeds the questions.
        units: the units of the leaves, with their times.
        speakers: names of the speakers.

    Returns:
        A function from q questions to raw scores, float64 (q, n). A model from outside segviz runs
        in a thread, so that the caller can stop waiting for it.

    Raises:
        HandoverError: a model from outside segviz failed, or its scores are not finite float64
            (q, n).
    """
    if structure.retrievable.all() and built_in(model):
        whole: Scorer = model.prepare(structure, embedder, units, speakers)
        return whole
    return _OverActive(model, structure, embedder, units, speakers)


class _OverActive:
    """Scorer that is prepared on the active nodes and returns scores for all nodes."""

    def __init__(
        self,
        model: Any,
        structure: Structure,
        embedder: Embedder,
        units: Sequence[Unit],
        speakers: Sequence[str],
    ) -> None:
        """Prepares the model on the retrievable nodes alone, numbered from 0."""
        self._rows = np.flatnonzero(structure.retrievable)
        self._n = len(structure)
        place = np.full(self._n, -1, dtype=np.int32)
        place[self._rows] = np.arange(len(self._rows))
        # An edge at a retired node becomes -1 and is dropped below.
        edges = place[structure.edges]
        living = Structure(
            structure.level[self._rows],
            structure.start[self._rows],
            structure.stop[self._rows],
            tuple(structure.text[row] for row in self._rows.tolist()),
            structure.vector[self._rows],
            structure.active[self._rows],
            edges[(edges >= 0).all(axis=1)],
        )
        self._model = model
        self._inner = self._called(model.prepare, living, embedder, units, speakers)

    def _called(self, work: Callable[..., Any], *given: Any) -> Any:
        with calling(self._model):
            return work(*given) if built_in(self._model) else waited_for(lambda: work(*given))

    def _at_all(self, values: Any, *shape: int) -> Scores:
        """Checks scores of the active nodes, and returns those of all nodes."""
        scores = np.zeros((*shape, self._n))
        scores[..., self._rows] = check_scores(values, (*shape, len(self._rows)), self._model)
        return scores

    def __call__(self, questions: Sequence[str]) -> Scores:
        return self._at_all(self._called(self._inner, questions), len(questions))

    def parts(self, question: str) -> dict[str, Scores]:
        """Returns each ingredient's summand at all nodes, 0 at inactive ones; see :func:`parts`."""
        summands = self._called(parts, self._inner, question)
        return {name: self._at_all(part) for name, part in summands.items()}

    def matches(self, question: str, texts: Sequence[str]) -> list[dict[str, float]]:
        """Returns the words of each text that match the question; see :func:`matches`."""
        return list(self._called(matches, self._inner, question, texts))


def matches(scorer: Scorer, question: str, texts: Sequence[str]) -> list[dict[str, float]]:
    """Returns the words of each text that match the question, in lower case.

    A word maps to 1 if the question has a word of its stem, to a cosine if the question has a
    similar word. A model that does not compare words gives empty dicts.
    """
    if not hasattr(scorer, "matches"):
        return [{} for _ in texts]
    return list(scorer.matches(question, texts))


def parts(scorer: Scorer, question: str) -> dict[str, Scores]:
    """Returns each ingredient's summand in the logarithm of the scores, float64 (n,) each.

    Ingredients are the features of a relevance, such as ``words``. A relevance without features
    gives an empty dict.
    """
    return dict(scorer.parts(question)) if hasattr(scorer, "parts") else {}


_ZERO = np.zeros(())  # saves NumPy the conversion on every call


def initial_scores(relevance: Scores, active: NDArray[np.bool_] | None = None) -> Scores:
    """Normalises raw scores to the initial distribution: s⁽⁰⁾ = r / Σ r over the active nodes.

    Args:
        relevance: raw scores, float64 (n,) or (q, n).
        active: bool (n,); None if all nodes are active.

    Returns:
        s⁽⁰⁾ of the same shape; each row sums to 1.

    Source: SegTreeMem §4.3.1; Algorithm 2, line 6. The paper leaves two cases open: negative
        relevance is clipped to 0, and all-zero relevance becomes uniform.
    """
    if relevance.ndim > 1:
        rows = [initial_scores(row, active) for row in relevance]
        return np.array(rows).reshape(relevance.shape)
    # Algorithm 2, line 6, s⁽⁰⁾ = r / Σ r, which needs r ≥ 0.
    clipped = np.maximum(relevance, _ZERO)
    live = np.ones(len(clipped), dtype=np.bool_) if active is None else active
    count = int(np.count_nonzero(live))
    if count < len(live):
        clipped[~live] = 0.0
    total = float(np.add.reduce(clipped))
    if total > 0:
        clipped /= total
        return clipped
    return np.where(live, 1.0 / count, 0.0) if count else np.zeros(len(live))
