"""Stage: spread scores over the structure (SegTreeMem §4.3.1, equations 3 and 4).

A policy names the allowed transitions between nodes; W_P holds 1 for each, every column
divided by its sum, so a node shares its score equally among its targets. A node without
a target passes nothing on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.structure import IntArray

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class NoPropagation:
    """Scores stay where they are: collapsed retrieval, the paper's *no-propagation*."""

    name: ClassVar[str] = "none"
    label: ClassVar[str] = "none (collapsed)"

    def transitions(self, edges: IntArray) -> IntArray:
        """No transition, shape (0, 2)."""
        return edges[:0]


@dataclass(frozen=True)
class TopDown:
    """Parents pass their score to their children: a broad match points to its details."""

    name: ClassVar[str] = "top-down"
    label: ClassVar[str] = "top-down (parent to children)"

    def transitions(self, edges: IntArray) -> IntArray:
        """(m, 2) [source, target]: every parent to each of its children."""
        return edges


@dataclass(frozen=True)
class BottomUp:
    """Children pass their score to their parent: a match lifts the context around it."""

    name: ClassVar[str] = "bottom-up"
    label: ClassVar[str] = "bottom-up (child to parent)"

    def transitions(self, edges: IntArray) -> IntArray:
        """(m, 2) [source, target]: every child to each of its parents."""
        return edges[:, ::-1]


POLICIES: dict[str, Callable[[], Any]] = {
    "none": NoPropagation,
    "top-down": TopDown,
    "bottom-up": BottomUp,
}


@dataclass(frozen=True, eq=False)
class Propagated:
    """``final`` float64 (n,) is s̃; ``hops`` float64 (H + 1, n) holds s⁽⁰⁾ … s⁽ᴴ⁾."""

    final: Scores
    hops: Scores


def check_setting(policy: str, alpha: float, horizon: int) -> None:
    """Raise ValueError naming value and legal range for an illegal retrieval setting."""
    if policy not in POLICIES:
        raise ValueError(f"unknown policy {policy!r}; choose one of {', '.join(POLICIES)}")
    if not 0 <= alpha < 1:
        raise ValueError(f"alpha is {alpha}; it must be at least 0 and below 1")
    if horizon != int(horizon) or horizon < 0:
        raise ValueError(f"horizon is {horizon}; it must be a whole number of hops, 0 or more")


def propagate(
    initial: Scores,
    edges: IntArray,
    policy: str = "top-down",
    alpha: float = 0.1,
    horizon: int = 2,
) -> Propagated:
    """Spread ``initial`` over ``edges``: s⁽ᵏ⁾ = W_P s⁽ᵏ⁻¹⁾, s̃ = Σ αᵏ s⁽ᵏ⁾ / Σ αᵏ.

    ``initial`` float64 (n,), any non-negative scores (they are not normalised here);
    ``edges`` int (m, 2) rows [parent, child], several parents and roots allowed;
    ``alpha`` in [0, 1); ``horizon`` ≥ 0 hops. With horizon 0, alpha 0 or policy
    ``none``, ``final`` is ``initial`` bit for bit. O(horizon · (n + m)), no recursion.

    Departs from equation 4 in one convention: under ``none`` there is no operator, so
    s̃ = s⁽⁰⁾ and not s⁽⁰⁾ / Σ αᵏ; the ranking is the same, the scores stay comparable.
    Raises ValueError for an unknown policy, alpha or horizon out of range, or an edge
    that names a node outside ``initial``.
    """
    check_setting(policy, alpha, horizon)
    scores = np.asarray(initial, dtype=np.float64)
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    n = len(scores)
    if pairs.size and not (0 <= pairs.min() and pairs.max() < n):
        raise ValueError(f"edges name nodes {pairs.min()}..{pairs.max()}; there are {n} nodes")
    horizon = int(horizon)
    hops = np.zeros((horizon + 1, n))
    hops[0] = scores
    transitions = POLICIES[policy]().transitions(pairs)
    if policy == "none":
        return Propagated(scores.copy(), hops)
    _fill_hops(hops, transitions)
    weights = alpha ** np.arange(horizon + 1)
    return Propagated((weights @ hops) / weights.sum(), hops)


def _fill_hops(hops: Scores, transitions: NDArray[np.int64]) -> None:
    n = hops.shape[1]
    source, target = transitions[:, 0], transitions[:, 1]
    degree = np.bincount(source, minlength=n)
    share = 1.0 / degree[source]
    for k in range(1, len(hops)):
        hops[k] = np.bincount(target, weights=hops[k - 1][source] * share, minlength=n)
