"""Records that the tasks return."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

SCOPES = ("short", "long", "mixed")
ENTITY_KINDS = tuple("person organisation location event product work date time other".split())
MOST_FACTS = 15

EXPECTED = ("date", "person", "location", "number", "anything")

Interval = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Named:
    """An entity as mentioned: its name and one of ``ENTITY_KINDS``."""

    name: str
    kind: str = "other"


@dataclass(frozen=True, slots=True)
class Stated:
    """One atomic fact: its text, who said it, the time it speaks of where it names one,
    the entities in it, a domain of life and a role ("fact", "preference" or "plan")."""

    text: str
    speaker: str = ""
    about: Interval | None = None
    entities: tuple[Named, ...] = ()
    domain: str = "other"
    role: str = "fact"


@dataclass(frozen=True, slots=True)
class Related:
    """Two entities of one sentence, by name, how they stand to each other, and how sure that
    is, from 0 to 1."""

    head: str
    label: str
    tail: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything taken from a text; ``fallback`` says that the offline stand-in did it
    because a model's answer could not be read."""

    facts: tuple[Stated, ...]
    relations: tuple[Related, ...] = ()
    fallback: bool = False

    @property
    def entities(self) -> tuple[Named, ...]:
        """Every entity named, once per name and kind, in order."""
        return tuple(dict.fromkeys(e for fact in self.facts for e in fact.entities))


@dataclass(frozen=True, slots=True)
class Boundary:
    """Whether a stretch of conversation ends before a new message, and why."""

    ends: bool
    why: str


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A part of a question: its text, the memory scope it needs, the time it names and
    the kind of answer it expects (one of ``EXPECTED``)."""

    text: str
    scope: str = "mixed"
    when: Interval | None = None
    expects: str = "anything"
