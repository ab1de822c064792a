"""A system's own retrieval: what it sees of a memory, what it finds, and how that fades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Unit
from segviz.protocols.models import Services
from segviz.tree import Facts, Structure

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
