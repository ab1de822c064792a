"""Ranks nodes for many questions at once and measures the rankings. Pure functions.

Shapes: q questions, n nodes, m ranked nodes. ``order`` is int64 (q, m), node ids best
first; ``relevant`` is bool (q, m), True where the ranked node is gold. All gold nodes
must be in the ranking, so a row's sum is its number of gold nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def order(scores: Floats, nodes: Ints) -> Ints:
    """Rank ``nodes`` (m,), ascending ids, by ``scores`` (q, n): best first, int64 (q, m).

    A tie goes to the older node, as in ``segviz.retrieval.selection.ranking``.
    """
    return np.asarray(nodes[np.argsort(-scores[:, nodes], axis=1, kind="stable")])


def among(ranked: Ints, keep: Bools) -> Ints:
    """The ranking of only those nodes for which ``keep`` (n,) holds, int64 (q, kept)."""
    width = int(keep[ranked[:1]].sum())
    return np.asarray(ranked[keep[ranked]].reshape(len(ranked), width))


def best_of_groups(ranked: Ints, group: NDArray[np.integer]) -> Ints:
    """Keep in every row only the best node of each group, int64 (q, groups).

    ``group`` (n,) holds a label per node; with the carrier this is the ``distinct`` of
    ``segviz.retrieval.selection.ranking``, for all questions at once.
    """
    # Every row ranks the same nodes. `place[i, node]` is a node's place in row i; with the nodes
    # sorted by group, `reduceat` takes the best place of each group in every row at once, and
    # the sorted places select the survivors in their order.
    q, m = ranked.shape
    if not q or not m:
        return ranked
    nodes = np.sort(ranked[0])
    by_group = nodes[np.argsort(group[nodes], kind="stable")]
    starts = np.flatnonzero(np.diff(group[by_group], prepend=group[by_group[0]] - 1))
    if len(starts) == m:
        return ranked
    place = np.zeros((q, int(nodes[-1]) + 1), dtype=np.int64)
    np.put_along_axis(place, ranked, np.broadcast_to(np.arange(m), (q, m)), axis=1)
    best = np.minimum.reduceat(place[:, by_group], starts, axis=1)
    best.sort(axis=1)
    return np.asarray(np.take_along_axis(ranked, best, axis=1))


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """``part / whole`` as float64, 0 where ``whole`` is 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def recall(relevant: Bools, k: int) -> Floats:
    """Gold nodes among the first ``k`` / gold nodes, (q,); 0 without a gold node."""
    return ratio(relevant[:, :k].sum(axis=1), relevant.sum(axis=1))


def reciprocal_rank(relevant: Bools) -> Floats:
    """1 / rank of the best gold node in the whole ranking, (q,); 0 without a gold node."""
    if not relevant.shape[1]:
        return np.zeros(len(relevant))
    return np.where(relevant.any(axis=1), 1.0 / (1 + relevant.argmax(axis=1)), 0.0)


def ndcg(relevant: Bools, k: int) -> Floats:
    """nDCG@k with binary relevance, (q,): Σ 1/log2(rank + 1) over gold nodes among the
    first ``k``, divided by the same for the ideal order; 0 without a gold node."""
    discount = 1.0 / np.log2(np.arange(2, 2 + min(k, relevant.shape[1])))
    ideal = np.concatenate([[0.0], np.cumsum(discount)])
    best = ideal[np.minimum(relevant.sum(axis=1), len(discount))]
    return ratio((relevant[:, :k] * discount).sum(axis=1), best)


def budget_recall(
    ranked: Ints,
    covered: Callable[[int], Collection[int]],
    gold: Sequence[Collection[int]],
    budget: int,
) -> Floats:
    """Gold units covered / gold units within a budget of units, (q,); 0 without gold.

    ``covered(node)`` are the units below a node, ``gold[i]`` the gold units of question
    i. Nodes of any level are taken in rank order while their union holds at most ``budget``
    units; taking ends at the first node that does not fit, so a root ranked first gives 0.
    This keeps wide nodes from scoring by covering everything.
    """
    values = np.zeros(len(ranked))
    for i, wanted in enumerate(gold):
        if not wanted:
            continue
        taken: set[int] = set()
        for node in ranked[i].tolist():
            larger = taken.union(covered(node))
            if len(larger) > budget:
                break
            taken = larger
        values[i] = len(taken.intersection(wanted)) / len(wanted)
    return values


def level_shares(tops: Sequence[Sequence[int]], level: NDArray[np.integer]) -> dict[int, float]:
    """Retrieved-level distribution: the share of all returned nodes on each level, for
    every level up to the highest in ``level`` (n,). ``tops`` are the nodes returned for
    each question; all shares are 0 when there are none."""
    highest = int(level.max(initial=0))
    nodes = np.fromiter(chain.from_iterable(tops), dtype=np.int64)
    counts = np.bincount(level[nodes], minlength=highest + 1)
    return {at: float(count) / max(nodes.size, 1) for at, count in enumerate(counts)}
