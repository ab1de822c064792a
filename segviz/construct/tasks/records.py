"""Records that the tasks return, and the protocol of their two implementations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol

SCOPES = ("short", "long", "mixed")
ENTITY_KINDS = (
    "person",
    "organisation",
    "location",
    "event",
    "product",
    "work",
    "date",
    "time",
    "other",
)
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


class Tasks(Protocol):
    """The small judgements systems need besides summaries and embeddings."""

    name: ClassVar[str]

    def extract(
        self, text: str, when: datetime | None, known: Sequence[str] = (), most: int = MOST_FACTS
    ) -> Extraction:
        """Facts, entities and relations of ``text`` (``Speaker: words`` lines) said at
        ``when``; what ``known`` already states is left out; at most ``most`` facts."""
        ...

    def boundary(self, before: Sequence[str], new: str, similarity: float) -> Boundary:
        """Whether the episode ``before`` ends ahead of ``new``. ``similarity`` is the cosine of
        the new message with the last few."""
        ...

    def same(self, one: str, other: str) -> bool:
        """Whether two statements with similar embeddings state the same fact."""
        ...

    def plan(self, question: str, now: datetime | None) -> tuple[SubQuestion, ...]:
        """Returns the parts of a question, at least one; relative times count from ``now``."""
        ...

    def focus(self, question: str, roots: Sequence[str]) -> list[str]:
        """What each tree is asked, whose root summaries are ``roots``: a sub-question of its own,
        or the question."""
        ...

    def order(self, question: str, texts: Sequence[str], scores: Sequence[float]) -> list[int]:
        """Positions of ``texts``, best for the question first; ``scores`` are their
        relevance."""
        ...

    def uncertainty(
        self, question: str, context: Sequence[str], weights: Mapping[str, float] | None = None
    ) -> float:
        """Uncertainty of an answer from ``context``, in nats, 0 to 5. ``weights``
        gives the importance of a word's stem (default 1)."""
        ...

    def missing(self, question: str, evidence: Sequence[str]) -> str | None:
        """A follow-up question for what ``evidence`` (best first) lacks, anchored in it;
        None where nothing is missing."""
        ...
