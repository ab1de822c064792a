"""The lexical part of ``contextual``: an inverted index of words, and BM25 over it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.construct.tasks.words import stem
from segviz.retrieval.relevance.context import REACH, Context, sparse
from segviz.retrieval.relevance.lexical import STOP
from segviz.text.words import tokens

Floats = NDArray[np.float64]
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*(?=\S)|\n+")
_PASSAGE = 100  # words
_K1, _B = 1.5, 0.75  # of BM25


def split(text: str) -> tuple[str, ...]:
    """Returns the words of a text, in lower case."""
    return tuple(tokens(text))


@lru_cache(maxsize=20_000)
def _passages(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of a text, cut at the ends of sentences and lines into passages of up to 100; a
    longer sentence is one of its own."""
    found: list[tuple[str, ...]] = []
    for sentence in _SENTENCE.split(text):
        words = split(sentence)
        if found and len(found[-1]) + len(words) <= _PASSAGE:
            found[-1] += words
        elif words:
            found.append(words)
    return tuple(found)


class WordIndex:
    """The words of n texts: v distinct ones, e pairs of a text and a word in it.

    Attributes:
        vocabulary: the id of every word, 0 … v - 1.
        text: ids of all words, text after text.
        worth: how much each of them counts, float32; 1 but for words of a line that asks.
        ends: where the passages end in ``text``, a 0 first; ``owner`` has the text of each.
        word, node, count: the e pairs, word by word.
        lengths: the words of every text, each with its worth, float64 (n,).
        in_leaf: which texts are those of leaves, bool (n,).
    """

    def __init__(
        self,
        texts: Sequence[str],
        leaves: NDArray[np.int64],
        asking: Mapping[int, str],
        asked: float,
    ) -> None:
        """Counts the words, O(e); ``asking`` are the lines that some texts are read with, whose
        words count ``asked`` · 100 / (100 + words of the text) each."""
        ids: dict[str, int] = {}
        word: list[int] = []
        worth: list[float] = []
        place: list[int] = []
        sizes, owner = [], []
        for node, text in enumerate(texts):
            line, before = asking.get(node, ""), len(word)
            for passage in _passages(line + text):
                word += [ids.setdefault(each, len(ids)) for each in passage]
                sizes.append(len(passage))
                owner.append(node)
            asks = len(split(line))
            own = len(word) - before - asks
            worth += [asked * REACH / (REACH + own)] * asks + [1.0] * own
            place += [node] * (asks + own)
        n = len(texts)
        self.vocabulary, self.leaves = ids, leaves
        self.text, self.ends = np.array(word, dtype=np.int64), np.cumsum([0, *sizes])
        self.owner = np.array(owner, dtype=np.int64)
        self.worth = np.array(worth, dtype=np.float32)
        counts = sparse((self.worth, (self.text, np.array(place, np.int64))), (len(ids), n))
        self.starts, self.node, self.count = counts.indptr, counts.indices, counts.data
        self.word = np.repeat(np.arange(len(ids)), np.diff(self.starts))
        self.lengths = np.bincount(self.node, self.count, minlength=n).astype(np.float64)
        self.in_leaf = np.zeros(n, dtype=np.bool_)
        self.in_leaf[leaves] = True

    def rows(self, word: int) -> slice:
        """Returns the slice of the pairs of a word; empty for -1."""
        return slice(0) if word < 0 else slice(self.starts[word], self.starts[word + 1])

    def rarity(self, holders: Any) -> Any:
        """Returns the inverse document frequency of what so many leaves hold."""
        return np.log1p((len(self.leaves) - holders + 0.5) / (holders + 0.5))

    @cached_property
    def _stems(self) -> dict[str, list[int]]:
        """The words of every stem, stop words left out."""
        found: dict[str, list[int]] = {}
        for word, i in self.vocabulary.items():
            if word not in STOP:
                found.setdefault(stem(word), []).append(i)
        return found

    @cached_property
    def stop_words(self) -> list[int]:
        """The ids of stop words."""
        return [i for word, i in self.vocabulary.items() if word in STOP]

    def half(self, context: Context) -> NDArray[np.float32]:
        """Returns the count of a word that is worth half of all, by how long a text and its context
        are, in words that are no stop words, against the leaves' mean; float32 (n,)."""
        telling = ~np.isin(self.word, self.stop_words)
        own = np.bincount(self.node[telling], self.count[telling], minlength=len(self.lengths))
        length = context.with_neighbours(own.astype(np.float32))
        at_leaves = length[self.leaves].astype(np.float64)
        mean = max(float(at_leaves.sum()) / max(len(at_leaves), 1), 1e-12)
        return np.asarray(_K1 * (1 - _B + _B * (length / mean)))

    def bm25(self, question: str, context: Context, half: NDArray[np.float32]) -> Floats:
        """Returns BM25 of the question's stems, counted in a text and its context; float64 (n,).
        ``half`` is that of :meth:`half`."""
        scores = np.zeros(len(self.lengths))
        for word in split(question):
            same = self._stems.get(stem(word)) if word not in STOP else None
            if same is None:
                continue
            count = np.zeros(len(scores), dtype=np.float32)
            for each in same:
                rows = self.rows(each)
                count[self.node[rows]] += self.count[rows]
            rarity = self.rarity(np.count_nonzero(count.astype(np.bool_) & self.in_leaf))
            count = context.with_neighbours(count)
            scores += rarity * (_K1 + 1) * (count / (count + half))
        return scores
