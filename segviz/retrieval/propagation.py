"""Propagates scores over the structure (SegTreeMem §4.3.1, equations 3 and 4).

A policy P names the allowed transitions between nodes. W_P is 1 for each of them, every column
divided by its sum: a node shares its score equally among its targets, and a node without a
target passes nothing on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.tree import IntArray, Structure

Scores = NDArray[np.float64]
Operator = Any
"""A ``scipy.sparse.csr_array``, which is imported with the first question."""


@dataclass(frozen=True)
class NoPropagation:
    """Scores stay where they are: collapsed retrieval, the paper's *no-propagation*."""

    name: ClassVar[str] = "none"
    label: ClassVar[str] = "none: every node for itself (collapsed retrieval)"
    live: ClassVar[bool] = True
    reaches_leaves: ClassVar[bool] = True

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """No transition, shape (0, 2)."""
        return edges[:0]


@dataclass(frozen=True)
class TopDown:
    """Parents pass their score to their children: a broad match points to its details."""

    name: ClassVar[str] = "top-down"
    label: ClassVar[str] = "top-down: parents to children"
    live: ClassVar[bool] = True
    reaches_leaves: ClassVar[bool] = True

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """(m, 2) [source, target]: every parent to each of its children."""
        return edges


@dataclass(frozen=True)
class BottomUp:
    """Children pass their score to their parent: a match lifts the context around it."""

    name: ClassVar[str] = "bottom-up"
    label: ClassVar[str] = "bottom-up: children to parents"
    live: ClassVar[bool] = True
    reaches_leaves: ClassVar[bool] = False

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """(m, 2) [source, target]: every child to each of its parents."""
        return edges[:, ::-1]


@dataclass(frozen=True)
class Both:
    """Scores travel along every edge in both directions; in two hops they reach siblings.

    Source: ours. Over two hops a leaf supports the leaves beside it under one parent.
    """

    name: ClassVar[str] = "both"
    label: ClassVar[str] = "both: along every edge, so siblings support each other"
    live: ClassVar[bool] = True
    reaches_leaves: ClassVar[bool] = True

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """(2m, 2) [source, target]: every edge there and back."""
        return np.concatenate([edges, edges[:, ::-1]])


@dataclass(frozen=True)
class Neighbours:
    """Nodes pass their score to the nodes before and after them on the same level.

    Source: ours; uses the order of time and not the tree, so it needs the structure's
    levels and spans. On a level, nodes follow each other by start, then by age.
    """

    name: ClassVar[str] = "neighbours"
    label: ClassVar[str] = "neighbours: to the node before and after on the same level"
    live: ClassVar[bool] = True
    reaches_leaves: ClassVar[bool] = True

    def transitions(self, edges: IntArray, structure: Structure | None = None) -> IntArray:
        """(k, 2) [source, target]. ValueError without a structure."""
        if structure is None:
            raise ValueError(
                "policy 'neighbours' needs levels and spans, which edges do not hold: pass "
                "structure=…"
            )
        nodes = np.flatnonzero(structure.retrievable)
        order = nodes[np.lexsort((nodes, structure.start[nodes], structure.level[nodes]))]
        left, right = order[:-1], order[1:]
        beside = structure.level[left] == structure.level[right]
        pairs = np.column_stack([left[beside], right[beside]])
        return np.concatenate([pairs, pairs[:, ::-1]]).astype(np.int64)


POLICIES: dict[str, Callable[[], Any]] = {
    "none": NoPropagation,
    "top-down": TopDown,
    "bottom-up": BottomUp,
    "both": Both,
    "neighbours": Neighbours,
}
"""Name to policy; ``transitions`` of an instance are the non-zero entries of W_P. ``live``:
the browser can compute it too; ``reaches_leaves``: a leaf can receive something, so that a
measure over leaves can see the policy."""


_MAX_HOPS = 999
_NUMBER = (int, float, np.number)


@dataclass(frozen=True, eq=False)
class Propagated:
    """``final`` is s̃, ``rows`` holds s⁽⁰⁾ … s⁽ᴴ⁾, each float64 (n,), or (q, n) for q questions."""

    final: Scores
    rows: tuple[Scores, ...]

    @property
    def hops(self) -> Scores:
        """The ``rows`` as one array, (H + 1, n) or (H + 1, q, n)."""
        return np.stack(self.rows)


def check_setting(policy: str, alpha: float, horizon: int) -> None:
    """Raise ValueError naming value and legal range for an illegal retrieval setting."""
    if not isinstance(policy, str) or policy not in POLICIES:
        raise ValueError(f"unknown policy {policy!r}; choose one of {', '.join(POLICIES)}")
    if not (isinstance(alpha, _NUMBER) and 0 <= alpha < 1):
        raise ValueError(f"alpha is {alpha!r}; it must be a number, at least 0 and below 1")
    if not (isinstance(horizon, _NUMBER) and 0 <= horizon <= _MAX_HOPS and horizon == int(horizon)):
        raise ValueError(
            f"horizon is {horizon!r}; it must be a whole number of hops, 0 or more, at most "
            f"{_MAX_HOPS}"
        )


def propagate(
    initial: Scores,
    edges: IntArray,
    policy: str = "top-down",
    alpha: float = 0.1,
    horizon: int = 2,
    structure: Structure | None = None,
) -> Propagated:
    """Spread ``initial`` over ``edges``: s⁽ᵏ⁾ = W_P s⁽ᵏ⁻¹⁾, s̃ = Σ αᵏ s⁽ᵏ⁾ / Σ αᵏ.

    ``initial`` float64 (n,), or (q, n) for q questions at once, any non-negative scores
    (they are not normalised here); ``edges`` int (m, 2) rows [parent, child], several
    parents and roots allowed, a repeated row counts once; ``alpha`` in [0, 1); ``horizon``
    ≥ 0 hops; ``structure`` is needed by ``neighbours`` alone. With horizon 0, alpha 0 or
    policy ``none``, ``final`` is ``initial`` bit for bit. O(horizon · q · (n + m)), no
    recursion.

    Departs from equation 4 in one convention: under ``none`` there is no operator, so
    s̃ = s⁽⁰⁾ and not s⁽⁰⁾ / Σ αᵏ; the ranking is the same, the scores stay comparable.
    Raises ValueError for an unknown policy, alpha or horizon out of range, or an edge
    that names a node outside ``initial``.
    """
    check_setting(policy, alpha, horizon)
    hops = spread(initial, edges, policy, horizon, structure)
    return Propagated(combine(hops, policy, alpha), hops)


def spread(
    initial: Scores,
    edges: IntArray,
    policy: str,
    horizon: int,
    structure: Structure | None = None,
) -> tuple[Scores, ...]:
    """The hops s⁽⁰⁾ … s⁽ᴴ⁾ alone, each of the shape of ``initial``; they do not depend on alpha."""
    hops = [np.asarray(initial, dtype=np.float64)]
    n = hops[0].shape[-1]
    transition = operator(n, edges, policy, structure)
    for _ in range(int(horizon)):
        # A row per question; the sparse product wants the nodes first.
        hops.append(np.ascontiguousarray((transition @ hops[-1].T).T))
    return tuple(hops)


def _build_operator(n: int, edges: IntArray, policy: str, structure: Structure | None) -> Operator:
    from scipy.sparse import csr_array  # takes a while to import, which the first page need not

    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    if pairs.size and not (0 <= pairs.min() and pairs.max() < n):
        raise ValueError(f"edges name nodes {pairs.min()}..{pairs.max()}; there are {n} nodes")
    if structure is not None and structure.ghost.any():  # nothing is shared with what is not held
        pairs = pairs[~structure.ghost[pairs].any(axis=1)]
    source, target = POLICIES[policy]().transitions(pairs, structure).T
    transitions = csr_array((np.ones(len(source)), (target, source)), shape=(n, n))
    transitions.data[:] = 1.0  # what is repeated counts once
    transitions.data /= transitions.sum(axis=0)[transitions.indices]
    return transitions


def operator(n: int, edges: IntArray, policy: str, structure: Structure | None = None) -> Operator:
    """W_P of a policy over ``n`` nodes (equation 3), a sparse float64 (n, n) matrix: what node v
    gets of node u's score stands at [v, u]. Cached for the edges of a ``structure``.

    ValueError for an edge that names a node outside 0 … n - 1.
    """
    if structure is None or edges is not structure.edges or n != len(structure):
        return _build_operator(n, edges, policy, structure)
    known, key = structure.kept, (operator, policy)
    if key not in known:
        known[key] = _build_operator(n, edges, policy, structure)
    return known[key]


def combine(
    hops: Sequence[Scores], policy: str, alpha: float, horizon: int | None = None
) -> Scores:
    """Returns s̃ from the first ``horizon`` + 1 hops (equation 4); from all of them by default.

    The sum goes from hop to hop, as in the browser, so that both come to the same bits.
    """
    final = np.array(hops[0])
    if policy == "none":
        return final
    weight = whole = 1.0
    for hop in hops[1:] if horizon is None else hops[1 : horizon + 1]:
        weight *= float(alpha)
        whole += weight
        final += weight * hop
    final /= whole
    return final
