"""Offline stand-in for extraction: sentences that state something, and who is in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from segviz.construct.tasks import dates
from segviz.construct.tasks.records import MOST_FACTS, Extraction, Named, Related, Stated
from segviz.construct.tasks.words import content, lines, names, normalised, quoted, sentences

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
_DOMAINS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"\b(?:{words})", re.I))
    for name, words in (
        ("work", "work|job|office|boss|career|business|client|project|intern|startup|colleague"),
        ("study", "school|universit|college|class|course|exam|degree|teach|learn|stud(?:y|ie)"),
        (
            "family",
            "famil|mom|mum|mother|dad|father|sister|brother|kid|child|son\b|daughter|"
            "wife|husband|parent|grand|wedding|married",
        ),
        ("pets", "dog|cat\b|cats\b|pet|pup|kitten|turtle|parrot|shelter|bark"),
        ("health", "health|doctor|hospital|yoga|medit|therap|sick|injur|diet|weight|sleep|stress"),
        (
            "sport",
            "game|team|basketball|soccer|football|hik|run|climb|swim|bike|bicycl|gym|"
            "tournament|match|score|sport",
        ),
        ("travel", "travel|trip|visit|flight|vacation|holiday|beach|mountain|city|country|camp"),
        ("food", "cook|bak|recipe|food|restaurant|dinner|lunch|breakfast|bread|cake|coffee|tea\b"),
        (
            "arts",
            "paint|draw|art\b|arts\b|music|band|guitar|piano|sing|song|concert|danc|photo|"
            "book|read|writ|story|movie|film|series|show",
        ),
        ("technology", "computer|code|coding|program|software|app\b|apps\b|phone|online|server"),
        ("home", "house|home|apartment|garden|plant|room|kitchen|move[ds]?\b|moving"),
        ("money", "money|cost|price|buy|bought|sell|sold|euro|dollar|rent|pay|paid|budget"),
    )
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
    r"knows?|lives?|works?|visits?|plays?|helps?|owns?|got|won|lost|taught|wrote|sent)\b"
)


def extract(
    text: str, when: datetime | None, known: Sequence[str] = (), most: int = MOST_FACTS
) -> Extraction:
    """Facts, entities and relations of ``text``, without a model.

    A fact is a sentence, with its speaker in front, that is no question and has at least
    two content words; a relative date is resolved against ``when`` and added. Entities are
    the speakers, runs of capitalised words and quoted titles, typed by cue words; two
    names in a sentence are related by the first verb between them, else ``co-occurs``.
    """
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
            fact = _stated(speaker, sentence, when, speakers, inside)
            if fact is None or normalised(fact.text) in already:
                continue
            facts.setdefault(normalised(fact.text), fact)
            relations.update(dict.fromkeys(_relations(sentence, fact)))
    return Extraction(tuple(facts.values()), tuple(relations))


def _stated(
    speaker: str, sentence: str, when: datetime | None, speakers: set[str], inside: set[str]
) -> Stated | None:
    if sentence.endswith("?") or len(content(sentence)) < 2:
        return None
    time = dates.resolve(sentence, when)
    shown = sentence if len(sentence) <= _LONGEST else sentence[:_LONGEST] + " …"
    if time is not None and dates.resolve(time[1], None) is None:
        shown = shown.replace(time[1], f"{time[1]} ({dates.named_day(time[0])})", 1)
    text = f"{speaker}: {shown}" if speaker else shown
    mentioned = [Named(speaker, "person")] if speaker else []
    # A capital that opens a sentence is a name where it is one further on in the text.
    opening = [first for first in sentence.split()[:1] if first in inside | speakers]
    for name in dict.fromkeys((*opening, *names(sentence))):
        kind = "person" if name in speakers else _kind(name, sentence)
        mentioned.append(Named(name, kind))
    entities = tuple({entity.name: entity for entity in reversed(mentioned)}.values())[::-1]
    return Stated(
        text, speaker, time[0] if time else None, entities, domain(sentence), role(sentence)
    )


def _kind(name: str, sentence: str) -> str:
    if name in quoted(sentence):
        return "work"
    if _ORGANISATION.search(name):
        return "organisation"
    if _EVENT.search(name):
        return "event"
    before = sentence[: sentence.find(name)]
    if _LOCATION.search(before):
        return "location"
    return "person" if _WITH.search(before) else "other"


def domain(text: str) -> str:
    """The domain of life with most cue words, the first listed on a tie, or "other"."""
    counts = [(len(cues.findall(text)), name) for name, cues in _DOMAINS]
    most = max(count for count, _ in counts)
    return next(name for count, name in counts if count == most) if most else "other"


def role(text: str) -> str:
    """Whether a sentence tells a plan, a preference or a plain fact."""
    if _PLAN.search(text):
        return "plan"
    return "preference" if _PREFERENCE.search(text) else "fact"


def _relations(sentence: str, fact: Stated) -> list[Related]:
    """Neighbouring names in the order they are said, the speaker first."""
    found = []
    for head, tail in pairwise(fact.entities):
        start = sentence.find(head.name)
        between = sentence[max(start + len(head.name), 0) if start >= 0 else 0 :]
        verb = _VERB.search(between.split(tail.name)[0])
        found.append(Related(head.name, verb.group().lower() if verb else "co-occurs", tail.name))
    return found
