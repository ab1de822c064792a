"""Offline annotation: quote the sentences that say most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from segviz.parameters import check_ranges, param

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
# Words too common to tell one sentence from another.
_COMMON = frozenset(
    "a about after all also am an and any are as at be been but by can could did do does for "
    "from get go going good got had has have he her him his how i if in is it just know like "
    "me more my no not now of oh on one or our out really see she so some such than that the "
    "their them then there they think this time to too up us very was way we were what when "
    "which who will with would yeah yes you your m s t re ve ll d don im thanks great nice wow "
    "image photo".split()
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: frozenset[str]
    facts: int
    length: int


@lru_cache(maxsize=100_000)
def _sentences(annotation: str) -> tuple[_Sentence, ...]:
    """Sentences of one annotation, each with its speaker's name kept in front."""
    result = []
    for line in annotation.split("\n"):
        spoken = _SPEAKER.match(line)
        prefix, body = (spoken.group(0), line[spoken.end() :]) if spoken else ("", line)
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
            result.append(_Sentence(prefix + piece, words, facts, len(tokens)))
    return tuple(result)


@dataclass(frozen=True)
class Extractive:
    """Picks the sentences that say most about a span, in their order.

    A sentence scores by the weight of its words among all sentences (its closeness to the
    centroid of word counts), plus a bonus for names, dates and numbers, because a lost
    date is the failure the paper itself reports (App. C.4, Q3). Sentences are chosen
    greedily by maximal marginal relevance until ``max_words`` are used. A single child's
    text passes through unchanged.

    Source: MMR, Carbonell and Goldstein 1998; centroid scoring, Radev et al. 2004.
    Departs from SegTreeMem: sentences are quoted, not written by a language model.
    """

    name: ClassVar[str] = "extractive"

    max_words: int = param(60, help="Longest annotation, in words.", low=10, high=400, step=10)
    diversity: float = param(
        0.3, help="0 ranks by importance alone, 1 by difference alone.", low=0, high=1, step=0.05
    )
    fact_bonus: float = param(
        0.15, help="Weight of each name, date or number in a sentence.", low=0, high=1, step=0.05
    )

    # Only this many best sentences enter the quadratic diversity search.
    _shortlist: ClassVar[int] = 32

    def __post_init__(self) -> None:
        """Refuse values outside the declared ranges."""
        check_ranges(self)

    def __call__(self, texts: Sequence[str]) -> str:
        """Summary of ``texts`` (chronological), at most ``max_words`` words.

        One sentence per line. Always returns at least one sentence when there is one,
        cut to ``max_words`` words if it alone is longer.
        """
        if len(texts) == 1:
            return texts[0]
        sentences = list(dict.fromkeys(s for text in texts for s in _sentences(text)))
        if not sentences:
            return ""
        chosen = self._choose(sentences)
        return "\n".join(_clip(sentences[i].text, self.max_words) for i in sorted(chosen))

    def _choose(self, sentences: list[_Sentence]) -> list[int]:
        counts = Counter(word for sentence in sentences for word in sentence.words)
        weight = counts.__getitem__
        # Dividing by a power below one of the size lets a rich sentence beat a short
        # fragment that happens to hold one frequent word.
        raw = [sum(map(weight, s.words)) / (len(s.words) + 1) ** 0.6 for s in sentences]
        top = max(raw) or 1.0
        score = [
            value / top + self.fact_bonus * sentence.facts
            for value, sentence in zip(raw, sentences, strict=True)
        ]
        order = sorted(range(len(sentences)), key=lambda i: (-score[i], i))[: self._shortlist]
        likeness = dict.fromkeys(order, 0.0)
        chosen: list[int] = []
        used = 0
        while likeness:
            best = max(
                likeness,
                key=lambda i: ((1 - self.diversity) * score[i] - self.diversity * likeness[i], -i),
            )
            del likeness[best]
            length = sentences[best].length
            if chosen and used + length > self.max_words:
                continue
            chosen.append(best)
            used += length
            if used >= self.max_words:
                break
            words = sentences[best].words
            for other in likeness:
                overlap = len(words & sentences[other].words)
                union = len(words) + len(sentences[other].words) - overlap
                likeness[other] = max(likeness[other], overlap / union if union else 0.0)
        return chosen


def _clip(text: str, max_words: int) -> str:
    matches = list(_WORD.finditer(text))
    if len(matches) <= max_words:
        return text
    return text[: matches[max_words - 1].end()] + " …"
