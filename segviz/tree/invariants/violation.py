"""One broken law, and what a law is: a structure to its violations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from segviz.tree.structure import Structure


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken law: which, at which node (-1: the whole structure), what was expected
    and what was found."""

    law: str
    node: int
    expected: str
    found: str

    def __str__(self) -> str:
        """``spans: node 4: expected …, found …``."""
        return f"{self.law}: node {self.node}: expected {self.expected}, found {self.found}"


Law = Callable[[Structure], Iterator[Violation]]
