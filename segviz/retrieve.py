"""Stage: the best nodes for a question (SegTreeMem Algorithm 2, line 14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from segviz.structure import Structure


def admissible(structure: Structure, levels: Collection[int] | None = None) -> NDArray[np.bool_]:
    """Bool (n,): active nodes on the given levels (None: all). This is the paper's 𝒢."""
    if levels is None:
        return structure.active
    if isinstance(levels, str) or not isinstance(levels, Collection):
        raise ValueError(f"levels is {levels!r}; it must be a collection of level numbers or None")
    return structure.active & np.isin(structure.level, sorted(levels))


def ranking(
    scores: NDArray[np.float64],
    structure: Structure,
    levels: Collection[int] | None = None,
    distinct: bool = True,
) -> NDArray[np.int64]:
    """Admissible nodes from best to worst; a tie goes to the older node (smaller id).

    ``distinct`` counts a span once: of a node and the unary chain above it, which carry
    the same text, only the best stays (the older on a tie). ``distinct=False`` is the
    literal Algorithm 2.
    """
    order = np.argsort(-scores, kind="stable")
    order = order[admissible(structure, levels)[order]]
    if distinct:
        _, first = np.unique(structure.carrier[order], return_index=True)
        order = order[np.sort(first)]
    return order


def top_k(
    scores: NDArray[np.float64],
    structure: Structure,
    k: int,
    levels: Collection[int] | None = None,
    distinct: bool = True,
) -> list[int]:
    """The first ``k`` nodes of :func:`ranking`, best first (fewer when there are fewer).

    Raises ValueError when ``k`` is no whole number of at least 1.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k is {k!r}; it must be a whole number, at least 1")
    return [int(node) for node in ranking(scores, structure, levels, distinct)[:k]]


def level_distribution(structure: Structure, nodes: Collection[int]) -> dict[int, int]:
    """How many of ``nodes`` lie on each level, for every level of the structure."""
    counts = Counter(int(structure.level[node]) for node in nodes)
    highest = int(structure.level.max(initial=0))
    return {level: counts.get(level, 0) for level in range(highest + 1)}
