"""Vector part of the ``contextual`` relevance: sums of word vectors, and similar words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segviz.construct.tasks.words import everyday_words
from segviz.embedding import KnowsWords, unit_rows
from segviz.retrieval.relevance.context import Context, sparse
from segviz.retrieval.relevance.lexical import STOP
from segviz.retrieval.relevance.word_index import WordIndex
from segviz.text.words import tokens

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
_RARE = 1e-3  # a word with this relative frequency counts half
_ALIKE = 0.2  # words of a lower cosine are not similar
SIMILAR = 50  # most words similar to one word; a year of conversation rarely has 30
_SHOWN = 0.4  # a similar word of a lower cosine adds too little to be shown


class WordMeaning:
    """Texts of a word index as weighted sums of word vectors.

    The weight of a word is 0.001 / (0.001 + its frequency in the leaves and everyday language).

    Source: Arora et al. 2017; similar words after Kusner et al. 2015.
    """

    def __init__(
        self, index: WordIndex, context: Context, words: KnowsWords, similar: int = SIMILAR
    ) -> None:
        """Stores the arguments; at most ``similar`` words count as similar to one word."""
        self._index, self._context, self._known, self._most = index, context, words, similar

    @cached_property
    def _vectors(self) -> Vectors:
        """Vectors of the index's words, float32 (v, d)."""
        return self._known.words(list(self._index.vocabulary))

    @cached_property
    def _counts(self) -> Floats:
        """Weighted number of occurrences of each word in the leaves, float64 (v,)."""
        index = self._index
        in_leaves = index.in_leaf[index.node]
        known = np.bincount(
            index.word[in_leaves], index.count[in_leaves], minlength=len(index.vocabulary)
        )
        return known.astype(np.float64)

    def _weight(self, words: Sequence[str]) -> Vectors:
        """Returns the weight of each word, by its frequency in leaves and everyday language."""
        usual, total = everyday_words(), everyday_words().total() + self._counts.sum()
        places = [self._index.vocabulary.get(word) for word in words]
        here = [0.0 if place is None else self._counts[place] for place in places]
        count = np.array(here) + [usual[word] for word in words]
        return np.asarray(_RARE / (_RARE + count / total), dtype=np.float32)

    @cached_property
    def _meanings(self) -> tuple[Vectors, Vectors, NDArray[np.int64]]:
        """Unit vectors of texts (n, d), of passages of long ones (p, d), and the latter's texts."""
        index, n, owners = self._index, len(self._index.lengths), len(self._index.owner)
        # A passage is the weighted sum of its word vectors.
        vectors = self._vectors * self._weight(list(index.vocabulary))[:, None]
        words = index.worth, index.text, index.ends
        pieces = sparse(words, (owners, len(vectors))) @ vectors
        own = np.ones(owners, dtype=np.float32), (index.owner, np.arange(owners))
        # A text is the sum of its passages; its neighbours are added as unit vectors, so that a
        # long neighbour does not outweigh a short text.
        single = unit_rows(sparse(own, (n, owners)) @ pieces)
        around = self._context.of_neighbours(single)
        # Only texts of several passages need vectors of their passages, too.
        several = np.bincount(index.owner, minlength=n)[index.owner] > 1
        owner = index.owner[several]
        passages = unit_rows(unit_rows(pieces[several]) + around[owner])
        return unit_rows(single + around), passages, owner

    def cosines(self, question: str) -> Floats:
        """Returns the cosine of the question with every text and its context; float64 (n,).

        For a text of several passages it is the mean of the text's and the best passage's cosine.
        """
        words = tokens(question)
        query = unit_rows(self._weight(words)[None] @ self._known.words(words))[0]
        whole, passages, owner = self._meanings
        scores = np.asarray(whole @ query, dtype=np.float64)
        if len(owner):
            # Passages are sorted by text, so each text's maximum is one segment.
            nodes, first = np.unique(owner, return_index=True)
            scores[nodes] += np.maximum.reduceat((passages @ query).astype(np.float64), first)
            scores[nodes] /= 2
        return scores

    @cached_property
    def _centre(self) -> Vectors:
        """Mean vector of the index's words without stop words."""
        telling = [i for word, i in self._index.vocabulary.items() if word not in STOP]
        return np.asarray(self._vectors[telling].mean(axis=0) if telling else self._vectors[:1])

    @cached_property
    def _centred(self) -> Vectors:
        """Word vectors minus their mean, of length 1, zero for stop words; float32 (v, d)."""
        centred = unit_rows(self._vectors - self._centre)
        centred[self._index.stop_words] = 0.0
        return centred

    def _alike(self, question: str) -> tuple[list[str], Vectors]:
        """Returns the question's w words, and cosines with every word of the index (v, w)."""
        asked = [word for word in dict.fromkeys(tokens(question)) if word not in STOP]
        if not asked or not self._index.vocabulary:
            return [], np.zeros((0, 0), dtype=np.float32)
        return asked, self._centred @ unit_rows(self._known.words(asked) - self._centre).T

    def similar(self, question: str) -> Floats:
        """Sums, over the question's words, idf · squared cosine of each text's most similar word.

        It counts from a cosine of 0.2 among the most similar of the index. Returns float64 (n,).
        """
        index = self._index
        scores = np.zeros(len(index.lengths))
        asked, cosines = self._alike(question)
        for word, alike in zip(asked, cosines.T, strict=True):
            best = np.zeros(len(scores), dtype=np.float32)
            close = np.flatnonzero(alike >= _ALIKE)
            # The most similar word is written last, so that its value remains where a text has
            # several.
            close = close[np.argsort(alike[close], kind="stable")][-self._most :]
            for each in close.tolist():
                best[index.node[index.rows(each)]] = alike[each] ** 2
            holders = index.node[index.rows(index.vocabulary.get(word, -1))]
            scores += best * index.rarity(np.count_nonzero(index.in_leaf[holders]))
        return scores

    def most_similar(self, question: str, texts: Sequence[str]) -> list[dict[str, float]]:
        """Maps words of each text to their cosine with a word of the question.

        Of each word of the question it is the most similar one, from a cosine of 0.4.
        """
        asked, alike = self._alike(question)
        by_text: list[dict[str, float]] = [{} for _ in texts]
        for similar, text in zip(by_text, texts, strict=True):
            known = self._index.vocabulary
            words = [word for word in dict.fromkeys(tokens(text)) if word in known]
            if not asked or not words:
                continue
            cosines = alike[[known[word] for word in words]]
            for best, cosine in zip(cosines.argmax(axis=0), cosines.max(axis=0), strict=True):
                if cosine >= _SHOWN:
                    similar.setdefault(words[best], float(cosine))
        return by_text
