"""Contracts of retrieval: what scores nodes, and what a system with its own retrieval returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Services
from segviz.conversation import Unit
from segviz.tree import Structure

Scorer = Callable[[Sequence[str]], NDArray[np.float64]]
"""Raw relevance of every node to each question: q texts to float64 (q, n)."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Stage of a system's own retrieval; ``note`` is a sentence on what happened.

    ``nodes`` were inspected, best first, with ``scores``, one per node or none; ``kept`` went on.
    """

    name: str
    note: str
    nodes: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Retrieval:
    """Result of a system's own retrieval: nodes that may be ``ranked``, best first, by ``stages``.

    ``scores``, float64 (n,), are ≥ 0; 0 for nodes not reached.
    """

    scores: NDArray[np.float64]
    ranked: tuple[int, ...]
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class MemoryView:
    """Read-only memory for a system's own retrieval.

    Attributes:
        structure: the memory at one moment.
        units: the units so far.
        relevance: the chosen relevance model; maps q questions to raw scores, float64 (q, n).
        services: embedder, chat model and prompts.
        k: number of nodes wanted.
    """

    structure: Structure
    units: Sequence[Unit]
    relevance: Scorer
    services: Services
    k: int


@runtime_checkable
class Retriever(Protocol):
    """System that has its paper's retrieval, an alternative to ranking all nodes by relevance.

    Its class variable ``relevance`` names the relevance its paper uses; questions that name none
    are scored by it.
    """

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Retrieves the evidence for a question. Deterministic; the memory is not changed."""
        ...
