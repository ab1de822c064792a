"""How a memory is built: a unit arrives, finds its place, and texts above it are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from segviz.conversation import Unit
from segviz.protocols.models import Services
from segviz.tree import Judgement, Span, Step, Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Arrival(Unit):
    """A unit on its way into a memory: the unit, its embedding (float32, (d,)) and
    whether it opens a new session."""

    vector: Vector
    opens_session: bool = False

    @property
    def unit(self) -> Unit:
        """The plain unit, as kept in the step."""
        return Unit(self.index, self.turn_ids, self.session, self.text, self.time)


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """A compatibility model's answer: the position of the chosen candidate (None: none is
    compatible), how each candidate fared, and the reason as one sentence."""

    chosen: int | None
    judgements: tuple[Judgement, ...]
    why: str


class Compatibility(Protocol):
    """Chooses where a new unit joins (the C of Algorithm 1).

    A model that can say why also has ``judge(unit, candidates) -> Verdict``; what it
    chooses there must equal ``choose``.
    """

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position in ``candidates`` (the non-leaf frontier, low to high) or None."""
        ...


@runtime_checkable
class Explains(Protocol):
    """A compatibility model that gives its reasons."""

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """The choice with scores, thresholds and a sentence."""
        ...


class Annotate(Protocol):
    """Writes a node's text from its children's (the S of Algorithm 1)."""

    def __call__(self, texts: Sequence[str]) -> str:
        """``texts`` are the child annotations in chronological order, at least one."""
        ...


class System(Protocol):
    """A memory architecture. Implementations are frozen dataclasses whose fields are the
    parameters; ``online`` promises prefix-stability (the steps for the first k units do
    not depend on what follows); ``laws`` is a key of ``segviz.tree.invariants.LAWS``."""

    name: ClassVar[str]
    online: ClassVar[bool]
    laws: ClassVar[str]

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per arrival, lazily."""
        ...
