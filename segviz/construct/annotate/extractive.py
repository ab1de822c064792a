"""Offline annotation: selects the most informative sentences of the child texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import ClassVar, NamedTuple

from segviz.construct.parameter import Declared, param

_BREAK = re.compile(r"(?<=[.!?…])[\"')\]]*\s+(?=[\"'(\[]?\w)")
_SPEAKER = re.compile(r"^([^\n:]{1,60}): (?=\S)")
_WORD = re.compile(r"\w+", re.UNICODE)
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
@lru_cache(maxsize=8_192)
def _sentences(annotation: str) -> tuple[_Sentence, ...]:
    """Sentences of one annotation, each with its speaker's name kept in front."""
    return tuple(chain.from_iterable(map(_of_line, annotation.split("\n"))))


@lru_cache(maxsize=8_192)
def _of_line(line: str) -> tuple[_Sentence, ...]:
    result = []
    spoken = _SPEAKER.match(line)
    prefix, body = (spoken.group(0), line[spoken.end() :]) if spoken else ("", line)
    before = len(_WORD.findall(prefix))
    for piece in _BREAK.split(body):
        piece = piece.strip()
        tokens = _WORD.findall(piece)
        if not tokens:
            continue
        words = frozenset(token.lower() for token in tokens) - _COMMON
        facts = (
            len(_NUMBER.findall(piece)[:2])
            + len(_DATED.findall(piece)[:2])
            + len(_NAME.findall(piece)[:2])
        )
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

    def quote(self, sentences: Sequence[_Sentence]) -> str:
        """The selected sentences, one a line, in their order; ``sentences`` must not be empty."""
        chosen = [sentences[i] for i in sorted(self._choose(sentences))]
        return "\n".join(
            _clip(s.text, self.max_words) if s.said > self.max_words else s.text for s in chosen
        )

    def _choose(self, sentences: Sequence[_Sentence]) -> list[int]:
        """Positions chosen by maximal marginal relevance over the shortlist, greedily."""
        counts = Counter(chain.from_iterable(s.words for s in sentences))
        weight = counts.__getitem__
        raw = [sum(map(weight, s.words)) / s.room for s in sentences]
        top = max(raw) or 1.0
        score = [
            value / top + self.fact_bonus * sentence.facts
            for value, sentence in zip(raw, sentences, strict=True)
        ]
        order = sorted(range(len(sentences)), key=score.__getitem__, reverse=True)
        importance = {i: (1 - self.diversity) * score[i] for i in order[: self._shortlist]}
        # overlap[i]: the largest word overlap (Jaccard) of candidate i with a chosen sentence.
        # It is updated with the newest choice alone, so that a round costs one pass.
        overlap = dict.fromkeys(importance, 0.0)
        chosen: list[int] = []
        room = self.max_words
        while overlap:
            best, most = -1, 0.0
            for i, most_shared in overlap.items():
                worth = importance[i] - self.diversity * most_shared
                if best < 0 or worth > most or (worth == most and i < best):
                    best, most = i, worth
            del overlap[best]
            chosen.append(best)
            room -= sentences[best].length
            if room <= 0:
                break
            words = sentences[best].words
            # What does not fit now never will: the room only shrinks.
            overlap = {
                i: max(most_shared, _jaccard(words, sentences[i].words))
                for i, most_shared in overlap.items()
                if sentences[i].length <= room
            }
        return chosen


# The upper nodes of a growing tree are written again at every step, mostly from texts that
# did not change.
@lru_cache(maxsize=512)
def _quoted(style: Extractive, texts: tuple[str, ...]) -> str:
    sentences = tuple(dict.fromkeys(chain.from_iterable(map(_sentences, texts))))
    return style.quote(sentences) if sentences else ""


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    shared = len(first & second)
    union = len(first) + len(second) - shared
    return shared / union if union else 0.0


def _clip(text: str, max_words: int) -> str:
    last = next(islice(_WORD.finditer(text), max_words - 1, None))
    return text[: last.end()] + " …"
