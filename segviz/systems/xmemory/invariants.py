"""Checks that themes partition the statements and stay within their size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from segviz.tree import Structure
from segviz.tree.invariants import Violation, fact


def statements_are_parted(s: Structure) -> Iterator[Violation]:
    """Checks that every message has one episode and every statement one theme.

    A theme has at most ``most`` statements (0: any number) and records its size.
    """
    for node in np.flatnonzero(s.active).tolist():
        owner = {"": "episode", "semantic": "theme"}.get(s.kind[node])
        if owner is not None:
            kinds = [s.kind[parent] for parent in s.parents[node]]
            if kinds != [owner]:
                yield Violation("partition", node, f"one {owner} above", str(kinds))
        if s.kind[node] == "theme":
            size = len(s.children[node])
            most = fact(s, node, "most")
            if not (size <= most or most == 0):
                yield Violation("partition", node, f"{most:g} members", str(size))
            if size != s.facts[node].get("size"):
                yield Violation("partition", node, f"size {size}", str(s.facts[node].get("size")))
