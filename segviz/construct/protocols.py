"""Contracts by which stages cooperate without importing each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from segviz.conversation import Conversation, Unit
from segviz.embedding import Embedder
from segviz.llm import Chat
from segviz.tree import Event, Judgement, Span, Step, Structure, Vector
from segviz.tree.invariants import Invariant


@dataclass(frozen=True, slots=True)
class Services:
    """Services of a build: embedder, chat model, the system's prompts by name, conversation."""

    embedder: Embedder
    chat: Chat | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    conversation: Conversation | None = None


def services_for(
    system: object, embedder: Embedder, chat: Chat | None, conversation: Conversation
) -> Services:
    """Returns the services of a build for a system, with the system's ``prompts`` if it has any."""
    return Services(embedder, chat, getattr(system, "prompts", {}), conversation)


def require_chat(services: Services, name: str) -> Chat:
    """Returns the chat model a component needs.

    Raises:
        ValueError: none is configured; says how to configure one.
    """
    if services.chat is None:
        raise ValueError(
            f"{name} needs a chat model and none is configured: set one under Models in the "
            "app, or pass chat=… to build"
        )
    return services.chat


LOOK_BACK = 200
"""Most previous units whose embeddings an arrival has."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Arrival(Unit):
    """A unit about to be added to a memory.

    Attributes:
        vector: its embedding, float32 (d,).
        opens_session: True for the first unit of every session but the first.
        before: embeddings of up to ``LOOK_BACK`` previous units, oldest first, float32 (k, d); None
            if unknown.
    """

    vector: Vector
    opens_session: bool = False
    before: Vector | None = None

    @property
    def unit(self) -> Unit:
        """This arrival without its embedding, as the step stores it."""
        return Unit(self.index, self.turn_ids, self.session, self.text, self.time)


def arriving(units: Sequence[Unit], vectors: Vector) -> tuple[Arrival, ...]:
    """Returns units with their ``vectors``, float32 (n, d), as arrivals numbered from 0."""
    return tuple(
        Arrival(
            index,
            unit.turn_ids,
            unit.session,
            unit.text,
            unit.time,
            vector=vector,
            opens_session=index > 0 and units[index - 1].session != unit.session,
            before=vectors[max(0, index - LOOK_BACK) : index],
        )
        for index, (unit, vector) in enumerate(zip(units, vectors, strict=True))
    )


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Open node that a new unit could join.

    ``span`` is half-open in units, ``text`` the annotation, ``vector`` its embedding, float32 (d,),
    ``children`` their number.
    """

    node: int
    level: int
    span: Span
    text: str
    vector: Vector
    children: int

    @property
    def place(self) -> str:
        """Level and units of the node, to name it in a sentence: ``level 2 (units 4–9)``."""
        start, stop = self.span
        units = f"unit {start}" if stop - start == 1 else f"units {start}–{stop - 1}"
        return f"level {self.level} ({units})"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Choice of a compatibility model for one new unit, with a judgement of each candidate.

    ``chosen`` is the position of a candidate, None if none is compatible, ``why`` the reason as a
    sentence. ``fallback`` is True if another model decided.
    """

    chosen: int | None
    judgements: tuple[Judgement, ...]
    why: str
    fallback: bool = False


class Compatibility(Protocol):
    """Model that chooses where a new unit joins (the C of Algorithm 1).

    A model that can explain itself also has ``judge(unit, candidates) -> Verdict``, with scores,
    thresholds and a sentence. It must choose as ``choose`` does.
    """

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Returns a position in ``candidates`` (the non-leaf frontier, low to high) or None."""
        ...


class Annotate(Protocol):
    """Annotator: writes a node's text from the texts of its children (the S of Algorithm 1)."""

    def __call__(self, texts: Sequence[str]) -> str | tuple[str, str]:
        """Returns the annotation of one or more child annotations in chronological order.

        A title may come with it, as (title, text); it becomes the node's label.
        """
        ...


class System(Protocol):
    """Memory architecture, a frozen dataclass whose fields are the parameters.

    ``online`` promises prefix-stability: the steps for the first k units do not depend on later
    units. ``invariants`` are functions that report violations, as those in
    ``segviz.tree.invariants``.
    """

    name: ClassVar[str]
    online: ClassVar[bool]
    invariants: ClassVar[tuple[Invariant, ...]]

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """Yields one Step per arrival, lazily."""
        ...


Row = Mapping[str, Any]
"""Row of a side table: column name to a plain value (text, number, time, None)."""


@runtime_checkable
class Tabulates(Protocol):
    """System with side tables, such as time windows, groups or relations; Grow shows them."""

    def tables(self, structure: Structure, steps: Sequence[Step]) -> Mapping[str, Sequence[Row]]:
        """Returns the side tables by name, of the memory after ``steps``, which gave ``structure``.

        Rows whose ``start`` and ``stop`` are times, or numbers of units, are drawn on a timeline
        too: a lane for each value of the first column, the second as the label.
        """
        ...


@runtime_checkable
class Settles(Protocol):
    """System that postpones the rewriting of texts, so that some may be out of date."""

    def pending(self, structure: Structure, steps: Sequence[Step]) -> tuple[int, ...]:
        """Returns the nodes whose text is out of date after ``steps``, which gave ``structure``."""
        ...

    def settle(
        self, structure: Structure, steps: Sequence[Step], services: Services
    ) -> tuple[Event, ...]:
        """Returns the events that write the pending texts, as if the conversation ended here."""
        ...
