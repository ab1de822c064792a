"""Annotation: a node's text from its children's texts (the S of Algorithm 1).

``Extractive`` selects the most informative sentences, offline, a pure function of the child texts;
a chat model writes a ``Summary``, as in the paper.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from heapq import heapify, heappop, heappush
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
_DATED = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|tomorrow|tonight|"
    r"(?:last|next|this) (?:week|weekend|month|year|summer|winter|spring|autumn|fall)|"
    r"january|february|march|april|june|july|august|september|october|november|december)\b",
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
    result = []
    spoken = SPEAKER.match(line)
    prefix, body = (spoken.group(0), line[spoken.end() :]) if spoken else ("", line)
    before = len(WORD.findall(prefix))
    for piece in BREAK.split(body):
        piece = piece.strip()
        tokens = WORD.findall(piece)
        if not tokens:
            continue
        words = frozenset(token.lower() for token in tokens) - _COMMON
        facts = sum(len(cue.findall(piece)[:2]) for cue in (_NUMBER, _DATED, _NAME))
        # Dividing by a power below one of the size lets a rich sentence beat a short
        # fragment that happens to hold one frequent word.
        room = (len(words) + 1) ** 0.6
        count = len(tokens)
        result.append(_Sentence(prefix + piece, words, facts, count, before + count, room))
    return tuple(result)


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
        return texts[0] if len(texts) == 1 else _quoted(self, tuple(texts))

    def quote(self, pool: _Pool) -> str:
        """The selected sentences, one a line, in their order; "" where there are none."""
        sentences = tuple(pool.sentences)
        chosen = [sentences[i] for i in sorted(self._choose(pool, sentences))]
        return "\n".join(
            _clip(s.text, self.max_words) if s.said > self.max_words else s.text for s in chosen
        )

    def _choose(self, pool: _Pool, sentences: Sequence[_Sentence]) -> list[int]:
        """Positions chosen by maximal marginal relevance over the shortlist, greedily."""
        if not sentences:
            return []
        raw = pool.weights() / pool.room
        score = raw / (raw.max() or 1.0) + self.fact_bonus * pool.facts
        best = np.argsort(-score, kind="stable")[: self._shortlist]
        worth = ((1 - self.diversity) * score[best]).tolist()
        importance = dict(zip(best.tolist(), worth, strict=True))
        # A heap of (-worth, position, overlap, how many choices that overlap knows), where
        # overlap is the largest Jaccard index with a chosen sentence. It only grows, so no worth
        # is above what it says here: one that comes first and knows all choices is the best.
        waiting = [(-worth, i, 0.0, 0) for i, worth in importance.items()]
        heapify(waiting)
        chosen: list[int] = []
        room = self.max_words
        while waiting and room > 0:
            _, i, overlap, known = heappop(waiting)
            words = sentences[i].words
            if chosen and sentences[i].length > room:
                continue  # what does not fit now never will: the room only shrinks
            if known == len(chosen):
                chosen.append(i)
                room -= sentences[i].length
                continue
            for other in chosen[known:]:
                theirs = sentences[other].words
                if shared := len(words & theirs):
                    overlap = max(overlap, shared / (len(words) + len(theirs) - shared))
            worth = importance[i] - self.diversity * overlap
            heappush(waiting, (-worth, i, overlap, len(chosen)))
        return chosen


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """Different sentences to choose from, and what their weights need as columns: ``number`` of
    every word, ``words`` of all sentences in a row as numbers, the sentence each is ``of``, the
    ``room`` and ``facts`` of each."""

    sentences: dict[_Sentence, None]
    number: dict[str, int]
    words: NDArray[np.intp]
    of: NDArray[np.intp]
    room: NDArray[np.float64]
    facts: NDArray[np.intp]

    def also(self, sentences: Iterable[_Sentence]) -> _Pool:
        """This pool and, after it, those of ``sentences`` that it does not hold."""
        fresh = dict.fromkeys(s for s in sentences if s not in self.sentences)
        number = self.number.copy()
        words = [number.setdefault(word, len(number)) for s in fresh for word in s.words]
        of = [i for i, s in enumerate(fresh, len(self.sentences)) for _ in s.words]
        return _Pool(
            self.sentences | fresh,
            number,
            _extended(self.words, words),
            _extended(self.of, of),
            _extended(self.room, [s.room for s in fresh]),
            _extended(self.facts, [s.facts for s in fresh]),
        )

    def weights(self) -> NDArray[Any]:
        """How often the words of each sentence occur in the pool, added up."""
        return np.bincount(self.of, np.bincount(self.words)[self.words], len(self.sentences))


def _extended(column: NDArray[Any], values: list[Any]) -> NDArray[Any]:
    return np.concatenate((column, np.array(values, dtype=column.dtype)))


_NUMBERS = np.zeros(0, dtype=np.intp)
_NOTHING = _Pool({}, {}, _NUMBERS, _NUMBERS, np.zeros(0), _NUMBERS)


# A growing tree writes its upper nodes again at every step, from texts of which only the last
# changed or is new. The pools of its open nodes are kept, the ones used last at the end.
_POOLS: OrderedDict[tuple[str, ...], _Pool] = OrderedDict()
_POOLS_KEPT = 64
_POOLING = Lock()


def _pool(texts: tuple[str, ...]) -> _Pool:
    before = texts[:-1]
    with _POOLING:
        first = _POOLS.pop(before, None)
    if first is None:
        first = _NOTHING.also(chain.from_iterable(map(_sentences, before)))
    pool = first.also(_sentences(texts[-1]))
    with _POOLING:
        _POOLS[texts], _POOLS[before] = pool, first
        while len(_POOLS) > _POOLS_KEPT:
            _POOLS.popitem(last=False)
    return pool


@lru_cache(maxsize=512)
def _quoted(style: Extractive, texts: tuple[str, ...]) -> str:
    return style.quote(_pool(texts))


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
