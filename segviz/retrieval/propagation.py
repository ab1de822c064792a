"""Propagates scores over the structure (SegTreeMem §4.3.1, equations 3 and 4).

A policy P names the allowed transitions between nodes. W_P is 1 for each of them, every column
divided by its sum: a node shares its score equally among its targets, and a node without a
target passes nothing on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.construct import check_number
from segviz.handover import built_in, calling, check_pairs
from segviz.tree import IntArray, Structure
from segviz.tree.structure import once_per_structure
from segviz.waiting import waited_for

Scores = NDArray[np.float64]
Operator = Any
"""A ``scipy.sparse.csr_array``, which is imported with the first question."""


class _Policy:
    """Base of policies: the browser can compute them, too, and leaves can receive scores."""

    live: ClassVar[bool] = True
    reaches_leaves: ClassVar[bool] = True


class NoPropagation(_Policy):
    """Policy without transitions: collapsed retrieval, the paper's *no-propagation*."""

    label: ClassVar[str] = "none: every node for itself (collapsed retrieval)"

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """Returns no transition, shape (0, 2)."""
        return edges[:0]


class TopDown(_Policy):
    """Policy from parents to children: a broad match points to its details."""

    label: ClassVar[str] = "top-down: parents to children"

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """Returns (m, 2) [source, target]: every parent to each of its children."""
        return edges


class BottomUp(_Policy):
    """Policy from children to parents: a matching node raises the scores of its ancestors."""

    label: ClassVar[str] = "bottom-up: children to parents"
    reaches_leaves: ClassVar[bool] = False

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """Returns (m, 2) [source, target]: every child to each of its parents."""
        return edges[:, ::-1]


class Both(_Policy):
    """Policy along every edge in both directions; in two hops a score reaches siblings.

    Source: ours.
    """

    label: ClassVar[str] = "both: along every edge, so siblings support each other"

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """Returns (2m, 2) [source, target]: every edge in both directions."""
        return np.concatenate([edges, edges[:, ::-1]])


class Neighbours(_Policy):
    """Policy from each node to the previous and the next node of its level.

    Source: ours. It uses the order of time instead of the tree, so it needs the structure's levels
        and spans. Nodes of a level are ordered by their first unit, then by id.
    """

    label: ClassVar[str] = "neighbours: to the node before and after on the same level"

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """Returns (k, 2) [source, target]: every node and its neighbours.

        Raises:
            ValueError: ``structure`` is missing.
        """
        if structure is None:
            raise ValueError(
                "policy 'neighbours' needs levels and spans, which edges do not contain: pass "
                "structure=…"
            )
        nodes = np.flatnonzero(structure.retrievable)
        # Sorted by level, then start, then id, neighbours are next to each other; only a pair
        # across two levels must be dropped.
        order = nodes[np.lexsort((nodes, structure.start[nodes], structure.level[nodes]))]
        left, right = order[:-1], order[1:]
        same_level = structure.level[left] == structure.level[right]
        pairs = np.column_stack([left[same_level], right[same_level]])
        return np.concatenate([pairs, pairs[:, ::-1]]).astype(np.int64)


POLICIES: dict[str, Callable[[], Any]] = {
    "none": NoPropagation,
    "top-down": TopDown,
    "bottom-up": BottomUp,
    "both": Both,
    "neighbours": Neighbours,
}
"""Name to policy; ``transitions`` of an instance are the non-zero entries of W_P. ``live``: the
browser can compute the policy, too. ``reaches_leaves``: a leaf can receive a score, so that the
policy can change a measure over leaves."""

_MAX_HOPS = 999


@dataclass(frozen=True, eq=False)
class Propagated:
    """Scores before and after propagation.

    ``final`` is s̃, float64 (n,), or (q, n) for q questions; ``rows`` are s⁽⁰⁾ … s⁽ᴴ⁾, alike.
    """

    final: Scores
    rows: tuple[Scores, ...]

    @property
    def hops(self) -> Scores:
        """Scores after 0 to H hops: the ``rows`` as one array, (H + 1, n) or (H + 1, q, n)."""
        return np.stack(self.rows)


def check_policy(name: str, policy: str) -> str:
    """Returns the policy; ValueError lists the legal ones."""
    if not isinstance(policy, str) or policy not in POLICIES:
        raise ValueError(f"unknown {name} {policy!r}; choose one of {', '.join(POLICIES)}")
    return policy


def check_alpha(name: str, alpha: float) -> float:
    """Returns the decay; ValueError unless it lies in [0, 1)."""
    below = math.nextafter(1, 0)
    expected = "be a number, at least 0 and below 1"
    return float(check_number(name, alpha, expected, high=below))


def check_horizon(name: str, hops: int) -> int:
    """Returns the number of hops; ValueError unless it is whole and in [0, 999]."""
    expected = f"be a whole number of hops, 0 or more, at most {_MAX_HOPS}"
    return int(check_number(name, hops, expected, high=_MAX_HOPS, whole=True))


def check_setting(policy: str, alpha: float, horizon: int) -> None:
    """Checks a propagation setting; ValueError names the value and the legal range of a bad one."""
    check_policy("policy", policy)
    check_alpha("alpha", alpha)
    check_horizon("horizon", horizon)


def propagate(
    initial: Scores,
    edges: IntArray,
    policy: str = "top-down",
    alpha: float = 0.1,
    horizon: int = 2,
    structure: Structure | None = None,
) -> Propagated:
    """Spreads scores over edges: s⁽ᵏ⁾ = W_P s⁽ᵏ⁻¹⁾, s̃ = Σ αᵏ s⁽ᵏ⁾ / Σ αᵏ.

    Takes O(horizon · q · (n + m)) time, without recursion. With horizon 0, alpha 0 or policy
    ``none``, ``final`` equals ``initial`` bit for bit.

    Args:
        initial: s⁽⁰⁾, float64 (n,), or (q, n) for q questions at once. Any non-negative scores;
            they are not normalised here.
        edges: int (m, 2) rows [parent, child]. Several parents and roots are allowed; a repeated
            row counts once.
        policy: a name from ``POLICIES``.
        alpha: decay per hop, in [0, 1).
        horizon: number of hops, 0 … 999.
        structure: needed by the policy ``neighbours`` alone.

    Returns:
        The final scores and those of each hop.

    Raises:
        ValueError: the policy is unknown, alpha or horizon is out of range, a score is not finite,
            or an edge is no pair of two nodes of ``initial``.

    Source: SegTreeMem §4.3.1, equations 3 and 4; Algorithm 2, lines 7 to 13. Departs in one
        convention: under ``none`` there is no operator, so s̃ = s⁽⁰⁾ and not s⁽⁰⁾ / Σ αᵏ. The
        ranking is the same, and scores stay comparable.
    """
    check_setting(policy, alpha, horizon)
    if not np.isfinite(initial).all():
        raise ValueError("a score is not finite; expected non-negative numbers")
    if structure is None or edges is not structure.edges:
        edges = _checked(edges)
    hops = spread(initial, edges, policy, horizon, structure)
    return Propagated(combine(hops, policy, alpha), hops)


def _checked(edges: Any) -> NDArray[Any]:
    """Returns edges as int64 (m, 2); raises ValueError for a fraction or a self-loop."""
    given = np.asarray(edges) if len(edges) else np.zeros((0, 2))
    if given.shape[1:] != (2,):
        raise ValueError(f"the edges have the shape {given.shape}; expected (m, 2)")
    pairs = given.astype(np.int64)
    if not np.array_equal(pairs, given):
        raise ValueError("an edge names a node by a number that is not whole")
    if len(same := pairs[pairs[:, 0] == pairs[:, 1]]):
        raise ValueError(f"node {same[0, 0]} is its own parent")
    return pairs


def spread(
    initial: Scores, edges: IntArray, policy: str, horizon: int, structure: Structure | None = None
) -> tuple[Scores, ...]:
    """Returns the hops s⁽⁰⁾ … s⁽ᴴ⁾ of :func:`propagate`, which do not depend on alpha."""
    hops = [np.asarray(initial, dtype=np.float64)]
    n = hops[0].shape[-1]
    transition = operator(n, edges, policy, structure)
    for _ in range(int(horizon)):
        # Algorithm 2, line 10: s⁽ᵏ⁾ = W_P s⁽ᵏ⁻¹⁾. Scores have a row per question, but the sparse
        # product needs the nodes first.
        hops.append(np.ascontiguousarray((transition @ hops[-1].T).T))
    return tuple(hops)


def _build_operator(n: int, edges: IntArray, policy: str, structure: Structure | None) -> Operator:
    """Returns the transitions of a policy as a column-normalised sparse matrix (n, n)."""
    from scipy.sparse import csr_array  # slow to import, and the first page does not need it

    # The edges that scores may follow: between existing nodes, without ghosts.
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    if pairs.size and not (0 <= pairs.min() and pairs.max() < n):
        raise ValueError(f"edges name nodes {pairs.min()}..{pairs.max()}; there are {n} nodes")
    if structure is not None and structure.ghost.any():  # ghosts neither give nor receive scores
        pairs = pairs[~structure.ghost[pairs].any(axis=1)]
    # Equation 3: one entry per transition, at row v (target) and column u (source).
    kind = POLICIES[policy]
    with calling(kind):
        if built_in(kind):
            moves = kind().transitions(pairs, structure)
        else:
            moves = waited_for(lambda: kind().transitions(pairs, structure))
            moves = check_pairs(moves, n, kind)
    source, target = moves.T
    transitions = csr_array((np.ones(len(source)), (target, source)), shape=(n, n))
    transitions.data[:] = 1.0  # SciPy adds up repeated entries; a repeated edge counts once
    # Each column is divided by its sum: a node shares its score equally among its targets.
    transitions.data /= transitions.sum(axis=0)[transitions.indices]
    return transitions


def operator(n: int, edges: IntArray, policy: str, structure: Structure | None = None) -> Operator:
    """Returns W_P of a policy over ``n`` nodes (equation 3), a sparse float64 (n, n) matrix.

    Entry [v, u] is the share of node u's score that node v receives. Cached for the edges of a
    ``structure``.

    Raises:
        ValueError: an edge names a node outside 0 … n - 1.
    """
    if structure is None or edges is not structure.edges or n != len(structure):
        return _build_operator(n, edges, policy, structure)
    return _own_operator(structure, policy)


@once_per_structure(lambda policy: policy)
def _own_operator(structure: Structure, policy: str) -> Operator:
    """Returns W_P of a policy over the nodes and edges of a structure."""
    return _build_operator(len(structure), structure.edges, policy, structure)


def combine(
    hops: Sequence[Scores], policy: str, alpha: float, horizon: int | None = None
) -> Scores:
    """Returns s̃ from the hops s⁽⁰⁾ … (equation 4).

    Args:
        hops: the scores of each hop, float64 (n,) or (q, n) each.
        policy: a name from ``POLICIES``; under ``none`` the result is a copy of s⁽⁰⁾.
        alpha: decay in [0, 1).
        horizon: use the first ``horizon`` + 1 hops; None for all.

    Returns:
        s̃, of the shape of a hop.
    """
    final = np.array(hops[0])
    if policy == "none":
        return final
    # Algorithm 2, lines 9 to 13. The sum runs from hop to hop, as in the browser, so that both give
    # the same bits.
    weight = whole = 1.0
    for hop in hops[1:] if horizon is None else hops[1 : horizon + 1]:
        weight *= float(alpha)
        whole += weight
        final += weight * hop
    final /= whole
    return final
