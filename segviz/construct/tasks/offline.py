"""Records of the tasks, and the tasks by deterministic rules: cue words and word overlap."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import ClassVar

from segviz.construct.tasks.words import (
    ENGLISH,
    content,
    lines,
    names,
    normalised,
    quoted,
    sentences,
    things,
)
from segviz.text import dates
from segviz.text.captions import clipped
from segviz.text.dates import Interval
from segviz.tree import told_apart

SCOPES = ("short", "long", "mixed")
ENTITY_KINDS = tuple("person organisation location event product work date time other".split())
MOST_FACTS = 15

EXPECTED = ("date", "person", "location", "number", "anything")


@dataclass(frozen=True, slots=True)
class Named:
    """Entity as a text mentions it: its name, and its kind from ``ENTITY_KINDS``."""

    name: str
    kind: str = "other"


@dataclass(frozen=True, slots=True)
class Stated:
    """Fact that a text states, with its speaker and its entities.

    ``about`` is the time it names, None without one, ``domain`` a domain of life, ``role``
    "fact", "preference" or "plan".
    """

    text: str
    speaker: str = ""
    about: Interval | None = None
    entities: tuple[Named, ...] = ()
    domain: str = "other"
    role: str = "fact"


@dataclass(frozen=True, slots=True)
class Related:
    """Relation of two entities in one sentence, by name, with a confidence in [0, 1]."""

    head: str
    label: str
    tail: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """Facts and relations of a text; ``fallback`` is True if rules replaced a model's answer."""

    facts: tuple[Stated, ...]
    relations: tuple[Related, ...] = ()
    fallback: bool = False

    @property
    def entities(self) -> tuple[Named, ...]:
        """Entities of all facts, each name and kind once, in order."""
        return tuple(dict.fromkeys(e for fact in self.facts for e in fact.entities))


@dataclass(frozen=True, slots=True)
class Boundary:
    """Decision if an episode ``ends`` before a new message, with the reason."""

    ends: bool
    why: str


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """Part of a question, to be looked up by itself; ``expects`` is one of ``EXPECTED``.

    ``scope`` is "short" for a moment, "long" for what lasts, "mixed" for both; ``when`` the time
    it names, None without one.
    """

    text: str
    scope: str = "mixed"
    when: Interval | None = None
    expects: str = "anything"


# --- rules ----------------------------------------------------------------------------------

_LONGEST = 400  # characters of one fact

_LOCATION = re.compile(r"\b(?:in|at|to|from|near|visit|visited|visiting|around)\s+(?:the\s+)?$")
_WITH = re.compile(
    r"\b(?:with|and|friend|brother|sister|wife|husband|son|daughter|cousin|named|called|"
    r"colleague|partner|met|dear|hey|hi|thanks|mr|mrs|ms|dr)\.?,?\s+$",
    re.I,
)
_ORGANISATION = re.compile(
    r"\b(?:university|inc|corp|company|school|club|museum|college|institute|foundation|"
    r"association|hospital|studio|team|fc|ltd|group|bank|church|library)\b",
    re.I,
)
_EVENT = re.compile(
    r"\b(?:festival|tournament|championship|conference|marathon|concert|fair|parade|day|"
    r"christmas|easter|halloween|thanksgiving|cup|games|awards?)\b",
    re.I,
)
_KIN = re.compile(
    r"\b(?:mom|mum|mother|dad|father|parents?|sisters?|brothers?|sons?|daughters?|kids?|child|"
    r"children|wife|husband|grand\w+|cousins?|aunt|uncle|niece|nephew|(?:girl|boy)?friends?|"
    r"partner|fianc\w+|neighbou?rs?|boss|coach|teacher|roommate|colleagues?|family)$"
)
_PLACE = re.compile(
    r"\b(?:beach|park|city|town|village|country|house|home|apartment|room|kitchen|garden|lake|"
    r"mountains?|river|forest|woods|gym|office|restaurant|caf[eé]|shop|store|market|hotel|airport|"
    r"station|street|shelter|cabin|farm|island)$"
)
_NO_VERB = frozenset("amazing gaming own during morning evening interesting exciting".split())
_SURE, _BESIDE = 0.6, 0.3  # confidence of a relation by a verb, and by co-occurrence; ours
_DOMAINS = tuple(
    (name, re.compile(rf"\b(?:{cues})", re.I)) for name, cues in ENGLISH["domains"].items()
)
_PREFERENCE = re.compile(
    r"\b(?:love|like|enjoy|prefer|favou?rite|hate|dislike|fan of|into|passion)", re.I
)
_PLAN = re.compile(
    r"\b(?:will|'ll|’ll|going to|gonna|plan|planning|hope to|want to|next (?:week|month|year))\b",
    re.I,
)
_VERB = re.compile(
    r"\b(\w{2,}ed|\w{3,}ing|is|was|has|had|met|went|gave|told|bought|made|saw|took|loves?|likes?|"
    r"knows?|lives?|works?|visits?|plays?|helps?|owns?|got|won|lost|taught|wrote|sent|sold|built|ate|"
    r"knew|threw|felt|kept|held|heard|paid|led|began|chose|drove|flew|rode|sang|wore|came|left|found)\b"
)


def _stated(
    speaker: str, sentence: str, when: datetime | None, entities: Sequence[Named]
) -> Stated | None:
    """Returns the fact that a sentence states; None for a question or too few words."""
    if sentence.endswith("?") or len(content(sentence)) < 2:
        return None
    about, words = dates.resolve(sentence, when) or (None, "")
    shown = clipped(sentence, _LONGEST)
    # Relative words such as "yesterday" get their day in brackets.
    if about is not None and dates.resolve(words, None) is None:
        shown = shown.replace(words, f"{words} ({dates.named_day(about)})", 1)
    text = f"{speaker}: {shown}" if speaker else shown
    # The domain has most cue words, the first listed on a tie; the role goes by cue words, too.
    counts = {name: len(cues.findall(sentence)) for name, cues in _DOMAINS}
    domain = max(counts, key=lambda name: counts[name])
    preference = "preference" if _PREFERENCE.search(sentence) else "fact"
    role = "plan" if _PLAN.search(sentence) else preference
    domain = domain if counts[domain] else "other"
    return Stated(text, speaker, about, tuple(entities), domain, role)


def _mentions(
    speaker: str, sentence: str, speakers: set[str], inside: set[str]
) -> list[tuple[int, Named]]:
    """Returns the entities of a sentence with their positions, once each, the speaker at -1.

    The first word is a name only if it is one of ``speakers`` or of those ``inside`` sentences.
    """
    # Every sentence begins with a capital; it is a name if it is capitalised elsewhere, too.
    opening = [first for first in sentence.split()[:1] if first in inside | speakers]
    mentions = [
        (sentence.find(n), Named(n, "person" if n in speakers else _kind(n, sentence)))
        for n in dict.fromkeys((*opening, *names(sentence)))
    ]
    # Common nouns: relatives are persons, the speaker's own after "my"; others go by cue words.
    for place, name, own in things(sentence):
        if _KIN.search(name):
            entity = Named(f"{speaker}'s {name}" if own and speaker else name, "person")
        else:
            entity = Named(name, "location" if _PLACE.search(name) else _sort(name))
        mentions.append((place, entity))
    mentions.sort(key=lambda mention: mention[0])
    if speaker:
        mentions.insert(0, (-1, Named(speaker, "person")))
    # An entity that is mentioned twice has its first position.
    once: dict[str, tuple[int, Named]] = {}
    for place, entity in mentions:
        once.setdefault(entity.name, (place, entity))
    return list(once.values())


def _kind(name: str, sentence: str) -> str:
    """Returns the kind of an entity, by its name or the words before it in a sentence."""
    if name in quoted(sentence):
        return "work"
    if (kind := _sort(name)) != "other":
        return kind
    before = sentence[: sentence.find(name)]
    if _LOCATION.search(before):
        return "location"
    return "person" if _WITH.search(before) else "other"


def _sort(name: str) -> str:
    """Returns "organisation", "event" or "other" for an entity, by the words of its name."""
    if _ORGANISATION.search(name):
        return "organisation"
    return "event" if _EVENT.search(name) else "other"


def _relations(sentence: str, mentions: Sequence[tuple[int, Named]]) -> list[Related]:
    """Returns relations between neighbouring entities, and from the speaker to each entity."""
    relations = []
    verbs = [(v.start(), v.group()) for v in _VERB.finditer(sentence) if v.group() not in _NO_VERB]
    for (before, head), (place, tail) in pairwise(mentions):
        # The verb closest to the second entity is most likely its predicate.
        between = [verb for at, verb in verbs if before < at < place]
        sure = _SURE if between else _BESIDE
        relations.append(
            Related(head.name, between[-1] if between else "co-occurs", tail.name, sure)
        )
    if mentions and mentions[0][0] < 0:
        for place, tail in mentions[2:]:
            done = [verb for at, verb in verbs if at < place]
            if done:
                relations.append(Related(mentions[0][1].name, done[-1], tail.name, _SURE))
    return relations


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


def _expected(question: str) -> str:
    """Returns the kind of answer a question asks for."""
    return next((kind for kind, cue in _EXPECTS if cue.search(question)), "anything")


def _holds(kind: str, text: str) -> bool:
    """Returns True if a text has an answer of the expected kind."""
    return bool(_HOLDS[kind].search(text))


_SHIFT = re.compile(
    r"\b(?:by the way|anyway|anyways|speaking of|on another note|changing the subject|"
    r"moving on|oh, and|before i forget)\b",
    re.I,
)
_SHARP = re.compile(
    r"\b(?:not|no|never|n't|\d+|monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"yesterday|today|tomorrow)\b|n[’']t\b",
    re.I,
)


@dataclass(frozen=True)
class Offline:
    """Tasks by rules, without a model: sentences as facts, capitals as names, cue words.

    Source: ours. It extracts far less than a model does, so it shows how a system works, not how
        well it answers.
    """

    name: ClassVar[str] = "offline"

    # A message less similar to the last few changes the subject.
    _apart: ClassVar[float] = 0.10

    def extract(
        self, text: str, when: datetime | None, known: Sequence[str] = (), most: int = MOST_FACTS
    ) -> Extraction:
        """Returns facts, entities and relations of ``Speaker: words`` lines, said at ``when``.

        There are at most ``most`` facts; those that ``known`` already states are left out. A fact
        is a sentence, with its speaker in front, that is no question and has at least two content
        words. A relative date is resolved against ``when`` and added. Entities are the speakers,
        runs of capitalised words, quoted titles, and nouns (``things``), typed by cue words; the
        speaker's relatives are "Ada's sister". Consecutive entities of a sentence are related by
        the last verb between them, else ``co-occurs``; the speaker and each entity by the verb
        before it.
        """
        # Names inside sentences tell which capitalised first words are names.
        spoken = lines(text)
        speakers = {speaker for speaker, _ in spoken if speaker}
        inside = {name for _, words in spoken for s in sentences(words) for name in names(s)}
        already = {normalised(statement) for statement in known}
        facts: dict[str, Stated] = {}
        relations: dict[Related, None] = {}
        for speaker, words in spoken:
            for sentence in sentences(words):
                if len(facts) == most:
                    return Extraction(tuple(facts.values()), tuple(relations))
                # A sentence gives a fact with its entities, and the relations between these.
                mentions = _mentions(speaker, sentence, speakers, inside)
                fact = _stated(speaker, sentence, when, [entity for _, entity in mentions])
                if fact is None or normalised(fact.text) in already:
                    continue
                facts.setdefault(normalised(fact.text), fact)
                relations.update(dict.fromkeys(_relations(sentence, mentions)))
        return Extraction(tuple(facts.values()), tuple(relations))

    def boundary(self, before: Sequence[str], new: str, similarity: float) -> Boundary:
        """Decides if the episode ``before`` ends ahead of the message ``new``.

        By a phrase that changes the subject, or a low ``similarity`` with the last few messages.
        """
        phrase = _SHIFT.search(new)
        if phrase:
            return Boundary(True, f"“{phrase.group().lower()}” changes the subject")
        similar, needed = told_apart(similarity, self._apart)
        if similarity < self._apart:
            return Boundary(True, f"similarity {similar} is below {needed}")
        return Boundary(False, f"similarity {similar} reaches {needed}")

    def same(self, one: str, other: str) -> bool:
        """Returns True if two statements state the same fact.

        The caller has found their embeddings similar. So equal words suffice, or the same
        numbers, weekdays and negations.
        """
        if normalised(one) == normalised(other):
            return True
        return sorted(_SHARP.findall(one.lower())) == sorted(_SHARP.findall(other.lower()))

    def plan(self, question: str, now: datetime | None) -> tuple[SubQuestion, ...]:
        """Splits a question that names "Ann and Ben" into one about each; else it is one part.

        The scope follows from cue words. The time is the one that the question names; "yesterday"
        counts from ``now``.
        """
        pair = _PAIR.search(question)
        texts = [question]
        if pair:
            texts = [question[: pair.start()] + pair[i] + question[pair.end() :] for i in (1, 2)]
        time = dates.resolve(question, now)
        short, long = bool(_SHORT.search(question)), bool(_LONG.search(question))
        scope = "mixed" if short == long else "short" if short else "long"
        when = time[0] if time else None
        return tuple(SubQuestion(text, scope, when, _expected(question)) for text in texts)

    def focus(self, text: str, roots: Sequence[str]) -> list[str]:
        """Returns the part of the question for each root, by words in common; on a tie all."""
        parts = [part.text for part in self.plan(text, None)]
        shared = [[len(content(part) & content(root)) for part in parts] for root in roots]
        return [parts[row.index(max(row))] if row.count(max(row)) == 1 else text for row in shared]

    def order(self, text: str, texts: Sequence[str], scores: Sequence[float]) -> list[int]:
        """Returns the positions of ``texts``, best first: by score, ties by position."""
        return sorted(range(len(texts)), key=lambda i: (-scores[i], i))

    def uncertainty(
        self, question: str, context: Sequence[str], weights: Mapping[str, float] | None = None
    ) -> float:
        """Returns the uncertainty of an answer from ``context`` in nats: H₀·(1 - cov), H₀ = 5.

        cov = .7 · the largest weighted share of the question's stems in a single text, + .3 if a
        text that shares a stem has an answer of the expected kind. ``weights`` has the importance
        of stems (default 1). A longer context never raises the uncertainty.
        """
        stems = content(question)
        weigh = (weights or {}).get
        total = sum(weigh(s, 1.0) for s in sorted(stems))
        shared = [sum(weigh(s, 1.0) for s in sorted(stems & content(t))) for t in context]
        covered = max(shared, default=0.0) / total if total else 0.0
        kind = _expected(question)
        answered = any(
            _holds(kind, text) for text, share in zip(context, shared, strict=True) if share > 0
        )
        return MOST_UNSURE * (1 - _TERMS * covered - _ANSWER * answered)

    def missing(self, question: str, evidence: Sequence[str]) -> str | None:
        """Returns a follow-up question for the words that ``evidence`` (best first) lacks, or None.

        It consists of these words and the first name in the evidence, if possible one that is not
        in the question. None if the evidence has an answer of the expected kind, or no name.
        """
        kind = _expected(question)
        if not evidence or any(_holds(kind, text) for text in evidence):
            return None
        covered = frozenset().union(*(content(text) for text in evidence))
        words = [w for w in re.findall(r"\w+", question) if content(w) - covered]
        asked = set(re.findall(r"\w+", question.lower()))
        anchors = [n for text in evidence for n in names(text) if n.lower() not in asked]
        anchor = next(iter(anchors), None) or next(
            (name for text in evidence for name in names(text)), None
        )
        return " ".join([*words, anchor]) if anchor else None
