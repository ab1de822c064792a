"""What can be done to a memory beside hearing a unit: settle, change, join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from segviz.protocols.models import Services
from segviz.protocols.retrieval import View
from segviz.tree import Event, Step, Structure


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
