"""Explains a node's score exactly, as a sum of contributions.

s̃(v) = Σ_k αᵏ Σ_u [W_P^k]_{vu} s⁽⁰⁾(u) / Σ_k αᵏ is a sum over sources and hops; the ledger
lists its terms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from segviz.retrieval.propagation import operator
from segviz.tree import IntArray, Structure


@dataclass(frozen=True, slots=True)
class Contribution:
    """The ``amount`` of a final score that came from ``source`` over ``hop`` edges."""

    source: int
    hop: int
    amount: float


@dataclass(frozen=True, slots=True)
class Ledger:
    """All contributions to one node: ``own``, then ``received`` by hop, largest first.

    ``total`` is their sum and equals the node's final score to 1e-12. ``ingredients`` split the
    own score, where its relevance has ingredients; see :func:`shares`.
    """

    node: int
    own: float
    received: tuple[Contribution, ...]
    ingredients: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Own score plus everything received."""
        return math.fsum((self.own, *(entry.amount for entry in self.received)))

    def __iter__(self) -> Iterator[Contribution]:
        """The own entry (hop 0), then the received ones."""
        return iter((Contribution(self.node, 0, self.own), *self.received))


def shares(own: float, parts: Mapping[str, float]) -> dict[str, float]:
    """What each ingredient adds to a score ``own`` whose logarithm the ``parts`` add up to, on top
    of ``"any leaf"``, the score of a leaf that is average in all of them; sums to ``own``.

    Integrated gradients (Sundararajan et al. 2017) of the exponential along the straight way from
    that leaf: a part gets its share of the difference; no parts, no shares.
    """
    whole = math.fsum(parts.values())
    base = own * math.exp(-whole)
    slope = base if abs(whole) < 1e-9 else (own - base) / whole
    return (
        {"any leaf": base, **{name: slope * part for name, part in parts.items()}} if parts else {}
    )


def explain(
    node: int,
    initial: NDArray[np.float64],
    edges: IntArray,
    policy: str,
    alpha: float,
    horizon: int,
    structure: Structure | None = None,
) -> Ledger:
    """The ledger of ``node`` under these settings; arguments as in ``propagate``.

    O(horizon · m), for one node. ValueError for a node that does not exist.
    """
    n = len(initial)
    if not 0 <= node < n:
        raise ValueError(f"node {node}: there are nodes 0 to {n - 1}")
    if policy == "none":
        return Ledger(node, float(initial[node]), ())
    transition = operator(n, edges, policy, structure)
    weights = alpha ** np.arange(horizon + 1)
    whole = weights.sum()
    # `reach` is row `node` of W_P^k: the share of every node's score that arrives after k
    # hops. It starts as a unit vector; each hop makes it reach · W_P.
    reach: NDArray[np.float64] = np.zeros(n)
    reach[node] = 1.0
    received: list[Contribution] = []
    for hop in range(1, horizon + 1):
        reach = reach @ transition
        given = weights[hop] * reach * initial / whole
        received += _largest_first(hop, given)
    return Ledger(node, float(weights[0] * initial[node] / whole), tuple(received))


def _largest_first(hop: int, given: NDArray[np.float64]) -> Sequence[Contribution]:
    sources = np.flatnonzero(given)
    order = sources[np.argsort(-given[sources], kind="stable")]
    return [Contribution(int(u), hop, float(given[u])) for u in order]
