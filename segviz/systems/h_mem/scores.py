"""H-Mem's formulas: how well something is remembered, and how near in time it is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from segviz.conversation import DAY
from segviz.tree import Facts

Times = tuple[float, float]


def robustness(age: float, mentions: int, tau: float, eta: float) -> float:
    """R = exp(-age / (τ(1 + η·ln(1 + n)))), in (0, 1]; ``age`` and ``tau`` in seconds.

    Source: H-Mem §3.3, equation 2. A memory consolidated after the question (a negative
    age) counts as fresh.
    """
    return math.exp(-max(age, 0.0) / (tau * (1 + eta * math.log1p(mentions))))


def curve(facts: Facts, ages: Sequence[float], tau: float, eta: float) -> list[float]:
    """The forgetting curve of a node from its facts (``n``): R at each age in seconds
    after its last consolidation."""
    n = facts.get("n", 0)
    return [robustness(age, n if isinstance(n, int) else 0, tau, eta) for age in ages]


def time_relevance(one: Times, other: Times, balance: float = 0.5) -> float:
    """T in [0, 1]: ``balance`` · overlap / union + (1 - balance) · (1 - distance of the
    centres / hull).

    Source: H-Mem §3.3, equation 1. Departs from it: the distance is divided by the hull
    of both intervals, not by their union, under which an instant a year away would score
    below -100 and drown every other term; intervals shorter than a day are widened to one
    around their centre.
    """
    (a, b), (c, d) = _at_least_a_day(one), _at_least_a_day(other)
    overlap = max(0.0, min(b, d) - max(a, c))
    union = (b - a) + (d - c) - overlap
    hull = max(b, d) - min(a, c)
    apart = abs((a + b) - (c + d)) / 2
    return balance * overlap / union + (1 - balance) * (1 - apart / hull)


def _at_least_a_day(times: Times) -> Times:
    start, stop = times
    wider = max(0.0, DAY - (stop - start)) / 2
    return start - wider, stop + wider
