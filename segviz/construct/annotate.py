"""Annotation: a node's text from its children's texts (the S of Algorithm 1).

``Extractive`` selects the most informative sentences, offline, a pure function of the child texts;
a chat model writes a ``Summary``, as in the paper.
"""

from __future__ import annotations

import re
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from itertools import chain, islice
from threading import Lock
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segviz.construct.parameter import Declared, param
from segviz.construct.protocols import Services, require_chat
from segviz.construct.tasks.words import BREAK, SPEAKER, WORD
from segviz.llm import Chat
from segviz.llm.prompts import annotation_prompt

__all__ = ["ANNOTATORS", "Extractive", "Summary"]

_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[\w,;] )[A-Z]\w+")
_DATES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday yesterday tomorrow tonight january "
    "february march april june july august september october november december".split()
)
_NEAR = frozenset(("last", "next", "this"))
_DATED = re.compile(
    rf"\b(?:{'|'.join(sorted(_DATES))}|(?:{'|'.join(sorted(_NEAR))}) "
    r"(?:week|weekend|month|year|summer|winter|spring|autumn|fall))\b",
    re.IGNORECASE,
)
# Stop words: too common to distinguish one sentence from another.
_COMMON = frozenset(
    "a about after all also am an and any are as at be been but by can could did do does for "
    "from get go going good got had has have he her him his how i if in is it just know like "
    "me more my no not now of oh on one or our out really see she so some such than that the "
    "their them then there they think this time to too up us very was way we were what when "
    "which who will with would yeah yes you your m s t re ve ll d don im thanks great nice wow "
    "image photo".split()
)


class _Sentence(NamedTuple):
    """A sentence: its content words, the number of names, dates and numbers in it (``facts``),
    its length in words without (``length``) and with the speaker's name (``said``), and
    ``room``, by which its weight is divided."""

    text: str
    words: frozenset[str]
    facts: int
    length: int
    said: int
    room: float


# As a tree grows, the texts of its open nodes come again and again; older ones never do.
@lru_cache(maxsize=2_048)
def _sentences(annotation: str) -> tuple[_Sentence, ...]:
    """Sentences of one annotation, each with its speaker's name kept in front."""
    return tuple(chain.from_iterable(map(_of_line, annotation.split("\n"))))


@lru_cache(maxsize=2_048)
def _of_line(line: str) -> tuple[_Sentence, ...]:
    spoken = SPEAKER.match(line)
    prefix, body = (spoken.group(0), line[spoken.end() :]) if spoken else ("", line)
    found = [_sentence(prefix, piece.strip()) for piece in BREAK.split(body)]
    return tuple([sentence for sentence in found if sentence])


# A sentence comes in the line that was spoken, and by itself in the annotations that quote it.
@lru_cache(maxsize=2_048)
def _sentence(prefix: str, piece: str) -> _Sentence | None:
    """One sentence; None where it has no words."""
    tokens = WORD.findall(piece)
    if not tokens:
        return None
    said = frozenset(map(str.lower, tokens))
    words = said - _COMMON
    # Most sentences have no date, as their words tell. Regular expressions take some letters that
    # are not ASCII for some that are.
    dated = not (piece.isascii() and said.isdisjoint(_DATES) and said.isdisjoint(_NEAR))
    cues = (_NUMBER, _NAME, _DATED) if dated else (_NUMBER, _NAME)
    facts = sum([len(cue.findall(piece)[:2]) for cue in cues])
    # Dividing by a power below one of the size lets a rich sentence beat a short
    # fragment that happens to hold one frequent word.
    room = (len(words) + 1) ** 0.6
    count = len(tokens)
    return _Sentence(prefix + piece, words, facts, count, len(WORD.findall(prefix)) + count, room)


@dataclass(frozen=True)
class Extractive(Declared):
    """Selects the most informative sentences of a span, in their order.

    A sentence scores by the weight of its words among all sentences (its closeness to the
    centroid of word counts), plus a bonus for names, dates and numbers, because a lost
    date is the failure the paper itself reports (App. C.4, Q3). Sentences are chosen
    greedily by maximal marginal relevance until ``max_words`` are used. A single child's
    text passes through unchanged.

    Source: MMR, Carbonell and Goldstein 1998; centroid scoring, Radev et al. 2004.
    Departs from SegTreeMem: sentences are quoted, not written by a language model.
    """

    name: ClassVar[str] = "extractive"

    max_words: int = param(80, "Longest annotation, in words.", (10, 400), source="ours")
    diversity: float = param(
        0.3,
        "0 ranks by importance alone, 1 by difference alone.",
        (0, 1),
        source="Carbonell and Goldstein 1998, 1 - λ; .3 is ours",
    )
    fact_bonus: float = param(
        0.15, "Weight of each name, date or number in a sentence.", (0, 1), source="ours"
    )

    # Only this many best sentences enter the quadratic diversity search.
    _shortlist: ClassVar[int] = 32

    def __call__(self, texts: Sequence[str]) -> str:
        """Summary of ``texts`` (chronological), at most ``max_words`` words.

        One sentence per line. Always returns at least one sentence when there is one,
        cut to ``max_words`` words if it alone is longer.
        """
        if len(texts) == 1:
            return texts[0]
        # A pool in use is nobody else's, and one whose use was interrupted does not come back.
        with _POOLING:
            pool = _POOLS.pop(texts[0], None) or _Pool()
        if pool.turn_to(texts) or pool.told is None or pool.told[0] != self:
            pool.told = self, self._quoted(pool)
        with _POOLING:
            _POOLS[texts[0]] = pool
            while len(_POOLS) > _POOLS_KEPT:
                _POOLS.popitem(last=False)
        return pool.told[1]

    def _quoted(self, pool: _Pool) -> str:
        """The selected sentences, one a line, in their order; "" where there are none."""
        chosen = [pool.sentences[i] for i in sorted(self._choose(pool))]
        return "\n".join(
            _clip(s.text, self.max_words) if s.said > self.max_words else s.text for s in chosen
        )

    def _choose(self, pool: _Pool) -> Iterable[int]:
        """Positions chosen by maximal marginal relevance over the shortlist, greedily."""
        sentences = pool.sentences
        few = len(sentences) <= self._shortlist
        if few and sum([s.length for s in sentences]) <= self.max_words:
            return range(len(sentences))  # in whatever order they are chosen, all are
        raw = pool.weights() / np.array(pool.room)
        score = raw / (np.maximum.reduce(raw) or 1.0) + self.fact_bonus * np.array(pool.facts)
        places: Iterable[int] = range(len(sentences))
        if not few:
            best = (-score).argsort(kind="stable")[: self._shortlist]
            places, score = best.tolist(), score[best]
        worths = ((1 - self.diversity) * score).tolist()
        # A heap of (-worth, position, importance, overlap, how many choices that overlap knows),
        # where overlap is the largest Jaccard index with a chosen sentence. It only grows, so no
        # worth is above what it says here: one that comes first and knows all choices is the best.
        waiting = [(-w, i, w, 0.0, 0) for i, w in zip(places, worths, strict=True)]
        heapify(waiting)
        chosen: list[int] = []
        taken: list[frozenset[str]] = []
        room = self.max_words
        while waiting and room > 0:
            _, i, importance, overlap, known = waiting[0]
            sentence = sentences[i]
            if chosen and sentence.length > room:
                heappop(waiting)  # what does not fit now never will: the room only shrinks
                continue
            words = sentence.words
            if known == len(chosen):
                heappop(waiting)
                chosen.append(i)
                taken.append(words)
                room -= sentence.length
                continue
            size = len(words)
            for theirs in taken[known:]:
                if shared := len(words & theirs):
                    alike = shared / (size + len(theirs) - shared)
                    if alike > overlap:
                        overlap = alike
            worth = importance - self.diversity * overlap
            heapreplace(waiting, (-worth, i, importance, overlap, len(chosen)))
        return chosen


class _Pool:
    """Different sentences to choose from: a stack of the texts they come from, as a growing tree
    writes its open nodes again at every step, from texts of which only the last changed or is new.

    Beside the ``sentences``, in their order, what their scores need as columns: the ``words`` of
    all in a row by ``number``, the sentence each is ``of``, the ``room`` and ``facts`` of each.
    ``told`` is what was last made of them, and by whom.
    """

    def __init__(self) -> None:
        self.told: tuple[Extractive, str] | None = None
        self.sentences: list[_Sentence] = []
        self.number: dict[str, int] = {}
        self.words, self.of = array("q"), array("q")
        self.room, self.facts = array("d"), array("d")
        self._held: set[_Sentence] = set()
        self._texts: list[str] = []
        self._below: list[tuple[int, int, int]] = []  # sentences, words, numbers under each text

    def turn_to(self, texts: Sequence[str]) -> bool:
        """Takes off what is not of ``texts`` and puts on what is missing; whether it changed."""
        same = 0
        for old, new in zip(self._texts, texts, strict=False):
            if old != new:
                break
            same += 1
        if same == len(texts) == len(self._texts):
            return False
        if same < len(self._texts):
            self._take_off(same)
        for text in texts[same:]:
            self._put_on(text)
        return True

    def _take_off(self, kept: int) -> None:
        sentences, words, numbers = self._below[kept]
        self._held.difference_update(self.sentences[sentences:])
        del self._texts[kept:], self._below[kept:]
        del self.sentences[sentences:], self.room[sentences:], self.facts[sentences:]
        del self.words[words:], self.of[words:]
        while len(self.number) > numbers:
            self.number.popitem()

    def _put_on(self, text: str) -> None:
        number, words, of = self.number, self.words, self.of
        self._texts.append(text)
        self._below.append((len(self.sentences), len(words), len(number)))
        for sentence in _sentences(text):
            if sentence in self._held:
                continue
            place = len(self.sentences)
            for word in sentence.words:
                words.append(number.setdefault(word, len(number)))
                of.append(place)
            self.room.append(sentence.room)
            self.facts.append(sentence.facts)
            self._held.add(sentence)
            self.sentences.append(sentence)

    def weights(self) -> NDArray[Any]:
        """How often the words of each sentence occur in the pool, added up."""
        # Copies: a view that a profiler still holds would keep the columns from growing.
        words, of = np.array(self.words), np.array(self.of)
        counts = np.bincount(words).astype(np.float64)
        return np.bincount(of, counts.take(words), len(self.sentences))


# By their first text, the ones used last at the end.
_POOLS: OrderedDict[str, _Pool] = OrderedDict()
_POOLS_KEPT = 64
_POOLING = Lock()


def _clip(text: str, max_words: int) -> str:
    last = next(islice(WORD.finditer(text), max_words - 1, None))
    return text[: last.end()] + " …"


# --- by a chat model -------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary(Declared):
    """A chat model writes the summary of the child annotations, in order.

    Source: SegTreeMem Algorithm 1, line 21, and App. G (the wording is ours). Departs
    from the source: a single child's text passes through without a call; an answer far
    beyond the asked length is cut, so that a model cannot flood the tree; a text that was
    waived is written offline (``extractive``) at the same length.
    """

    name: ClassVar[str] = "llm"
    needs_chat: ClassVar[bool] = True

    max_words: int = param(
        80,
        "Length asked for, in words.",
        (10, 400),
        source="SegTreeMem App. G without a length; 80 is ours",
    )
    chat: Chat | None = field(default=None, compare=False, repr=False)

    # Characters kept per word asked for: three times what English needs.
    _characters_per_word: ClassVar[int] = 20

    def prepare(self, services: Services) -> Summary:
        """Returns the same annotator bound to the build's chat model."""
        return replace(self, chat=require_chat(services, "llm annotation"))

    def __call__(self, texts: Sequence[str]) -> str:
        """Summary of ``texts`` (chronological); a single text passes through."""
        return self.many([texts])[0]

    def many(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """One summary per group; independent groups are asked for at the same time."""
        if self.chat is None:
            raise ValueError("llm annotation has no chat model; build with chat=…")
        asked = [i for i, texts in enumerate(groups) if len(texts) > 1]
        prompts = [annotation_prompt(groups[i], self.max_words) for i in asked]
        offline = Extractive(max_words=self.max_words)
        written = {
            i: offline(groups[i])
            if reply.waived
            else reply.text.strip()[: self.max_words * self._characters_per_word]
            for i, reply in zip(asked, self.chat.replies(prompts), strict=True)
        }
        return [written.get(i, texts[0]) for i, texts in enumerate(groups)]


ANNOTATORS: dict[str, Callable[..., Any]] = {"extractive": Extractive, "llm": Summary}
"""Name to frozen dataclass; adding a row is all it takes."""
