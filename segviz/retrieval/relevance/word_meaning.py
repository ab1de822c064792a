"""The vector part of ``contextual``: cosines of sums of word vectors, and similar words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segviz.construct.tasks.words import everyday_words
from segviz.embedding import KnowsWords, unit_rows
from segviz.retrieval.relevance.context import Context, sparse
from segviz.retrieval.relevance.lexical import STOP
from segviz.retrieval.relevance.word_index import WordIndex, split

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
_RARE = 1e-3  # a word of this share of all counts half
_ALIKE = 0.2  # words of a lower cosine are not similar
SIMILAR = 50  # words that count as similar to one, at most; in conversations of a year seldom 30 do
_TELLING = 0.4  # a similar word of a lower cosine adds too little to be told


class WordMeaning:
    """The texts of an index as sums of word vectors.

    Words weigh 0.001 / (0.001 + their share of the leaves and of everyday talk). Sources: Arora
    et al. 2017; similar words after Kusner et al. 2015.
    """

    def __init__(
        self, index: WordIndex, context: Context, words: KnowsWords, similar: int = SIMILAR
    ) -> None:
        """``similar`` is how many words count as similar to one, at most."""
        self._index, self._context, self._known, self._most = index, context, words, similar

    @cached_property
    def _vectors(self) -> Vectors:
        """The vector of every word, float32 (v, d)."""
        return self._known.words(list(self._index.vocabulary))

    @cached_property
    def _counts(self) -> Floats:
        """How often every word stands in the leaves, float64 (v,)."""
        index = self._index
        kept = index.in_leaf[index.node]
        known = np.bincount(index.word[kept], index.count[kept], minlength=len(index.vocabulary))
        return known.astype(np.float64)

    def _weight(self, words: Sequence[str]) -> Vectors:
        """The weight of words, by how often they stand in the leaves and in everyday talk."""
        usual, total = everyday_words(), everyday_words().total() + self._counts.sum()
        places = [self._index.vocabulary.get(word) for word in words]
        here = [0.0 if place is None else self._counts[place] for place in places]
        count = np.array(here) + [usual[word] for word in words]
        return np.asarray(_RARE / (_RARE + count / total), dtype=np.float32)

    @cached_property
    def _meanings(self) -> tuple[Vectors, Vectors, NDArray[np.int64]]:
        """Unit vectors of every text with its context, float32 (n, d), those of the passages of
        texts with several, float32 (p, d), and whose these are, int64 (p,)."""
        index, n, owners = self._index, len(self._index.lengths), len(self._index.owner)
        vectors = self._vectors * self._weight(list(index.vocabulary))[:, None]
        words = index.worth, index.text, index.ends
        pieces = sparse(words, (owners, len(vectors))) @ vectors
        own = np.ones(owners, dtype=np.float32), (index.owner, np.arange(owners))
        single = unit_rows(sparse(own, (n, owners)) @ pieces)
        heard = self._context.heard(single)
        several = np.bincount(index.owner, minlength=n)[index.owner] > 1
        owner = index.owner[several]
        passages = unit_rows(unit_rows(pieces[several]) + heard[owner])
        return unit_rows(single + heard), passages, owner

    def cosines(self, question: str) -> Floats:
        """Returns the cosine of the question with every text in its context, of texts with several
        passages the mean of that and of the best passage's; float64 (n,)."""
        words = split(question)
        query = unit_rows(self._weight(words)[None] @ self._known.words(words))[0]
        whole, passages, owner = self._meanings
        scores = np.asarray(whole @ query, dtype=np.float64)
        if len(owner):
            nodes, first = np.unique(owner, return_index=True)
            scores[nodes] += np.maximum.reduceat((passages @ query).astype(np.float64), first)
            scores[nodes] /= 2
        return scores

    @cached_property
    def _centre(self) -> Vectors:
        """The mean of the vectors of all telling words."""
        telling = [i for word, i in self._index.vocabulary.items() if word not in STOP]
        return np.asarray(self._vectors[telling].mean(axis=0) if telling else self._vectors[:1])

    @cached_property
    def _centred(self) -> Vectors:
        """Unit vectors of the words around their mean, zero for stop words; float32 (v, d)."""
        centred = unit_rows(self._vectors - self._centre)
        centred[self._index.stop_words] = 0.0
        return centred

    def _alike(self, question: str) -> tuple[list[str], Vectors]:
        """The telling words of a question, and the cosine of every word of the memory with them,
        both around the mean; float32 (v, w)."""
        asked = [word for word in dict.fromkeys(split(question)) if word not in STOP]
        if not asked or not self._index.vocabulary:
            return [], np.zeros((0, 0), dtype=np.float32)
        return asked, self._centred @ unit_rows(self._known.words(asked) - self._centre).T

    def similar(self, question: str) -> Floats:
        """Returns, summed over the words of the question, inverse document frequency times the
        squared cosine of the most similar word of each text; float64 (n,)."""
        index = self._index
        scores = np.zeros(len(index.lengths))
        asked, cosines = self._alike(question)
        for word, alike in zip(asked, cosines.T, strict=True):
            best = np.zeros(len(scores), dtype=np.float32)
            close = np.flatnonzero(alike >= _ALIKE)
            # The most similar word comes last, so that its value stays where several stand.
            close = close[np.argsort(alike[close], kind="stable")][-self._most :]
            for each in close.tolist():
                best[index.node[index.rows(each)]] = alike[each] ** 2
            holders = index.node[index.rows(index.vocabulary.get(word, -1))]
            scores += best * index.rarity(np.count_nonzero(index.in_leaf[holders]))
        return scores

    def most_similar(self, question: str, texts: Sequence[str]) -> list[dict[str, float]]:
        """Returns for each text its most similar word to each word of the question, with the
        cosine, from .4 on."""
        asked, alike = self._alike(question)
        found: list[dict[str, float]] = [{} for _ in texts]
        for heard, text in zip(found, texts, strict=True):
            known = self._index.vocabulary
            words = [word for word in dict.fromkeys(split(text)) if word in known]
            if not asked or not words:
                continue
            cosines = alike[[known[word] for word in words]]
            for best, cosine in zip(cosines.argmax(axis=0), cosines.max(axis=0), strict=True):
                if cosine >= _TELLING:
                    heard.setdefault(words[best], float(cosine))
        return found
