"""Defines the history of a build as data: events, decisions, costs, steps.

A system yields one :class:`Step` per unit. ``segviz.tree.replayer`` applies their events to a
structure; nothing else stores a tree.
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
    """Returns the fact ``name`` as a float; ``missing`` if it is absent or no number."""
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else missing


@dataclass(frozen=True, slots=True, eq=False)
class Add:
    """Event that adds a node. ``node`` must equal the number of nodes added before it.

    ``span`` is half-open in units, ``vector`` float32 (d,). ``kind`` distinguishes nodes in systems
    that have more than units and summaries ("entity", "theme", "event"). ``facts`` is the system's
    further data.
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
    """Event that makes ``child`` the last child of ``parent``."""

    parent: int
    child: int


@dataclass(frozen=True, slots=True)
class Unlink:
    """Event that removes ``child`` from the children of ``parent``."""

    parent: int
    child: int


@dataclass(frozen=True, slots=True, eq=False)
class Revise:
    """Event that replaces a node's span, annotation and embedding; its level and facts if given."""

    node: int
    span: Span
    text: str
    vector: Vector
    level: int | None = None
    facts: Facts | None = None


@dataclass(frozen=True, slots=True)
class Retire:
    """Event that removes a node, which must have neither edges nor relations any more."""

    node: int


@dataclass(frozen=True, slots=True)
class Relate:
    """Event that relates two nodes by a label, for connections other than parent and child.

    Sets ``weight`` and ``facts`` of the relation (source, target, label); weight 0 removes it.
    Relations add no coverage and no level.
    """

    source: int
    target: int
    label: str
    weight: float = 1.0
    facts: Facts = field(default_factory=dict, hash=False)


Event = Add | Link | Unlink | Revise | Retire | Relate

NOT_ASKED = "not asked"
"""Label of a candidate that was not judged, because an earlier one was chosen."""

_DIGITS = (2, 17)  # decimals; 17 distinguish any two floats of the size of a cosine


def told_apart(score: float, threshold: float) -> tuple[str, str]:
    """Formats a score and its threshold so that the texts differ where the numbers do.

    Uses two decimals, or as many more as that takes. Negative numbers have a minus sign (U+2212);
    zero never reads −0.00.
    """
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
    """Judgement of one candidate, a node that a new unit could join.

    ``score`` and ``threshold`` are on the scale of the compatibility model. Both are None if a
    language model judged by a ``label``.
    """

    node: int
    score: float | None = None
    threshold: float | None = None
    label: str = ""

    @property
    def numbers(self) -> tuple[str | None, str | None]:
        """Score and threshold as texts that differ if the numbers do; None for an absent one."""
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
        """True if a model or score judged the candidate."""
        return self.score is not None or self.label != NOT_ASKED


@dataclass(frozen=True, slots=True)
class Decision:
    """Choice of the node that a new unit joins (SegTreeMem §4.2), None if none was compatible.

    ``candidates`` are the judged nodes, from low to high level, ``why`` is the reason.
    """

    candidates: tuple[Judgement, ...]
    chosen: int | None
    why: str

    def placed(self, place: Callable[[int], int | None]) -> Decision:
        """Returns the decision with node n as ``place(n)``; candidates at None are left out."""
        judged = [(item, place(item.node)) for item in self.candidates]
        placed = tuple(replace(item, node=node) for item, node in judged if node is not None)
        chosen = None if self.chosen is None else place(self.chosen)
        return replace(self, candidates=placed, chosen=chosen)


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a step: model calls, tokens, nodes touched, time.

    ``calls`` and ``tokens`` count the prompts a model answered and their tokens, from the server or
    the cache (0 offline). ``output`` is the part of ``tokens`` the model wrote. ``annotated``
    counts the annotations written, ``inspected`` the candidates really judged, ``modified`` the
    nodes added or revised. ``decided`` and ``written`` count decisions and texts that were asked of
    a model and made by it, ``decided_instead`` and ``written_instead`` those made offline in their
    place.

    ``seconds`` of wall time and ``cached`` depend on the run and are never saved. ``cached`` counts
    answers from a cache; with any, ``seconds`` says nothing about the model.
    """

    calls: int = 0
    tokens: int = 0
    annotated: int = 0
    inspected: int = 0
    modified: int = 0
    output: int = 0
    decided: int = 0
    decided_instead: int = 0
    written: int = 0
    written_instead: int = 0
    seconds: float = 0.0
    cached: int = 0

    @property
    def by_model(self) -> str:
        """Number of decisions and texts that a model made, in words; "" if none was asked."""
        parts = (
            ("decisions", self.decided, self.decided_instead),
            ("texts", self.written, self.written_instead),
        )
        made_by_model = [
            f"{noun} {made:,} of {made + instead:,}"
            for noun, made, instead in parts
            if made + instead
        ]
        return f"{', '.join(made_by_model)} by the model" if made_by_model else ""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Everything that happened when one unit was added: events, decision and cost.

    ``note`` describes it in a sentence. ``operation`` is "" for the arrival of the unit. In files
    of earlier versions it names an operation on the memory after that unit (a deletion, a merge).
    """

    unit: Unit
    note: str
    decision: Decision | None
    events: tuple[Event, ...]
    cost: Cost = field(default_factory=Cost)
    operation: str = ""
