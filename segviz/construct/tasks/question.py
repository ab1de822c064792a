"""Offline stand-ins at question time: the plan, what is missing, how unsure an answer is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from segviz.construct.tasks import dates
from segviz.construct.tasks.records import SubQuestion
from segviz.construct.tasks.words import content, names

MOST_UNSURE = 5.0  # nats
_TERMS, _ANSWER = 0.7, 0.3

_PAIR = re.compile(r"\b(?:[Bb]oth )?([A-Z][\w’'-]+) and ([A-Z][\w’'-]+)\b")
_EXPECTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "date",
        re.compile(
            r"\b(?:when|what (?:date|day|month|year|time)|which (?:day|month|year))\b", re.I
        ),
    ),
    ("number", re.compile(r"\bhow (?:many|much|old|long|often|far)\b", re.I)),
    (
        "location",
        re.compile(
            r"\b(?:where|which (?:city|country|place|state)|what (?:city|country|place))\b", re.I
        ),
    ),
    ("person", re.compile(r"\b(?:who|whom|whose)\b", re.I)),
)
_SHORT = re.compile(
    r"\b(?:when|date|yesterday|recently|last|first|today|what time|did \w+|said?|mention|after|"
    r"before)\b",
    re.I,
)
_LONG = re.compile(
    r"\b(?:usually|often|favou?rite|prefer|hobb|personality|relationship|kind of|interests?|"
    r"would|likely|always|career|goals?|values?|how has|over the (?:year|month)s?|changed?)\b",
    re.I,
)
_HOLDS: dict[str, re.Pattern[str]] = {
    "date": re.compile(
        r"\b\d{4}\b|\byesterday\b|\b(?:last|next|this) \w+|\b\w+ ago\b|\b(?:January|February|March|"
        r"April|May|June|July|August|September|October|November|December)\b|\d{1,2}:\d\d"
    ),
    "number": re.compile(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|once|couple|dozen)\b", re.I
    ),
    "location": re.compile(r"\b(?:in|at|to|from|near) (?:the )?[A-Z]\w+"),
    "person": re.compile(r"(?:^|[^.!?]\s)[A-Z][a-z]+"),
    "anything": re.compile(r""),
}


def plan(question: str, now: datetime | None) -> tuple[SubQuestion, ...]:
    """One part per named subject of "A and B", else the question itself; scope by cue
    words, time by what the words name."""
    pair = _PAIR.search(question)
    texts = [question]
    if pair:
        texts = [question[: pair.start()] + pair[i] + question[pair.end() :] for i in (1, 2)]
    time = dates.resolve(question, now)
    scope = _scope(question)
    return tuple(
        SubQuestion(text, scope, time[0] if time else None, expected(question)) for text in texts
    )


def _scope(question: str) -> str:
    short, long = bool(_SHORT.search(question)), bool(_LONG.search(question))
    if short == long:
        return "mixed"
    return "short" if short else "long"


def expected(question: str) -> str:
    """The kind of answer a question asks for."""
    return next((kind for kind, cue in _EXPECTS if cue.search(question)), "anything")


def holds(kind: str, text: str) -> bool:
    """Whether a text holds something of the expected kind."""
    return bool(_HOLDS[kind].search(text))


def missing(question: str, evidence: Sequence[str]) -> str | None:
    """The words of the question the evidence does not have, with its best name as anchor;
    None where something of the expected kind is there, or nothing to hold on to."""
    kind = expected(question)
    if not evidence or any(holds(kind, text) for text in evidence):
        return None
    covered = frozenset().union(*(content(text) for text in evidence))
    words = [w for w in re.findall(r"\w+", question) if content(w) - covered]
    asked = set(re.findall(r"\w+", question.lower()))
    anchors = [n for text in evidence for n in names(text) if n.lower() not in asked]
    anchor = next(iter(anchors), None) or next(
        (name for text in evidence for name in names(text)), None
    )
    return " ".join([*words, anchor]) if anchor else None


def uncertainty(
    question: str, context: Sequence[str], weights: Mapping[str, float] | None = None
) -> float:
    """H₀·(1 − cov), H₀ = 5 nats: cov = .7 · the weighted share of the question's stems a
    single text holds at best + .3 where a text that shares a stem holds something of the
    expected kind. A longer context never raises it."""
    stems = content(question)
    weigh = (weights or {}).get
    total = sum(weigh(s, 1.0) for s in sorted(stems))
    shared = [sum(weigh(s, 1.0) for s in sorted(stems & content(t))) for t in context]
    covered = max(shared, default=0.0) / total if total else 0.0
    kind = expected(question)
    answered = any(
        holds(kind, text) for text, share in zip(context, shared, strict=True) if share > 0
    )
    return MOST_UNSURE * (1 - _TERMS * covered - _ANSWER * answered)
