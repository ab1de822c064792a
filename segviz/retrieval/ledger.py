"""Explains a node's score exactly, as a sum of contributions.

s̃(v) = Σ_k αᵏ Σ_u [W_P^k]_{vu} s⁽⁰⁾(u) / Σ_k αᵏ is a sum over sources and hops; the ledger
lists its terms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from segviz.retrieval.propagation import operator
from segviz.tree import IntArray, Structure


@dataclass(frozen=True, slots=True)
class Contribution:
    """Part of a node's final score: ``amount`` came from the node ``source`` over ``hop`` edges."""

    source: int
    hop: int
    amount: float


@dataclass(frozen=True, slots=True)
class Ledger:
    """All contributions to one node's final score: its ``own`` score, and those ``received``.

    These are sorted by hop, largest first. ``ingredients`` splits ``own`` into the features of the
    relevance (:func:`shares`); empty for a relevance without features.
    """

    node: int
    own: float
    received: tuple[Contribution, ...]
    ingredients: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Sum of all contributions, which equals the node's final score to 1e-12."""
        return math.fsum((self.own, *(entry.amount for entry in self.received)))

    def __iter__(self) -> Iterator[Contribution]:
        """Yields the node's own contribution (hop 0), then the received ones."""
        return iter((Contribution(self.node, 0, self.own), *self.received))


def shares(own: float, parts: Mapping[str, float]) -> dict[str, float]:
    """Splits a score into the shares of its ingredients, by integrated gradients.

    Ingredients are the features of a relevance, such as ``words`` and ``dates``. The baseline is a
    leaf that is average in every ingredient. The path from there is straight in the logarithm of
    the score. Each ingredient gets its share of the difference between score and baseline.

    Args:
        own: the score, > 0.
        parts: each ingredient's summand in the logarithm of the score.

    Returns:
        Amounts that sum to ``own``: ``"an average leaf"``, the score of the baseline, and one for
        each ingredient. Empty without ingredients.

    Source: Sundararajan et al. 2017.
    """
    if not parts:
        return {}
    # The average leaf has the logarithm log(own) - Σ parts. Along a straight path of an exponential
    # every part is multiplied by one slope, its mean derivative.
    whole = math.fsum(parts.values())
    base = own * math.exp(-whole)
    slope = base if abs(whole) < 1e-9 else (own - base) / whole
    return {"an average leaf": base, **{name: slope * part for name, part in parts.items()}}


def explain(
    node: int,
    initial: NDArray[np.float64],
    edges: IntArray,
    propagation: tuple[str, float, int],
    structure: Structure | None = None,
) -> Ledger:
    """Splits the final score of ``node`` into contributions by source and hop, in O(horizon · m).

    Args:
        node: the node to explain.
        initial: s⁽⁰⁾, float64 (n,).
        edges: int32 (m, 2) rows [parent, child].
        propagation: policy (a name from ``POLICIES``), alpha in [0, 1), and horizon ≥ 0.
        structure: needed by the policy ``neighbours`` alone.

    Returns:
        The ledger, which sums to the ``final`` score that :func:`propagate` gives.

    Raises:
        ValueError: the node does not exist.

    Source: SegTreeMem equation 4, expanded by source and hop.
    """
    n, (policy, alpha, horizon) = len(initial), propagation
    if not 0 <= node < n:
        raise ValueError(f"node {node}: there are nodes 0 to {n - 1}")
    if policy == "none":
        return Ledger(node, float(initial[node]), ())
    transition = operator(n, edges, policy, structure)
    # Equation 4 weights the scores after k hops by αᵏ / Σ αᵏ.
    weights = alpha ** np.arange(horizon + 1)
    whole = weights.sum()
    # `reach` is row `node` of W_P^k: the share of every node's score that arrives after k
    # hops. It starts as a unit vector; each hop makes it reach · W_P.
    reach: NDArray[np.float64] = np.zeros(n)
    reach[node] = 1.0
    received: list[Contribution] = []
    for hop in range(1, horizon + 1):
        reach = reach @ transition
        # The terms of this hop: one for each source whose score arrives after exactly `hop` edges.
        given = weights[hop] * reach * initial / whole
        sources = np.flatnonzero(given)
        largest_first = sources[np.argsort(-given[sources], kind="stable")]
        received += [Contribution(int(u), hop, float(given[u])) for u in largest_first]
    return Ledger(node, float(weights[0] * initial[node] / whole), tuple(received))
