"""Defines the history of a build as data: events, decisions, costs, steps.

A system yields one :class:`Step` per unit. ``segviz.tree.replayer`` folds their events
into a structure; nothing else stores a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Unit

Vector = NDArray[np.float32]
Span = tuple[int, int]
Scalar = str | int | float | bool | None
Facts = Mapping[str, Scalar]
"""Further data a system keeps about a node, by name; plain JSON values."""


def as_number(facts: Facts, name: str, missing: float = 0.0) -> float:
    """A fact as a number; ``missing`` where it is absent or no number."""
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else missing


@dataclass(frozen=True, slots=True, eq=False)
class Add:
    """A node appears. ``node`` must equal the number of nodes added before it.

    ``span`` is half-open in units, ``vector`` float32 (d,). ``kind`` tells nodes apart in
    systems that have more than units and summaries ("entity", "theme", "event"); ``facts``
    is the system's further data.
    """

    node: int
    level: int
    span: Span
    text: str
    vector: Vector
    kind: str = ""
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """``child`` becomes the last child of ``parent``."""

    parent: int
    child: int


@dataclass(frozen=True, slots=True)
class Unlink:
    """``child`` stops being a child of ``parent``."""

    parent: int
    child: int


@dataclass(frozen=True, slots=True, eq=False)
class Revise:
    """A node's span, annotation and embedding are replaced; its level and facts too,
    where given."""

    node: int
    span: Span
    text: str
    vector: Vector
    level: int | None = None
    facts: Facts | None = None


@dataclass(frozen=True, slots=True)
class Retire:
    """A node leaves the structure; it must have no edges and relations left."""

    node: int


@dataclass(frozen=True, slots=True)
class Relate:
    """A typed connection that is no parenthood (two entities, two distant recurrences).

    Sets ``weight`` and ``facts`` of the relation (source, target, label); weight 0 removes it.
    Relations carry no coverage and no level.
    """

    source: int
    target: int
    label: str
    weight: float = 1.0
    facts: Facts = field(default_factory=dict, hash=False)


Event = Add | Link | Unlink | Revise | Retire | Relate

NOT_ASKED = "not asked"
"""Label of a candidate that was not judged, because the choice was made before its turn."""

_DIGITS = (2, 17)  # of numbers; so many tell any two of the size of a cosine apart


def told_apart(score: float, threshold: float) -> tuple[str, str]:
    """A score and the threshold it is held against, as texts that differ where the numbers do:
    with two decimals or as many more as that takes. A minus is a minus sign; nothing is −0.00."""
    for digits in range(*_DIGITS):
        texts = _fixed(score, digits), _fixed(threshold, digits)
        if texts[0] != texts[1] or score == threshold:
            break
    return texts


def _fixed(value: float, digits: int) -> str:
    # Adding 0 takes the sign of a zero that is negative.
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of one candidate. ``score`` and ``threshold`` are on the compatibility
    model's own scale; both may be absent (a language model gives only a ``label``)."""

    node: int
    score: float | None = None
    threshold: float | None = None
    label: str = ""

    @property
    def numbers(self) -> tuple[str | None, str | None]:
        """Score and threshold as they are shown, told apart; None for what is absent."""
        score, threshold = self.score, self.threshold
        if score is not None and threshold is not None:
            return told_apart(score, threshold)
        least = _DIGITS[0]
        return (
            None if score is None else _fixed(score, least),
            None if threshold is None else _fixed(threshold, least),
        )

    @property
    def judged(self) -> bool:
        """Whether a model or score judged the candidate."""
        return self.score is not None or self.label != NOT_ASKED


@dataclass(frozen=True, slots=True)
class Decision:
    """The choice of a step: the candidates from low to high level, the node chosen (None
    where none was compatible) and the reason as one sentence (SegTreeMem §4.2)."""

    candidates: tuple[Judgement, ...]
    chosen: int | None
    why: str

    def placed(self, place: Callable[[int], int | None]) -> Decision:
        """The decision about what ``place`` gives for its nodes; those with None are left out."""
        judged = [(item, place(item.node)) for item in self.candidates]
        kept = tuple(replace(item, node=node) for item, node in judged if node is not None)
        chosen = None if self.chosen is None else place(self.chosen)
        return replace(self, candidates=kept, chosen=chosen)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a step: model calls, tokens, nodes touched, time.

    ``calls`` and ``tokens`` count the prompts a model answered and their tokens, whether the
    answer came from the server or the cache (0 offline), ``annotated`` the annotations
    written, ``inspected`` the candidates really judged, ``modified`` the nodes added or
    revised. ``output`` is the part of ``tokens`` the model wrote. ``embedded`` counts the
    texts that a paid model embedded for the first time in this build, the unit's own among
    them, and ``embedding_tokens`` what it charged for them, now or when they were cached.
    ``decided`` and ``written`` count decisions and texts that were asked of a model and made
    by it, ``decided_instead`` and ``written_instead`` those made offline in their place.

    The rest depends on the run, not on the memory, and is never saved: ``seconds`` of wall
    time, and ``cached``, how many answers and embedded texts came from a cache, in which
    case ``seconds`` says nothing about the model.
    """

    calls: int = 0
    tokens: int = 0
    annotated: int = 0
    inspected: int = 0
    modified: int = 0
    output: int = 0
    embedded: int = 0
    embedding_tokens: int = 0
    decided: int = 0
    decided_instead: int = 0
    written: int = 0
    written_instead: int = 0
    seconds: float = 0.0
    cached: int = 0

    @property
    def by_model(self) -> str:
        """How much of what a model was asked for it made, in words; "" where none was asked."""
        parts = (
            ("decisions", self.decided, self.decided_instead),
            ("texts", self.written, self.written_instead),
        )
        told = [
            f"{noun} {made:,} of {made + instead:,}"
            for noun, made, instead in parts
            if made + instead
        ]
        return f"{', '.join(told)} by the model" if told else ""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Everything that happened for one unit.

    ``operation`` is "" for the arrival of the unit. In files of earlier versions it names what
    was done to the memory after that unit (a deletion, a merge)."""

    unit: Unit
    note: str
    decision: Decision | None
    events: tuple[Event, ...]
    cost: Cost = field(default_factory=Cost)
    operation: str = ""
