"""Defines an invariant, a function from a structure to its violations, and Violation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from segviz.tree.structure import Structure


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken invariant: which, at which node (-1: the whole structure), what was expected
    and what was found."""

    invariant: str
    node: int
    expected: str
    found: str

    def __str__(self) -> str:
        """``spans: node 4: expected …, found …``."""
        return f"{self.invariant}: node {self.node}: expected {self.expected}, found {self.found}"


Invariant = Callable[[Structure], Iterator[Violation]]
