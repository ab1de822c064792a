"""Layer 1: the small contracts by which stages meet without importing each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from segviz.steps import Event, Facts, Judgement, Span, Step, Vector
from segviz.structure import Structure
from segviz.units import Unit


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


@runtime_checkable
class Charges(Protocol):
    """An embedder that is paid by the token.

    ``calls`` counts the requests really sent so far.
    """

    calls: int

    def charged(self, texts: Sequence[str]) -> int:
        """Tokens charged for embedding these texts, whenever that was."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors.

    ``name`` identifies model and version; caches are keyed by it, so it must change
    whenever the vectors would.
    """

    @property
    def name(self) -> str:
        """Stable identity of the model."""
        ...

    def embed(self, texts: Sequence[str]) -> Vector:
        """float32 (len(texts), d), unit length; an empty text gives a zero row."""
        ...


Scorer = Callable[[Sequence[str]], NDArray[np.float64]]
"""Raw relevance of every node to each question: q texts to float64 (q, n)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a chat model.

    With ``labels`` the reply must be exactly one of them; the client enforces it by
    structured output and refuses anything else.
    """

    system: str
    user: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A chat model's answer with what it cost; ``cached`` replies cost nothing now.

    ``waived`` is why there is no answer where somebody decided to do without: then ``text``
    is empty, whatever the labels.
    """

    text: str
    tokens: int = 0
    cached: bool = False
    waived: str = ""


class ModelError(RuntimeError):
    """A model could not be reached or paid for after bounded retries; the message says
    what happened and what to do. Finished work is in the cache, so trying again goes on
    where it stopped."""


class LastingFault(ModelError):
    """A model gives no usable answer to one ``prompt`` (it refuses it, or answers with
    nothing), for this ``reason``; other prompts may fare better.

    Trying again will hardly help. A client that has ``waive(prompt, reason)`` can be told
    to do without the answer; the build then decides or writes offline at this place.
    """

    def __init__(self, message: str, prompt: Prompt, reason: str) -> None:
        """Keep the prompt, by which it can be waived."""
        super().__init__(message)
        self.prompt = prompt
        self.reason = reason


class LabelError(ModelError):
    """A model kept answering outside the label set; ``answer`` is what it said last."""

    def __init__(self, message: str, answer: str) -> None:
        """Keep the answer for the note of the step."""
        super().__init__(message)
        self.answer = answer


class Chat(Protocol):
    """A chat model.

    ``calls`` and ``tokens`` count what was really requested so far, repeated tries
    included and cached replies not; ``answered``, ``answered_tokens`` and
    ``answered_output`` count the prompts answered, their tokens and those among them the
    model wrote, from wherever, so that they are the same in a repeated or resumed build.
    ``from_cache`` counts the answers among them that were taken from the cache, and
    ``waived_texts`` the texts (prompts without labels) that were done without.
    """

    calls: int
    tokens: int
    answered: int
    answered_tokens: int
    answered_output: int
    from_cache: int
    waived_texts: int

    @property
    def name(self) -> str:
        """Stable identity of the model and its settings."""
        ...

    def reply(self, prompt: Prompt) -> Reply:
        """The answer; ModelError after bounded retries: LabelError for a wrong label,
        LastingFault where this prompt alone gets no answer."""
        ...

    def replies(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """As ``reply`` for independent prompts, a bounded number of them at once."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """What a build may call on: the embedder, and a chat model where one is configured."""

    embedder: Embedder
    chat: Chat | None = None


def require_chat(services: Services, name: str) -> Chat:
    """The chat model a component needs; ValueError says how to give it one."""
    if services.chat is None:
        raise ValueError(
            f"{name} needs a chat model and none is configured: set one under Models in the "
            "app, or pass chat=… to build"
        )
    return services.chat


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
class Recall:
    """What a system's own retrieval found.

    ``scores`` float64 (n,), ≥ 0, one per node, 0 for what was not reached; ``ranked`` the
    nodes that may be returned, best first; ``stages`` how it came about.
    """

    scores: NDArray[np.float64]
    ranked: tuple[int, ...]
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A memory as a system's own retrieval sees it: the structure, the units heard so
    far, the chosen relevance (questions to raw scores (q, n)), services, and how many
    nodes are wanted. Nothing in it may be changed."""

    structure: Structure
    units: Sequence[Unit]
    relevance: Scorer
    services: Services
    k: int


@runtime_checkable
class Recalls(Protocol):
    """A system with a retrieval of its own, offered beside collapsed retrieval."""

    def recall(self, question: str, view: View) -> Recall:
        """Find evidence; deterministic, and nothing in the memory changes by it."""
        ...


@runtime_checkable
class Fades(Protocol):
    """A system that remembers less well what was long not met again.

    Its nodes keep the facts ``last``, the moment they were last met (seconds), and ``n``,
    how often they were met again.
    """

    def retention(self, facts: Facts, ages: Sequence[float]) -> list[float]:
        """How well a node with these facts is remembered at each age in seconds after
        ``last``: 1 is perfectly, 0 not at all."""
        ...

    def fading(self) -> str:
        """The law behind it with its constants, as one sentence."""
        ...


@runtime_checkable
class Settles(Protocol):
    """A system that may leave texts out of date between steps."""

    def pending(self, structure: Structure, steps: Sequence[Step]) -> tuple[int, ...]:
        """The nodes whose text is out of date after ``steps``, which gave ``structure``."""
        ...

    def settle(
        self, structure: Structure, steps: Sequence[Step], services: Services
    ) -> tuple[Event, ...]:
        """What brings them up to date, as if the conversation ended here."""
        ...


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that can be done to a finished memory: its label, what it does as one
    sentence, and its arguments by name, each a whole number of this kind: "node",
    "session", "unit" or "number". Arguments with a ``defaults`` value may be left out."""

    label: str
    help: str
    arguments: Mapping[str, str]
    defaults: Mapping[str, int] = field(default_factory=dict)


@runtime_checkable
class Operates(Protocol):
    """A system whose memories can be changed after they are built.

    Where its own ``laws`` do not survive that, ``laws_after`` names those that do.
    """

    def operations(self) -> Mapping[str, Operation]:
        """What can be done, by name."""
        ...

    def operate(self, name: str, arguments: Mapping[str, int], view: View) -> Step:
        """The events of an operation on the memory in ``view``, as a step whose
        ``operation`` is ``name`` and whose unit is the last one heard; ValueError says
        why it cannot be done."""
        ...


JOIN = "join"
"""The ``operation`` of a step that takes a second memory in."""


@runtime_checkable
class Joins(Protocol):
    """A system that can make two of its memories one without hearing a unit again."""

    def join(self, one: View, other: View) -> Step:
        """The step that takes the memory in ``other`` into the one in ``one``.

        ``other.units`` are numbered as in the whole, after those of ``one``: indices and
        sessions count on. The step's ``operation`` is ``JOIN``, its unit the last one."""
        ...


class System(Protocol):
    """A memory architecture. Implementations are frozen dataclasses whose fields are the
    parameters; ``online`` promises prefix-stability (the steps for the first k units do
    not depend on what follows); ``laws`` is a key of ``segviz.invariants.LAWS``."""

    name: ClassVar[str]
    online: ClassVar[bool]
    laws: ClassVar[str]

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per arrival, lazily."""
        ...
