"""Lexical part of the ``contextual`` relevance: an inverted index of words, and BM25 over it."""

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
from segviz.text.dates import undated
from segviz.text.words import tokens

Floats = NDArray[np.float64]
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*(?=\S)|\n+")
_PASSAGE = 100  # words
_K1, _B = 1.5, 0.75  # of BM25


@lru_cache(maxsize=20_000)
def _passages(text: str) -> tuple[tuple[str, ...], ...]:
    """Splits a text into passages of whole sentences: of up to 100 words, or one sentence."""
    passages: list[tuple[str, ...]] = []
    for sentence in _SENTENCE.split(text):
        words = tuple(tokens(sentence))
        if passages and len(passages[-1]) + len(words) <= _PASSAGE:
            passages[-1] += words
        elif words:
            passages.append(words)
    return tuple(passages)


class WordIndex:
    """Inverted index of n texts, with v distinct words and e pairs of a text and a word in it.

    Attributes:
        vocabulary: the id of every word, 0 … v - 1.
        text: ids of the words of all texts, one text after the other.
        worth: weight of each word in ``text``, float32; 1 except in the line of an answered
            question.
        ends: positions in ``text`` at which passages end, with a leading 0.
        owner: the text of each passage.
        word, node, count: word, text and weighted count of each of the e pairs, sorted by word.
        lengths: the weighted number of words of every text, float64 (n,).
        in_leaf: True for the texts of leaves, bool (n,).
    """

    def __init__(
        self,
        texts: Sequence[str],
        leaves: NDArray[np.int64],
        asking: Mapping[int, str],
        asked: float,
    ) -> None:
        """Counts the words in O(e).

        ``asking`` maps a text to the line of the question it answers, which is read before it. A
        word of that line counts ``asked`` · 100 / (100 + words of the text).
        """
        self.in_leaf = np.zeros(len(texts), dtype=np.bool_)
        self.in_leaf[leaves] = True
        # Dates that an extract adds in brackets are for its reader, and count no words.
        texts = [
            text if leaf else undated(text)
            for text, leaf in zip(texts, self.in_leaf.tolist(), strict=True)
        ]
        # One pass over the texts: the id, text and weight of each word, and the passages' sizes.
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
            asks = len(tokens(line))
            own = len(word) - before - asks
            # The longer the answer, the less it needs the question.
            worth += [asked * REACH / (REACH + own)] * asks + [1.0] * own
            place += [node] * (asks + own)
        n = len(texts)
        self.vocabulary, self.leaves = ids, leaves
        self.text, self.ends = np.array(word, dtype=np.int64), np.cumsum([0, *sizes])
        self.owner = np.array(owner, dtype=np.int64)
        self.worth = np.array(worth, dtype=np.float32)
        # The sparse matrix adds up repeated words; its rows are the posting lists.
        counts = sparse((self.worth, (self.text, np.array(place, np.int64))), (len(ids), n))
        self.starts, self.node, self.count = counts.indptr, counts.indices, counts.data
        self.word = np.repeat(np.arange(len(ids)), np.diff(self.starts))
        self.lengths = np.bincount(self.node, self.count, minlength=n).astype(np.float64)

    def rows(self, word: int) -> slice:
        """Returns the slice of the pairs that have this word id; empty for -1."""
        return slice(0) if word < 0 else slice(self.starts[word], self.starts[word + 1])

    def rarity(self, holders: Any) -> Any:
        """Returns the inverse document frequency of words that occur in ``holders`` leaves."""
        return np.log1p((len(self.leaves) - holders + 0.5) / (holders + 0.5))

    @cached_property
    def _stems(self) -> dict[str, list[int]]:
        """Maps each stem to the ids of its words, without stop words."""
        ids: dict[str, list[int]] = {}
        for word, i in self.vocabulary.items():
            if word not in STOP:
                ids.setdefault(stem(word), []).append(i)
        return ids

    @cached_property
    def stop_words(self) -> list[int]:
        """Ids of the stop words."""
        return [i for word, i in self.vocabulary.items() if word in STOP]

    def half(self, context: Context) -> NDArray[np.float32]:
        """Returns, per text, the count of a word that gives half its maximal BM25 score.

        The counts, float32 (n,), are k1 · (1 - b + b · length / mean length): longer texts need
        more occurrences. Length counts the words of a text and its context, without stop words.
        """
        telling = ~np.isin(self.word, self.stop_words)
        own = np.bincount(self.node[telling], self.count[telling], minlength=len(self.lengths))
        length = context.with_neighbours(own.astype(np.float32))
        at_leaves = length[self.leaves].astype(np.float64)
        mean = max(float(at_leaves.sum()) / max(len(at_leaves), 1), 1e-12)
        return np.asarray(_K1 * (1 - _B + _B * (length / mean)))

    def bm25(self, question: str, context: Context, half: NDArray[np.float32]) -> Floats:
        """Returns the BM25 score of each text with its context, by stems; float64 (n,)."""
        scores = np.zeros(len(self.lengths))
        for word in tokens(question):
            same = self._stems.get(stem(word)) if word not in STOP else None
            if same is None:
                continue
            count = np.zeros(len(scores), dtype=np.float32)
            for each in same:
                rows = self.rows(each)
                count[self.node[rows]] += self.count[rows]
            # Document frequency counts leaves, before neighbours are added: a word is as rare as
            # its texts.
            rarity = self.rarity(np.count_nonzero(count.astype(np.bool_) & self.in_leaf))
            count = context.with_neighbours(count)
            scores += rarity * (_K1 + 1) * (count / (count + half))
        return scores
