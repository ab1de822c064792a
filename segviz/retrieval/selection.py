"""Ranks nodes by score and takes the best (SegTreeMem Algorithm 2, line 14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from segviz.tree import Structure


def admissible(structure: Structure, levels: Collection[int] | None = None) -> NDArray[np.bool_]:
    """The paper's 𝒢, bool (n,): active nodes on the given levels (None: all)."""
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
    return _one_per_text(order, structure, distinct)


def _one_per_text(
    order: NDArray[np.int64], structure: Structure, distinct: bool
) -> NDArray[np.int64]:
    """The first node in ``order`` of each text; ``order`` itself unless ``distinct``."""
    if not distinct:
        return order
    _, leading = np.unique(structure.carrier[order], return_index=True)
    return order[np.sort(leading)]


def top_k(
    scores: NDArray[np.float64],
    structure: Structure,
    k: int,
    levels: Collection[int] | None = None,
    distinct: bool = True,
    budget: int | None = None,
) -> list[int]:
    """The first nodes of :func:`ranking`, best first (see :func:`taken`).

    Raises ValueError when ``k`` or ``budget`` is no whole number of at least 1.
    """
    if budget is None:
        check_count("k", k)
        return [int(node) for node in first(scores, structure, k, levels, distinct)]
    return taken(ranking(scores, structure, levels, distinct), structure.text, k, budget)


def first(
    scores: NDArray[np.float64],
    structure: Structure,
    count: int,
    levels: Collection[int] | None = None,
    distinct: bool = True,
) -> NDArray[np.int64]:
    """The first ``count`` nodes of :func:`ranking`, without ordering the others: O(n)."""
    # Partition by score, then sort only the nodes up to the cut, ties included. Removing
    # repeated texts may leave too few: then the cut moves four times as far. Nothing
    # compares with a NaN at the cut, so then all nodes are ranked.
    competing = admissible(structure, levels)
    nodes = None if competing.all() else np.flatnonzero(competing)
    lowered = -scores if nodes is None else -scores[nodes]
    wanted = 4 * count if distinct else count
    while wanted < len(lowered):
        limit = np.partition(lowered, wanted)[wanted]
        if np.isnan(limit):
            break
        near = np.flatnonzero(lowered <= limit)
        best = near[np.argsort(lowered[near], kind="stable")]
        best = _one_per_text(best if nodes is None else nodes[best], structure, distinct)
        if len(best) >= count:
            return best[:count]
        wanted *= 4
    return ranking(scores, structure, levels, distinct)[:count]


def ranks(
    nodes: Sequence[int],
    scores: NDArray[np.float64],
    structure: Structure,
    levels: Collection[int] | None = None,
    distinct: bool = True,
) -> list[int]:
    """1-based places of these nodes in :func:`ranking`, O(n) each; 0 for one that is not
    admissible. With ``distinct``, the place of the best node with the same text."""
    # A group is the nodes that share a text (one node each unless `distinct`); its score is
    # that of its best member. The place of a group is 1 + the groups with a greater score +
    # the groups tied with it whose best member is older, i.e. comes earlier in `rows`.
    rows = np.flatnonzero(admissible(structure, levels))
    group = structure.carrier if distinct else np.arange(len(structure))
    best = np.full(len(structure), -np.inf)
    np.maximum.at(best, group[rows], scores[rows])
    competes = np.zeros(len(structure), dtype=np.bool_)
    competes[group[rows]] = True
    heads = best[competes]
    places = []
    for node in nodes:
        mine = int(group[node])
        if not competes[mine]:
            places.append(0)
            continue
        level_with = rows[(scores[rows] == best[mine]) & (best[group[rows]] == best[mine])]
        tied = list(dict.fromkeys(group[level_with].tolist()))
        places.append(1 + int((heads > best[mine]).sum()) + tied.index(mine))
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


def check_count(name: str, value: int) -> None:
    """Raise ValueError naming the setting unless it is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} is {value!r}; it must be a whole number, at least 1")


def level_distribution(structure: Structure, nodes: Collection[int]) -> dict[int, int]:
    """Number of ``nodes`` on each level, for every level of the structure."""
    counts = Counter(int(structure.level[node]) for node in nodes)
    highest = int(structure.level.max(initial=0))
    return {level: counts.get(level, 0) for level in range(highest + 1)}
