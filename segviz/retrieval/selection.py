"""Ranks nodes by score and takes the best (SegTreeMem Algorithm 2, line 14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from segviz.tree import Structure


def admissible(structure: Structure, levels: Collection[int] | None = None) -> NDArray[np.bool_]:
    """The paper's 𝒢, bool (n,): active nodes but ghosts on the given levels (None: all)."""
    if levels is None:
        return structure.retrievable
    if isinstance(levels, str) or not isinstance(levels, Collection):
        raise ValueError(f"levels is {levels!r}; it must be a collection of level numbers or None")
    return structure.retrievable & np.isin(structure.level, sorted(levels))


def ranking(
    scores: NDArray[np.float64],
    structure: Structure,
    levels: Collection[int] | None = None,
) -> NDArray[np.int64]:
    """Admissible nodes from best to worst; a tie goes to the older node (smaller id).

    On a collapsed structure a same-text chain is one node; on the other this is the literal
    Algorithm 2.
    """
    order = np.argsort(-scores, kind="stable")
    return np.asarray(order[admissible(structure, levels)[order]])


def top_k(
    scores: NDArray[np.float64],
    structure: Structure,
    k: int,
    levels: Collection[int] | None = None,
    budget: int | None = None,
) -> list[int]:
    """The first nodes of :func:`ranking`, best first (see :func:`taken`).

    Raises ValueError when ``k`` or ``budget`` is no whole number of at least 1.
    """
    return taken(ranking(scores, structure, levels), structure.text, k, budget)


def first(
    scores: NDArray[np.float64],
    structure: Structure,
    count: int,
    levels: Collection[int] | None = None,
) -> NDArray[np.int64]:
    """Returns the first ``count`` nodes of :func:`ranking`."""
    return ranking(scores, structure, levels)[:count]


def ranks(
    nodes: Sequence[int],
    scores: NDArray[np.float64],
    structure: Structure,
    levels: Collection[int] | None = None,
) -> list[int]:
    """1-based places of these nodes in :func:`ranking`, O(n) each; 0 for one that is not
    admissible."""
    rows = np.flatnonzero(admissible(structure, levels))
    competing = scores[rows]
    places = []
    for node in nodes:
        allowed = levels is None or structure.level[node] in levels
        if not (structure.retrievable[node] and allowed):
            places.append(0)
            continue
        older = competing[: np.searchsorted(rows, node)] == scores[node]
        better = competing > scores[node]
        places.append(1 + int(np.count_nonzero(better)) + int(np.count_nonzero(older)))
    return places


def taken(
    ranked: Sequence[int] | NDArray[np.int64],
    texts: Sequence[str],
    k: int,
    budget: int | None = None,
) -> list[int]:
    """The first ``k`` of the nodes ``ranked`` best first, or, with a ``budget``, as many as
    its tokens pay for, whatever ``k`` is.

    Taking ends at the first node whose text does not fit, as in RAPTOR's collapsed retrieval
    (Sarthi et al. 2024, §3): no node is skipped, so a best node longer than the budget gives
    an empty list. Tokens are :func:`estimated_tokens`. ValueError as for :func:`top_k`.
    """
    check_count("k", k)
    if budget is None:
        return [int(node) for node in ranked[:k]]
    check_count("budget", budget)
    kept: list[int] = []
    left = budget
    for node in ranked:
        left -= estimated_tokens(texts[node])
        if left < 0:
            break
        kept.append(int(node))
    return kept


def estimated_tokens(text: str) -> int:
    """Tokens of a text, estimated without a model as a quarter of its characters, rounded up;
    the same for every system, so that budgets compare."""
    return (len(text) + 3) // 4


_WHOLE = (int, np.integer)


def check_count(name: str, value: int) -> None:
    """Raise ValueError naming the setting unless it is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, _WHOLE) or value < 1:
        raise ValueError(f"{name} is {value!r}; it must be a whole number, at least 1")


def level_distribution(structure: Structure, nodes: Collection[int]) -> dict[int, int]:
    """Number of ``nodes`` on each level, for every level of the structure."""
    counts = Counter(int(structure.level[node]) for node in nodes)
    highest = int(structure.level.max(initial=0))
    return {level: counts.get(level, 0) for level in range(highest + 1)}
