"""Scores relevance by words and meaning in their context: our own model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from segviz.construct import Declared, param
from segviz.construct.tasks.words import everyday_words, stem
from segviz.conversation import Unit
from segviz.embedding import Embedder, KnowsWords, unit_rows, word_vectors
from segviz.retrieval.relevance.dense import sharpened
from segviz.retrieval.relevance.lexical import STOP, shared_words
from segviz.retrieval.selection import highest
from segviz.text import dates
from segviz.tree import Structure

Floats = NDArray[np.float64]
F = TypeVar("F", bound=np.floating[Any])
_WORD = re.compile(r"\w+", re.UNICODE)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*(?=\S)|\n+")
_ASKS = re.compile(r"[?？؟]\s*(?:\[image: [^]]*\])?$")  # a line, perhaps with an image's caption
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b", re.I)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_K1, _B = 1.5, 0.75  # of BM25
_AROUND = 2  # a node hears so many nodes before and after it
_REACH = 100.0  # words; half of what is said so far away is heard
_RARE = 1e-3  # a word of this share of all counts half
_PASSAGE = 100  # words
_MANY = 20_000  # nodes whose products are worth several threads
_SAME = 1e-3  # leaves whose scores differ by less do not differ
_ALIKE = 0.2  # words of a lower cosine are not similar
_SIMILAR = 50  # words that count as similar to one, at most; in talks of a year seldom 30 do
_TELLING = 0.4  # a similar word of a lower cosine adds too little to be told
_BEST = 10  # leaves whose rare words are looked for in others
_FEW = 0.02  # of the leaves, and at least three, hold a rare word at most
_ROLES = frozenset(("user", "assistant", "human", "gpt", "system"))  # no names of speakers
_FAR = 4.0  # standard deviations that a hop adds at most: of many leaves few share a rare word


@dataclass(frozen=True)
class Contextual(Declared):
    """exp((words + meaning + similar + speaker + dates + model + hop + opening) / temperature).

    A short text says little without what stands around it, a long one speaks for itself: in
    ``words`` and ``meaning`` a node also counts what the two nodes before and after it on its
    level say, ``beside`` · 100 / (100 + distance in words) times, and the mean of its siblings,
    ``siblings`` · 100 / (100 + its own words) times. Where people talk, a leaf that follows a
    question in its session is its answer: ``words``, ``meaning`` and ``similar`` read the line that
    asks with it, ``asked`` · 100 / (100 + its own words) times. Every ingredient but the dates and
    openings is standardised over the leaves; 0 switches one off.

    ``words``    BM25 of the question's stems (k1 1.5, b 0.75)
    ``meaning``  cosine of sums of word vectors, weighted by 0.001 / (0.001 + share of the word in
                 memory and everyday talk), of a text and the question without names of speakers,
                 which stand in nearly every text; mean of the whole text's and that of its best
                 passage of up to 100 words
    ``similar``  for every word of the question, inverse document frequency times the squared
                 cosine of the most similar word of the text, one of the memory's fifty most
                 similar
    ``speaker``  cosine of such sums of the question and of what a speaker who is named in it says,
                 in lines that begin with the name, and, unless ``asked`` is 0, of the lines this
                 answers; of several speakers the best, 0 where none is, or a role alone, as "user"
    ``dates``    inverse document frequency of the months, days and years named in the question
                 that are those of the sessions, mean over a node's units; where it names none, of
                 the days it means ("last week"), counted from the last unit
    ``model``    cosine of the embedder's vectors, where these are more than sums of word vectors
    ``hop``      what the ten leaves that are best by the sum S of all above hand on to other nodes:
                 each exp(S), in proportion to the cosines of their rare words (in two leaves at
                 least and 2 % of them, or three, at most; inverse document frequency times
                 count / (count + 1.5)), nothing to itself and what covers it; at most 4
    ``opening``  (1 - 1 / s) · log(1 + exp(mean S of its session)) for the unit that opens one of s
                 sessions, mean over a node's units: it says what the session is about

    Always positive; each question's best node has 1. Word frequencies are those of the leaves, so
    that summaries do not change them. A structure without times, a question without dates or an
    installation without word vectors lacks these ingredients only.

    Sources: smoothing by context after Kurland and Lee 2004; weighted sums of word vectors Arora et
    al. 2017; similar words after Kusner et al. 2015; a hop after Kurland and Lee 2005 (PageRank
    without hyperlinks); the combination and its constants are ours, chosen on LoCoMo, with
    LongMemEval and RealMem in view.
    """

    name: ClassVar[str] = "contextual"
    room: ClassVar[int] = 10_000
    """Bytes for a node, at most while it is prepared: 150,000 nodes of 100 to 200 characters."""

    words: float = param(
        1.0, "Weight of the question's words.", (0, 5), source="ours; the unit of the others"
    )
    meaning: float = param(1.3, "Weight of word vectors.", (0, 5), source="ours, set on LoCoMo")
    similar: float = param(0.4, "Weight of similar words.", (0, 5), source="ours, set on LoCoMo")
    speaker: float = param(
        0.4, "Weight of what the speaker asked about says.", (0, 5), source="ours, set on LoCoMo"
    )
    dates: float = param(
        2.0, "Weight of dates in the question.", (0, 5), source="ours, set on LoCoMo"
    )
    model: float = param(
        0.6, "Weight of a neural embedder.", (0, 5), source="ours, set on LoCoMo with MiniLM"
    )
    hop: float = param(
        0.3,
        "Weight of rare words shared with the best leaves.",
        (0, 5),
        source="ours, set on LoCoMo",
    )
    opening: float = param(
        0.5, "Weight of what opens a session.", (0, 5), source="ours, set on LoCoMo and RealMem"
    )
    beside: float = param(
        0.6, "Share heard of the nodes beside.", (0, 2), source="ours, set on LoCoMo"
    )
    siblings: float = param(
        0.4, "Share heard of the siblings.", (0, 2), source="ours, set on LoCoMo"
    )
    asked: float = param(
        1.0, "Share heard of the question answered.", (0, 2), source="ours, set on LoCoMo"
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
    ) -> Prepared:
        """The model, ready for questions of the active nodes of ``structure``."""
        return Prepared(self, structure, embedder, units, speakers)


class Prepared:
    """A structure that :class:`Contextual` is ready to score.

    n nodes, all active; v distinct words; e pairs of a node and a word in it.
    """

    def __init__(
        self,
        settings: Contextual,
        structure: Structure,
        embedder: Embedder,
        units: Sequence[Unit],
        speakers: Sequence[str],
    ) -> None:
        """Counts the words; vectors are made when the first question asks for them. O(e)."""
        self.settings, self._structure, self._embedder = settings, structure, embedder
        self._speakers = tuple(dict.fromkeys(speakers))
        people = bool(speakers) and _ROLES.isdisjoint(map(str.lower, speakers))
        self._joins = people and bool(settings.asked)  # answers are read with what asks
        names = {word for name in speakers for word in _split(name)}
        either = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        self._names = re.compile(rf"\b(?:{either})\b(?:['’]s\b)?", re.I) if names else None
        leaves = np.asarray(structure.leaves, dtype=np.int64)
        self._leaves = leaves if len(leaves) else np.arange(len(structure))
        known = int(structure.stop.max(initial=0))
        missing = known - len(units)
        self._session = [unit.session for unit in units[:known]] + [0] * missing
        self._count_words()
        self._context = _Context(structure, self._lengths, settings.beside, settings.siblings)
        times = [unit.time and unit.time.replace(tzinfo=None) for unit in units[:known]]
        times += [None] * missing
        self._days = np.array(
            [(t.year, t.month, t.day, t.toordinal()) if t else (0, 0, 0, 0) for t in times]
        ).reshape(-1, 4)
        self._now = max(filter(None, times), default=None)

    @cached_property
    def _asking(self) -> dict[int, str]:
        """Of the leaves that follow a question in their session the line that asks: the last of the
        leaf before."""
        if not self._joins:
            return {}
        text, start, session = self._structure.text, self._structure.start, self._session
        leaves = self._leaves[np.argsort(start[self._leaves], kind="stable")].tolist()
        return {
            leaf: f"{line}\n"
            for before, leaf in pairwise(leaves)
            if session[start[before]] == session[start[leaf]]
            and _ASKS.search(line := text[before].rsplit("\n", 1)[-1])
        }

    def _count_words(self) -> None:
        """The words of every node with their counts, and the nodes of every word."""
        ids: dict[str, int] = {}
        word: list[int] = []
        sizes, owner, said = [], [], []
        n = len(self._structure)
        for node, text in enumerate(self._structure.text):
            line, before = self._asking.get(node, ""), len(word)
            for piece in _pieces(line + text):
                word += [ids.setdefault(each, len(ids)) for each in piece]
                sizes.append(len(piece))
                owner.append(node)
            asks = len(_split(line))
            said.append((asks, len(word) - before - asks))
        self._vocabulary = ids
        self._text, self._ends = np.array(word, dtype=np.int64), np.cumsum([0, *sizes])
        self._owner = np.array(owner, dtype=np.int64)
        # Of every node the words of the line that asks, which come first, and its own.
        self._said = np.array(said, dtype=np.int64).reshape(n, 2)
        share = self.settings.asked * _REACH / (_REACH + self._said[:, 1])
        self._worth = self._each(np.column_stack([share, np.ones(n)]).astype(np.float32))
        counts = _sparse((self._worth, (self._text, self._places)), (len(ids), n))
        self._starts, self._node, self._count = counts.indptr, counts.indices, counts.data
        self._word = np.repeat(np.arange(len(ids)), np.diff(self._starts))
        self._lengths = np.bincount(self._node, self._count, minlength=n).astype(np.float64)
        self._in_leaf = np.zeros(n, dtype=np.bool_)
        self._in_leaf[self._leaves] = True

    def _each(self, values: Any) -> Any:
        """The first of two values of its node for each word of a line that asks, else the second;
        ``values`` (n, 2)."""
        return np.repeat(np.ravel(values), np.ravel(self._said))

    @property
    def _places(self) -> NDArray[np.int64]:
        """The node of every word."""
        return np.repeat(np.arange(len(self._said)), self._said.sum(axis=1))

    def __call__(self, questions: Sequence[str]) -> Floats:
        """Raw scores in (0, 1], float64 (q, n)."""
        rows = np.zeros((len(questions), len(self._structure)))
        # Small products take many times as long in threads that wait for a core.
        small = len(self._structure) < _MANY
        with _algebra().limit(limits=1) if small else nullcontext():
            for row, question in zip(rows, questions, strict=True):
                for part in self.parts(question).values():
                    row += part
        return sharpened(rows, 1.0)

    def parts(self, question: str) -> dict[str, Floats]:
        """What every ingredient in force adds to the logarithm of each node's score, float64 (n,)
        each; 0 for an average leaf."""
        telling = self._telling(question)
        scores = {
            "words": lambda: self._standardised(self._bm25(question)),
            "meaning": lambda: self._standardised(self._meaning(telling)),
            "similar": lambda: self._standardised(self._similar(telling)),
            "speaker": lambda: self._standardised(self._speaker(question)),
            "dates": lambda: self._dates(question),
            "model": lambda: self._standardised(self._cosines(telling)),
        }
        if self._static is None:
            del scores["meaning"], scores["similar"], scores["speaker"]
        elif isinstance(getattr(self._embedder, "inner", self._embedder), KnowsWords):
            del scores["model"]
        weights = {name: getattr(self.settings, name) for name in scores}
        heat = self.settings.temperature
        found = {
            name: weights[name] / heat * score()  # type: ignore[no-untyped-call]
            for name, score in scores.items()
            if weights[name]
        }
        first = heat * sum(found.values(), np.zeros(len(self._structure)))
        for name, then in (("hop", self._hop), ("opening", self._opening)):
            if weight := getattr(self.settings, name):
                found[name] = weight / heat * (then(first) if first.any() else first)
        return found

    def _telling(self, question: str) -> str:
        """The question without names of speakers, where that leaves any word."""
        plain = self._names.sub(" ", question) if self._names else question
        return plain if _split(plain) else question

    def matches(self, question: str, texts: Sequence[str]) -> list[dict[str, float]]:
        """See :func:`segviz.retrieval.relevance.matches`; of the words similar to one of the
        question the most similar, from a cosine of 0.4."""
        found = shared_words(question, texts) if self.settings.words else [{} for _ in texts]
        if self._static is None or not self.settings.similar:
            return found
        asked, vectors = self._asked(self._telling(question))
        if not asked:
            return found
        alike = self._centred @ vectors.T
        for heard, text in zip(found, texts, strict=True):
            words = [word for word in dict.fromkeys(_split(text)) if word in self._vocabulary]
            cosines = alike[[self._vocabulary[word] for word in words]]
            for best, cosine in (
                zip(cosines.argmax(axis=0), cosines.max(axis=0), strict=True) if words else ()
            ):
                if cosine >= _TELLING:
                    heard.setdefault(words[best], float(cosine))
        return found

    def _standardised(self, scores: Floats) -> Floats:
        """Minus the mean of the leaves, divided by their standard deviation; 0 for no spread."""
        at_leaves = scores[self._leaves]
        mean = at_leaves.mean() if len(at_leaves) else 0.0
        at_leaves -= mean
        deviation = np.sqrt(at_leaves @ at_leaves / max(len(at_leaves), 1))
        if deviation <= _SAME:
            return np.zeros_like(scores)
        centred = scores - mean
        centred /= deviation
        return centred

    def _rows(self, word: int) -> slice:
        """Where a word stands in the pairs of word and node; nowhere for -1."""
        return slice(0) if word < 0 else slice(self._starts[word], self._starts[word + 1])

    def _rarity(self, holders: Any) -> Any:
        """Inverse document frequency of what so many leaves hold."""
        return np.log1p((len(self._leaves) - holders + 0.5) / (holders + 0.5))

    @cached_property
    def _stems(self) -> dict[str, list[int]]:
        """The words of every stem, stop words left out."""
        found: dict[str, list[int]] = {}
        for word, i in self._vocabulary.items():
            if word not in STOP:
                found.setdefault(stem(word), []).append(i)
        return found

    @cached_property
    def _full(self) -> NDArray[np.float32]:
        """The count of a word that is worth half of all, by how long a node and its context are, in
        words that count, against the leaves' mean; float32 (n,)."""
        stop = [self._vocabulary[word] for word in STOP if word in self._vocabulary]
        telling = ~np.isin(self._word, stop)
        length = np.bincount(
            self._node[telling], self._count[telling], minlength=len(self._structure)
        ).astype(np.float32)
        length += self._context.heard(length)
        mean = max(float(length[self._leaves].mean(dtype=np.float64)), 1e-12)
        return np.asarray(_K1 * (1 - _B + _B * (length / mean)))

    def _bm25(self, question: str) -> Floats:
        scores = np.zeros(len(self._structure))
        for word in _split(question):
            same = self._stems.get(stem(word)) if word not in STOP else None
            if same is None:
                continue
            count = np.zeros(len(scores), dtype=np.float32)
            for each in same:
                rows = self._rows(each)
                count[self._node[rows]] += self._count[rows]
            rarity = self._rarity(np.count_nonzero(np.logical_and(count, self._in_leaf)))
            count += self._context.heard(count)
            count /= count + self._full
            count *= rarity * (_K1 + 1)
            scores += count
        return scores

    @cached_property
    def _static(self) -> KnowsWords | None:
        return word_vectors(self._embedder)

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        """The vector of every word, float32 (v, d)."""
        assert self._static is not None
        return self._static.words(list(self._vocabulary))

    @cached_property
    def _weight(self) -> Callable[[Sequence[str]], NDArray[np.float32]]:
        """The weight of words by how often they stand in the leaves and in everyday talk."""
        kept = self._in_leaf[self._node]
        known = np.bincount(self._word[kept], self._count[kept], minlength=len(self._vocabulary))
        usual, total = everyday_words(), everyday_words().total() + known.sum()

        def weight(words: Sequence[str]) -> NDArray[np.float32]:
            places = [self._vocabulary.get(word) for word in words]
            here = [0.0 if place is None else known[place] for place in places]
            count = np.array(here) + [usual[word] for word in words]
            return np.asarray(_RARE / (_RARE + count / total), dtype=np.float32)

        return weight

    @property
    def _weighted(self) -> NDArray[np.float32]:
        """The vector of every word times its weight, float32 (v, d)."""
        return self._vectors * self._weight(list(self._vocabulary))[:, None]

    @cached_property
    def _meanings(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """Unit vectors of every node with its context, float32 (n, d), those of the passages of
        texts with several, float32 (p, d), and whose these are, int64 (p,)."""
        vectors, owners = self._weighted, len(self._owner)
        words = self._worth, self._text, self._ends
        pieces = _sparse(words, (owners, len(vectors))) @ vectors
        own = np.ones(owners, dtype=np.float32), (self._owner, np.arange(owners))
        single = unit_rows(_sparse(own, (len(self._structure), owners)) @ pieces)
        heard = self._context.heard(single)
        several = np.bincount(self._owner, minlength=len(single))[self._owner] > 1
        owner = self._owner[several]
        return (
            unit_rows(single + heard),
            unit_rows(unit_rows(pieces[several]) + heard[owner]),
            owner,
        )

    def _query(self, question: str) -> NDArray[np.float32]:
        assert self._static is not None
        words = _split(question)
        return np.asarray(unit_rows(self._weight(words)[None] @ self._static.words(words))[0])

    def _meaning(self, question: str) -> Floats:
        query = self._query(question)
        whole, pieces, owner = self._meanings
        scores = np.asarray(whole @ query, dtype=np.float64)
        if len(owner):
            nodes, first = np.unique(owner, return_index=True)
            scores[nodes] += np.maximum.reduceat((pieces @ query).astype(np.float64), first)
            scores[nodes] /= 2
        return scores

    @cached_property
    def _sayings(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Of every speaker the nodes that quote one, int64 (m,), and unit vectors of what is said
        there, and of what it answers, float32 (m, d)."""
        line = re.compile(rf"^({'|'.join(map(re.escape, self._speakers))}): ", re.M)
        vectors = self._weighted

        def summed(text: str) -> NDArray[np.float32]:
            known = [self._vocabulary.get(word, -1) for word in _split(text)]
            return np.asarray(vectors[[i for i in known if i >= 0]].sum(axis=0))

        told: dict[str, dict[int, Any]] = {name: {} for name in self._speakers}
        for node, text in enumerate(self._structure.text):
            lines, before = line.split(text), self._asking.get(node, "")
            for name, said in zip(lines[1::2], lines[2::2], strict=True):
                row = summed(before + said)
                told[name][node] = told[name].get(node, 0.0) + row
                before = said if self._joins and _ASKS.search(said) else ""
        found = {}
        for name, rows in told.items():
            said = np.array(list(rows.values()), dtype=np.float32).reshape(-1, vectors.shape[1])
            found[name] = np.array(list(rows), dtype=np.int64), unit_rows(said)
        return found

    def _speaker(self, question: str) -> Floats:
        asked = {*_split(question)}
        named = [name for name in self._speakers if asked.intersection(_split(name)) - _ROLES]
        scores = np.zeros((max(len(named), 1), len(self._structure)))
        if named:
            query = self._query(self._telling(question))
            for row, name in zip(scores, named, strict=True):
                nodes, said = self._sayings[name]
                row[nodes] = said @ query
        return np.asarray(scores.max(axis=0))

    @cached_property
    def _centre(self) -> NDArray[np.float32]:
        """The mean of the vectors of all telling words."""
        telling = [i for word, i in self._vocabulary.items() if word not in STOP]
        return np.asarray(self._vectors[telling].mean(axis=0) if telling else self._vectors[:1])

    @cached_property
    def _centred(self) -> NDArray[np.float32]:
        """Unit vectors of the words around their mean, zero for stop words; float32 (v, d)."""
        centred = unit_rows(self._vectors - self._centre)
        centred[[i for word, i in self._vocabulary.items() if word in STOP]] = 0.0
        return centred

    def _asked(self, question: str) -> tuple[list[str], NDArray[np.float32]]:
        """The telling words of a question and their unit vectors around the mean, float32 (w, d);
        none in a memory without words."""
        assert self._static is not None
        asked = [word for word in dict.fromkeys(_split(question)) if word not in STOP]
        if not asked or not self._vocabulary:
            return [], np.zeros((0, 0), dtype=np.float32)
        return asked, unit_rows(self._static.words(asked) - self._centre)

    def _similar(self, question: str) -> Floats:
        scores = np.zeros(len(self._structure))
        asked, vectors = self._asked(question)
        for word, alike in zip(asked, (self._centred @ vectors.T).T if asked else (), strict=True):
            best = np.zeros(len(scores), dtype=np.float32)
            close = np.flatnonzero(alike >= _ALIKE)
            # The most similar word comes last, and of equal places the last value stays.
            close = close[np.argsort(alike[close], kind="stable")][-_SIMILAR:]
            ends = self._starts[close].tolist(), self._starts[close + 1].tolist()
            for first, last, worth in zip(*ends, np.square(alike[close]), strict=True):
                best[self._node[first:last]] = worth
            holders = self._node[self._rows(self._vocabulary.get(word, -1))]
            best *= self._rarity(np.count_nonzero(self._in_leaf[holders]))
            scores += best
        return scores

    def _dates(self, question: str) -> Floats:
        months = [
            _MONTHS.index(found.lower()) + 1
            for found in dict.fromkeys(_MONTH.findall(question))
            if found != "may"
        ]
        days = [int(found) for found in _DAY.findall(question)] if months else []
        year, month, day, date = self._days.T
        meant = [
            *(year == int(found) for found in dict.fromkeys(_YEAR.findall(question))),
            *(month == each for each in dict.fromkeys(months)),
            *((day == each) & np.isin(month, months) for each in dict.fromkeys(days)),
        ]
        if not meant and (relative := dates.resolve(question, self._now)):
            first, end = (each.toordinal() for each in relative[0])
            meant = [(first <= date) & (date < end)]
        units = np.zeros(len(date))
        for each in meant:
            if held := np.count_nonzero(each):
                units += each * np.log1p((len(units) - held + 0.5) / (held + 0.5))
        return self._over_units(units)

    @cached_property
    def _spans(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Where the units of every node start and stop, int64 (n,), and how many these are."""
        start, stop = (
            np.minimum(ends, len(self._session)).astype(np.int64)
            for ends in (self._structure.start, self._structure.stop)
        )
        return start, stop, np.maximum(stop - start, 1.0)

    def _over_units(self, values: Floats) -> Floats:
        """The mean of a value of the units over each node's own, float64 (n,)."""
        if not values.any():
            return np.zeros(len(self._structure))
        summed = np.concatenate([[0.0], np.cumsum(values)])
        start, stop, held = self._spans
        return np.asarray((summed[stop] - summed[start]) / held)

    def _cosines(self, question: str) -> Floats:
        if not len(self._structure):
            return np.zeros(0)
        query = self._embedder.embed([question])[0]
        return np.asarray(self._structure.vector @ query, dtype=np.float64)

    @cached_property
    def _links(self) -> tuple[Any, Any]:
        """The rare words of every node, as rows of length 1 of a sparse matrix (n, v), and the same
        matrix the other way round, (v, n)."""
        shape = len(self._structure), len(self._vocabulary)
        own = self._each(np.tile(np.array([0.0, 1.0], dtype=np.float32), (shape[0], 1)))
        links = _sparse((own, (self._places, self._text)), shape)
        links.eliminate_zeros()
        node = np.repeat(np.arange(shape[0]), np.diff(links.indptr))
        held = np.bincount(links.indices[self._in_leaf[node]], minlength=shape[1]).astype(
            np.float64
        )
        rarity = self._rarity(held)
        rarity[(held < 2) | (held > max(3, _FEW * len(self._leaves)))] = 0.0
        rarity[[self._vocabulary[word] for word in STOP if word in self._vocabulary]] = 0.0
        weight = rarity[links.indices] * links.data / (links.data + _K1)
        kept = np.flatnonzero(weight)
        weight, word, node = weight[kept], links.indices[kept], node[kept]
        weight /= np.sqrt(np.bincount(node, weight**2, minlength=shape[0]))[node]
        links = _sparse((weight, (node, word)), shape)
        return links, links.T.tocsr()

    def _hop(self, first: Floats) -> Floats:
        """What the best leaves by ``first``, the sum of all else, hand on to others."""
        links, others = self._links
        of_leaves = first[self._leaves]
        best = self._leaves[highest(of_leaves, _BEST)]
        shared = (links[best] @ others).tocoo()
        giver, taker, cosine = best[shared.row], shared.col, shared.data
        start, stop = self._structure.start, self._structure.stop
        apart = (start[taker] >= stop[giver]) | (stop[taker] <= start[giver])
        at_leaf = apart & self._in_leaf[taker]
        whole = np.bincount(shared.row[at_leaf], cosine[at_leaf], len(best))
        share = np.exp(first[best] - first[best[:1]]) * len(of_leaves) / np.maximum(whole, 1e-12)
        handed = np.bincount(taker, cosine * share[shared.row] * apart, len(first))
        return np.minimum(self._standardised(handed.astype(np.float64)), _FAR)

    @cached_property
    def _sessions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of every leaf its session, from 0, and of every session its first unit."""
        begin = self._structure.start[self._leaves].astype(np.int64)
        _, session = np.unique(np.array(self._session)[begin], return_inverse=True)
        opens = np.full(session.max() + 1, len(self._session))
        np.minimum.at(opens, session, begin)
        return session, opens

    def _opening(self, first: Floats) -> Floats:
        """What the openings of sessions take from the mean of ``first`` over the session."""
        session, opens = self._sessions
        mean = np.bincount(session, first[self._leaves]) / np.bincount(session)
        units = np.zeros(len(self._session))
        units[opens] = (1 - 1 / len(opens)) * np.logaddexp(0.0, mean)
        return self._over_units(units)


class _Context:
    """What each node hears of the nodes around it: C, a matrix (n, n), as sums and products of
    sparse ones that stay small where one node has all others below it."""

    def __init__(
        self, structure: Structure, lengths: Floats, beside: float, siblings: float
    ) -> None:
        n = len(structure)
        order = np.lexsort((np.arange(n), structure.start, structure.level)).astype(np.int32)
        places = np.cumsum(lengths[order]) - lengths[order] / 2
        square, each = (n, n), np.arange(n, dtype=np.int32)
        near = _sparse(square, square)
        for step in range(1, min(_AROUND + 1, n)) if beside else ():
            same = np.flatnonzero(structure.level[order[:-step]] == structure.level[order[step:]])
            share = beside * _REACH / (_REACH + places[same + step] - places[same])
            after = _sparse((share, (order[same], order[same + step])), square)
            near += after + after.T
        parent, child = (structure.edges if siblings else structure.edges[:0]).T
        below = _sparse((np.ones(len(parent)), (parent, child)), square)
        own = np.bincount(child, minlength=n)
        others = below.T @ (below @ np.ones(n)) - own
        share = siblings * _REACH / (_REACH + lengths) / np.maximum(others, 1)
        above = _sparse((share, (each, each)), square) @ below.T
        near -= _sparse((share * own, (each, each)), square)
        self._near, self._above, self._below = (m.astype(np.float32) for m in (near, above, below))

    def heard(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """C times ``values``, float32 (n,) or (n, d)."""
        return np.asarray(self._near @ values + self._above @ (self._below @ values))


@cache
def _algebra() -> Any:
    """The libraries whose threads are limited: to find them takes a millisecond."""
    return ThreadpoolController().select(user_api="blas")


def _sparse(entries: Any, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array  # takes a while to import, which the first page need not

    return csr_array(entries, shape=shape)


def _split(text: str) -> tuple[str, ...]:
    """The words of a text, in lower case."""
    return tuple(_WORD.findall(text.lower()))


@lru_cache(maxsize=20_000)
def _pieces(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of a text, cut at the ends of sentences and lines into passages of up to 100; a
    longer sentence is one of its own."""
    found: list[tuple[str, ...]] = []
    for sentence in _SENTENCE.split(text):
        words = _split(sentence)
        if found and len(found[-1]) + len(words) <= _PASSAGE:
            found[-1] += words
        elif words:
            found.append(words)
    return tuple(found)
