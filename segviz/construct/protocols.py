"""The contracts by which stages meet without importing each other.

How a memory is built (Arrival, Candidate, Compatibility, Annotate, System), how a system
looks for evidence of its own (View, Retriever), and what else can be done to a memory
(Settles), and how its side tables are made (Tabulates).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Unit
from segviz.embedding import Embedder
from segviz.llm import Chat
from segviz.tree import Event, Judgement, Span, Step, Structure, Vector
from segviz.tree.invariants import Invariant


@dataclass(frozen=True, slots=True)
class Services:
    """What a build may call on: the embedder, a chat model where one is configured, and the prompts
    of the system, by name."""

    embedder: Embedder
    chat: Chat | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)


def services_for(system: object, embedder: Embedder, chat: Chat | None = None) -> Services:
    """Returns the services of a system, with its class variable ``prompts`` where it has one."""
    return Services(embedder, chat, getattr(system, "prompts", {}))


def require_chat(services: Services, name: str) -> Chat:
    """Returns the chat model a component needs; ValueError says how to give it one."""
    if services.chat is None:
        raise ValueError(
            f"{name} needs a chat model and none is configured: set one under Models in the "
            "app, or pass chat=… to build"
        )
    return services.chat


LOOK_BACK = 200
"""Most units before it that an arrival knows of."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Arrival(Unit):
    """A unit on its way into a memory: the unit, its embedding (float32, (d,)), whether it
    opens a new session, and the embeddings of up to ``LOOK_BACK`` units before it, oldest
    first (float32, (k, d); None where nothing is known of them)."""

    vector: Vector
    opens_session: bool = False
    before: Vector | None = None

    @property
    def unit(self) -> Unit:
        """The plain unit, as kept in the step."""
        return Unit(self.index, self.turn_ids, self.session, self.text, self.time)


def arriving(units: Sequence[Unit], vectors: Vector) -> tuple[Arrival, ...]:
    """Units with their embeddings (float32 (n, d)) as if the conversation held only them."""
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
    """A node a new unit could join: its id, level, half-open span, annotation, embedding
    (float32, (d,)) and number of children."""

    node: int
    level: int
    span: Span
    text: str
    vector: Vector
    children: int

    @property
    def place(self) -> str:
        """How a sentence calls it: ``level 2 (units 4–9)``."""
        start, stop = self.span
        units = f"unit {start}" if stop - start == 1 else f"units {start}–{stop - 1}"
        return f"level {self.level} ({units})"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A compatibility model's answer: the position of the chosen candidate (None: none is
    compatible), how each candidate fared, and the reason as one sentence. ``fallback``: another
    model decided in its place."""

    chosen: int | None
    judgements: tuple[Judgement, ...]
    why: str
    fallback: bool = False


class Compatibility(Protocol):
    """Chooses where a new unit joins (the C of Algorithm 1).

    A model that can say why also has ``judge(unit, candidates) -> Verdict``, with scores,
    thresholds and a sentence; what it chooses there must equal ``choose``.
    """

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position in ``candidates`` (the non-leaf frontier, low to high) or None."""
        ...


class Annotate(Protocol):
    """Writes a node's text from its children's (the S of Algorithm 1)."""

    def __call__(self, texts: Sequence[str]) -> str:
        """``texts`` are the child annotations in chronological order, at least one."""
        ...


class System(Protocol):
    """A memory architecture. Implementations are frozen dataclasses whose fields are the
    parameters; ``online`` promises prefix-stability (the steps for the first k units do
    not depend on what follows); ``invariants`` are functions that report
    violations, as those in ``segviz.tree.invariants``."""

    name: ClassVar[str]
    online: ClassVar[bool]
    invariants: ClassVar[tuple[Invariant, ...]]

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per arrival, lazily."""
        ...


Scorer = Callable[[Sequence[str]], NDArray[np.float64]]
"""Raw relevance of every node to each question: q texts to float64 (q, n)."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a system's own retrieval: its name, what happened as one sentence, the
    nodes it looked at, best first, with their scores (none, or one per node) and those
    among them it went on with."""

    name: str
    note: str
    nodes: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Retrieval:
    """The result of a system's own retrieval.

    ``scores`` float64 (n,), ≥ 0, one per node, 0 for what was not reached; ``ranked`` the
    nodes that may be returned, best first; ``stages`` how it came about.
    """

    scores: NDArray[np.float64]
    ranked: tuple[int, ...]
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class MemoryView:
    """A memory as a system's own retrieval sees it: the structure, the units so
    far, the chosen relevance (questions to raw scores (q, n)), services, and how many
    nodes are wanted. Nothing in it may be changed."""

    structure: Structure
    units: Sequence[Unit]
    relevance: Scorer
    services: Services
    k: int


@runtime_checkable
class Retriever(Protocol):
    """A system with a retrieval of its own, offered beside collapsed retrieval.

    Its class variable ``relevance`` names what its source scores nodes by; questions that name
    no relevance are scored by that.
    """

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Retrieves the evidence for a question. Deterministic; the memory is not changed."""
        ...


Row = Mapping[str, Any]
"""A row of a side table: plain values (text, numbers, moments, None) by the names of columns."""


@runtime_checkable
class Tabulates(Protocol):
    """A system with side tables, such as time windows, groups or relations; Grow shows them."""

    def tables(self, structure: Structure, steps: Sequence[Step]) -> Mapping[str, Sequence[Row]]:
        """Returns the tables by name, of the memory after ``steps``, which gave ``structure``.

        Rows whose ``start`` and ``stop`` are moments, or numbers of units, are drawn on a
        timeline too: a lane for each value of the first column, the second as the label.
        """
        ...


@runtime_checkable
class Settles(Protocol):
    """A system that may leave texts out of date between steps."""

    def pending(self, structure: Structure, steps: Sequence[Step]) -> tuple[int, ...]:
        """Returns the nodes whose text is out of date after ``steps``, which gave ``structure``."""
        ...

    def settle(
        self, structure: Structure, steps: Sequence[Step], services: Services
    ) -> tuple[Event, ...]:
        """Returns the events that bring them up to date, as if the conversation ended here."""
        ...
