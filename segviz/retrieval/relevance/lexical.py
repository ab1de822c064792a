"""Scores relevance by BM25 over the annotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Declared, param
from segviz.construct.tasks.words import stem
from segviz.embedding import Embedder
from segviz.retrieval.protocols import Scorer
from segviz.text import words
from segviz.text.dates import undated
from segviz.tree import Structure

STOP = frozenset(
    "a an and are as at be but by did do does for from has have how i if in into is it no not of "
    "on or s such t that the their then there these they this to was we were what when where "
    "which who why will with you".split()
)
# Replaces a text without words, which the index cannot store.
_NOTHING = "\0"


def tokens(text: str) -> list[str]:
    """Returns the stems of a text's words, in lower case, without stop words (Snowball English)."""
    return [stem(word) for word in words.tokens(text) if word not in STOP]


def shared_words(question: str, texts: Sequence[str]) -> list[dict[str, float]]:
    """Maps the words of each text that share a stem with the question, in lower case, to 1.0."""
    asked = set(tokens(question))
    return [
        {word: 1.0 for word in words.tokens(text) if word not in STOP and stem(word) in asked}
        for text in texts
    ]


@dataclass(frozen=True)
class Lexical(Declared):
    """BM25 of the question's words in each annotation.

    Scores are 0 or more; 0 if a node shares no word with the question. The library ``bm25s``
    computes them, with Lucene's variant of the idf, which is never negative.

    Source: Robertson and Zaragoza 2009; k1 1.5 and b 0.75 as in SegTreeMem App. E.
    """

    name: ClassVar[str] = "lexical"
    room: ClassVar[int] = 2_500
    """Peak bytes per node during preparation (150,000 nodes of 100 to 200 characters)."""

    k1: float = param(
        1.5, "How fast repeated words stop counting.", (0, 5), source="SegTreeMem, App. E, 1.5"
    )
    b: float = param(
        0.75, "How much length lowers the score.", (0, 1), source="SegTreeMem, App. E, 0.75"
    )

    def prepare(self, structure: Structure, embedder: Embedder, *_: object) -> Scorer:
        """Returns a function from q questions to raw scores, float64 (q, n)."""
        return _Lexical(self, structure)


class _Lexical:
    """Scorer of :class:`Lexical` for one structure."""

    matches = staticmethod(shared_words)

    def __init__(self, settings: Lexical, structure: Structure) -> None:
        import bm25s  # takes a fifth of a second, so only on use

        self._n = len(structure)
        self._index = bm25s.BM25(k1=settings.k1, b=settings.b, method="lucene")
        # Dates that an extract adds in brackets are for its reader, and count no words.
        texts = (
            undated(text) if level else text
            for text, level in zip(structure.text, structure.level.tolist(), strict=True)
        )
        corpus = [tokens(text) or [_NOTHING] for text in texts]
        self._known = {word for text in corpus for word in text}
        if self._n:
            self._index.index(corpus, show_progress=False)

    def __call__(self, questions: Sequence[str]) -> NDArray[np.float64]:
        """Returns the BM25 score of each node for each question, float64 (q, n)."""
        rows = np.zeros((len(questions), self._n))
        for row, question in zip(rows, questions, strict=True):
            asked = [word for word in tokens(question) if word in self._known]
            if asked:
                row[:] = self._index.get_scores(asked)
        return rows
