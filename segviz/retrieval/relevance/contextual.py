"""Scores relevance by words, meaning and dates of a node and its neighbours: our own model.

``word_index`` is its lexical part, ``word_meaning`` its vector part, ``context`` adds neighbouring
texts, ``session_dates`` matches dates. This module weights these parts and adds them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from segviz.construct import Declared, param
from segviz.conversation import Unit
from segviz.embedding import Embedder, KnowsWords, word_vectors
from segviz.retrieval.relevance.context import Context, Openings, questions_answered
from segviz.retrieval.relevance.dense import sharpened
from segviz.retrieval.relevance.lexical import shared_words
from segviz.retrieval.relevance.session_dates import SessionDates
from segviz.retrieval.relevance.word_index import WordIndex
from segviz.retrieval.relevance.word_meaning import SIMILAR, WordMeaning
from segviz.text.words import tokens
from segviz.tree import Structure

Floats = NDArray[np.float64]
_FLAT = 1e-3  # a smaller standard deviation over the leaves counts as 0
_ROLES = frozenset(("user", "assistant", "human", "gpt", "system"))  # not names of people


@dataclass(frozen=True)
class Contextual(Declared):
    """Relevance exp((words + meaning + similar + dates + model + opening) / temperature).

    Each ingredient below is multiplied by the parameter of its name; a weight of 0 switches it off.
    All but ``dates`` and ``opening`` are standardised over the leaves. A short text needs its
    context more than a long one does. So ``words`` and ``meaning`` add the two previous and the two
    next nodes of a node's level, weighted ``beside`` · 100 / (100 + distance in words). Between
    people, a leaf that follows a question in its session answers it. ``words``, ``meaning`` and
    ``similar`` then add the line of the question, weighted ``asked`` · 100 / (100 + words of the
    leaf).

    ``words``    BM25 of the question's stems (k1 1.5, b 0.75)
    ``meaning``  cosine between the weighted sums of word vectors of a text and of the question,
                 without speakers' names, which occur in nearly every text. The weight of a word is
                 0.001 / (0.001 + its frequency in the memory and everyday language). The mean of
                 two cosines: of the whole text, and of its best passage of up to 100 words
    ``similar``  for every word of the question, inverse document frequency times the squared
                 cosine of the most similar word of the text, which must be one of the fifty most
                 similar words of the memory, with a cosine of at least 0.2
    ``dates``    inverse document frequency of the months, days and years of the question that
                 match the date of a unit's session, mean over a node's units. A span inside a month
                 ("first weekend of October") includes the week after it. Relative days ("last
                 week") count from the last unit, if the question names no other date
    ``model``    cosine of the embedder's vectors, for embedders that do not sum word vectors
    ``opening``  (1 - 1 / s) · log(1 + exp(mean of all above over the session)) for the unit that
                 opens one of s sessions, mean over a node's units (:class:`Openings`)

    Scores are positive; each question's best node has 1. Word frequencies are those of the leaves,
    so that summaries do not change them. Without times of units, dates in the question or word
    vectors only the ingredients that need them are missing.

    Source: smoothing by context after Kurland and Lee 2004; weighted sums of word vectors Arora et
        al. 2017; similar words after Kusner et al. 2015; the combination and its constants are
        ours, chosen on LoCoMo, with LongMemEval and RealMem in view.
    """

    name: ClassVar[str] = "contextual"
    room: ClassVar[int] = 10_000
    """Peak bytes per node during preparation (150,000 nodes of 100 to 200 characters)."""

    words: float = param(
        1.0, "Weight of the question's words.", (0, 5), source="ours; the unit of the others"
    )
    meaning: float = param(1.3, "Weight of word vectors.", (0, 5), source="ours, set on LoCoMo")
    similar: float = param(0.4, "Weight of similar words.", (0, 5), source="ours, set on LoCoMo")
    dates: float = param(
        2.0, "Weight of dates in the question.", (0, 5), source="ours, set on LoCoMo"
    )
    model: float = param(
        0.6, "Weight of a neural embedder.", (0, 5), source="ours, set on LoCoMo with MiniLM"
    )
    opening: float = param(
        0.5, "Weight of what opens a session.", (0, 5), source="ours, set on LoCoMo and RealMem"
    )
    beside: float = param(
        0.6, "Weight of the previous and next nodes.", (0, 2), source="ours, set on LoCoMo"
    )
    asked: float = param(
        1.0, "Weight of the question a leaf answers.", (0, 2), source="ours, set on LoCoMo"
    )
    temperature: float = param(
        2.0, "How evenly the scores are spread over the nodes.", (0.5, 10), source="ours"
    )

    def prepare(
        self,
        structure: Structure,
        embedder: Embedder,
        units: Sequence[Unit] = (),
        speakers: Sequence[str] = (),
        similar_words: int = SIMILAR,
    ) -> Prepared:
        """Returns the model for ``structure``; to a word at most ``similar_words`` are similar."""
        return Prepared(self, structure, embedder, units, speakers, similar_words)


class Prepared:
    """Scorer of :class:`Contextual` for one structure of n nodes."""

    def __init__(
        self,
        settings: Contextual,
        structure: Structure,
        embedder: Embedder,
        units: Sequence[Unit],
        speakers: Sequence[str],
        similar_words: int,
    ) -> None:
        """Counts the words of the texts; vectors are computed with the first question."""
        self.settings, self._structure, self._embedder = settings, structure, embedder
        # Speakers' names, longest first, with a possessive: they carry no meaning of the question.
        names = {word for name in speakers for word in tokens(name)}
        either = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        self._names = re.compile(rf"\b(?:{either})\b(?:['’]s\b)?", re.I) if names else None
        # Word frequencies and standardisation follow the leaves, or all nodes where none is left.
        leaves = np.asarray(structure.leaves, dtype=np.int64)
        self._leaves = leaves if len(leaves) else np.arange(len(structure))
        # Units after this moment are unknown to it; units without metadata count as session 0.
        known = int(structure.stop.max(initial=0))
        missing = known - len(units)
        session = [unit.session for unit in units[:known]] + [0] * missing
        # An assistant's turn answers every turn of the user, so questions count between people
        # only.
        people = bool(speakers) and _ROLES.isdisjoint(map(str.lower, speakers))
        asking = questions_answered(structure, session) if people and settings.asked else {}
        self._index = WordIndex(structure.text, self._leaves, asking, settings.asked)
        self._context = Context(structure, self._index.lengths, settings.beside)
        self._half = self._index.half(self._context)
        static = word_vectors(embedder)
        self._meaning = static and WordMeaning(self._index, self._context, static, similar_words)
        self._days = SessionDates([unit.time for unit in units[:known]] + [None] * missing)
        self._openings = Openings(structure.start[self._leaves].astype(np.int64), session)

    def __call__(self, questions: Sequence[str]) -> Floats:
        """Returns raw scores in (0, 1], float64 (q, n)."""
        rows = np.zeros((len(questions), len(self._structure)))
        # Small products take many times as long when BLAS threads compete for a core.
        with _algebra().limit(limits=1):
            for row, question in zip(rows, questions, strict=True):
                for part in self.parts(question).values():
                    row += part
        return sharpened(rows, 1.0)

    def parts(self, question: str) -> dict[str, Floats]:
        """Returns each ingredient's summand in the logarithm of the scores, float64 (n,)."""
        # Each ingredient is computed on use, so that one of weight 0 costs nothing.
        nameless, meaning = self._without_names(question), self._meaning
        scores: dict[str, Any] = {
            "words": lambda: self._standardised(
                self._index.bm25(question, self._context, self._half)
            ),
            "meaning": meaning and (lambda: self._standardised(meaning.cosines(nameless))),
            "similar": meaning and (lambda: self._standardised(meaning.similar(nameless))),
            "dates": lambda: self._over_units(self._days.weights(question)),
        }
        # A static embedder sums word vectors, which ``meaning`` already does with better weights.
        if not isinstance(getattr(self._embedder, "inner", self._embedder), KnowsWords):
            scores["model"] = lambda: self._standardised(self._cosines(nameless))
        heat = self.settings.temperature
        summands: dict[str, Floats] = {
            name: getattr(self.settings, name) / heat * score()
            for name, score in scores.items()
            if score and getattr(self.settings, name)
        }
        if weight := self.settings.opening:
            # The opening depends on all other ingredients: it rewards sessions that already score
            # well.
            so_far = heat * sum(summands.values(), np.zeros(len(self._structure)))
            opens = self._openings.weights(so_far[self._leaves]) if so_far.any() else np.zeros(1)
            summands["opening"] = weight / heat * self._over_units(opens)
        return summands

    def _without_names(self, question: str) -> str:
        """Returns the question without names of speakers; unchanged if no other word is left."""
        nameless = self._names.sub(" ", question) if self._names else question
        return nameless if tokens(nameless) else question

    def matches(self, question: str, texts: Sequence[str]) -> list[dict[str, float]]:
        """Returns the words of each text that match the question (``relevance.matches``).

        Of similar words, the most similar one matches, from a cosine of 0.4.
        """
        shared = shared_words(question, texts) if self.settings.words else [{} for _ in texts]
        if not (self._meaning and self.settings.similar):
            return shared
        similar = self._meaning.most_similar(self._without_names(question), texts)
        # A shared word counts as such, even if it is similar to another, too.
        return [{**alike, **equal} for equal, alike in zip(shared, similar, strict=True)]

    def _standardised(self, scores: Floats) -> Floats:
        """Subtracts the leaves' mean and divides by their deviation; 0 if leaves score alike."""
        at_leaves = scores[self._leaves]
        deviation = at_leaves.std() if len(at_leaves) else 0.0
        if deviation <= _FLAT:
            return np.zeros_like(scores)
        return np.asarray((scores - at_leaves.mean()) / deviation)

    def _cosines(self, question: str) -> Floats:
        """Returns the cosine of the question with each node by the embedder's vectors."""
        if not len(self._structure):
            return np.zeros(0)
        query = self._embedder.embed([question])[0]
        return np.asarray(self._structure.vector @ query, dtype=np.float64)

    def _over_units(self, values: Floats) -> Floats:
        """Averages ``values``, one per unit, over the units of each node; float64 (n,)."""
        if not values.any():
            return np.zeros(len(self._structure))
        # Prefix sums give the sum over any span in O(1).
        summed = np.concatenate([[0.0], np.cumsum(values)])
        start, stop = self._structure.start, self._structure.stop
        return np.asarray((summed[stop] - summed[start]) / np.maximum(stop - start, 1))


@cache
def _algebra() -> Any:
    """Returns the controller of BLAS threads; cached, because making it takes a millisecond."""
    return ThreadpoolController().select(user_api="blas")
