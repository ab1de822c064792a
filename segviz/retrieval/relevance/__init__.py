"""Scores the relevance of each node to a question, before any propagation.

``contextual``  words, meaning, similar words and dates, in the context of the nodes around; ours,
                the default
``hybrid``      dense and lexical together
``dense``       cosine of question and annotation embeddings (the paper's)
``lexical``     BM25 over the annotations
``softmax``     the cosines of ``dense``, sharpened: the best nodes hold more of the whole

A model is prepared once per structure and then scores any number of questions. Scores are
raw (higher is better, any range); :func:`initial_scores` turns them into the distribution
s⁽⁰⁾ of SegTreeMem §4.3.1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Scorer, make, parameters
from segviz.conversation import Unit
from segviz.embedding import Embedder
from segviz.handover import calling, check_scores, own
from segviz.llm.timeouts import waited_for
from segviz.retrieval.relevance.contextual import Contextual
from segviz.retrieval.relevance.dense import Dense, Hybrid, Softmax
from segviz.retrieval.relevance.lexical import Lexical
from segviz.tree import Structure

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
"""Name to relevance model; a new model needs only a row here."""


def relevance_model(spelled: str) -> Any:
    """The model of a name from ``RELEVANCE``, with other parameters than its defaults after a
    colon: ``contextual:dates=0,beside=0.5``.

    A parameter of an earlier version is ignored, with a warning. ValueError lists the names,
    parameters or range for what is unknown or outside."""
    if not isinstance(spelled, str):
        raise ValueError(
            f"relevance is {spelled!r:.80}; expected a name. A class of your own is found by the "
            "name under which it stands in segviz.retrieval.RELEVANCE"
        )
    name, _, rest = spelled.partition(":")
    if name not in RELEVANCE:
        raise ValueError(f"unknown relevance {name!r}; choose one of {', '.join(RELEVANCE)}")
    settings = {}
    gone = getattr(RELEVANCE[name], "gone", ())
    for pair in rest.split(",") if rest else ():
        key, _, value = pair.partition("=")
        if key.strip() in gone:
            warnings.warn(f"{name} has no {key.strip()} any more; ignored", stacklevel=2)
            continue
        try:
            settings[key.strip()] = float(value)
        except ValueError:
            raise ValueError(
                f"relevance {spelled!r}: {pair!r} is no parameter with a number, as in "
                "'contextual:dates=0'"
            ) from None
    return make(RELEVANCE[name], settings)


def spelled(model: Any) -> str:
    """What :func:`relevance_model` makes ``model`` from: its name and, in order, the parameters
    that are not the default."""
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
    """Prepare ``model`` on the active nodes alone; retired ones score 0.

    Word frequencies and standardisation must not depend on texts that are no longer in
    the memory: a RAPTOR rebuild retires more summaries than it keeps. ``units`` and ``speakers``
    tell a model when a leaf was said and whose names to expect.

    A model from outside segviz is waited for in a thread, and raises HandoverError where it fails
    or its scores are not finite numbers float64 (q, n).
    """
    if structure.active.all() and own(model):
        whole: Scorer = model.prepare(structure, embedder, units, speakers)
        return whole
    return _OverActive(model, structure, embedder, units, speakers)


class _OverActive:
    """A model on the active rows of a structure, which gives all rows their scores and parts."""

    def __init__(
        self,
        model: Any,
        structure: Structure,
        embedder: Embedder,
        units: Sequence[Unit],
        speakers: Sequence[str],
    ) -> None:
        self._rows = np.flatnonzero(structure.active)
        self._n = len(structure)
        place = np.full(self._n, -1, dtype=np.int32)
        place[self._rows] = np.arange(len(self._rows))
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
            return work(*given) if own(self._model) else waited_for(lambda: work(*given))

    def __call__(self, questions: Sequence[str]) -> Scores:
        scores = np.zeros((len(questions), self._n))
        found = self._called(self._inner, questions)
        shape = (len(questions), len(self._rows))
        scores[:, self._rows] = check_scores(found, shape, self._model)
        return scores

    def parts(self, question: str) -> dict[str, Scores]:
        """Those of the active rows; see :func:`parts`."""
        found = {}
        for name, part in self._called(parts, self._inner, question).items():
            found[name] = np.zeros(self._n)
            found[name][self._rows] = check_scores(part, self._rows.shape, self._model)
        return found

    def matches(self, question: str, texts: Sequence[str]) -> list[dict[str, float]]:
        """See :func:`matches`."""
        found: list[dict[str, float]] = self._called(matches, self._inner, question, texts)
        return found


def matches(scorer: Scorer, question: str, texts: Sequence[str]) -> list[dict[str, float]]:
    """The words of each text, in lower case, that a relevance hears in the question: 1 for those
    of its stems, the cosine for similar ones; none where a model does not go by words."""
    if not hasattr(scorer, "matches"):
        return [{} for _ in texts]
    found: list[dict[str, float]] = scorer.matches(question, texts)
    return found


def parts(scorer: Scorer, question: str) -> dict[str, Scores]:
    """What every ingredient of a relevance adds to the logarithm of the nodes' scores, float64
    (n,) each; none where a model has no ingredients."""
    found: dict[str, Scores] = scorer.parts(question) if hasattr(scorer, "parts") else {}
    return found


_ZERO = np.zeros(())  # as an array it need not be made one


def initial_scores(relevance: Scores, active: NDArray[np.bool_] | None = None) -> Scores:
    """s⁽⁰⁾ = r / Σ r over the active nodes; float64 (n,) or (q, n), rows sum to 1.

    Source: SegTreeMem §4.3.1. The paper does not say what happens to negative relevance
    or to an all-zero vector: negatives are clipped to 0, all zero becomes uniform.
    """
    if relevance.ndim > 1:
        rows = [initial_scores(row, active) for row in relevance]
        return np.array(rows).reshape(relevance.shape)
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
