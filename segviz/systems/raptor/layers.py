"""One RAPTOR rebuild: layers of soft clusters over the units heard so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from segviz.systems.raptor.mixture import Floats, best_fit, fit, memberships, principal
from segviz.tree import Vector

Groups = list[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a layer is cut: dimensions kept, posterior above which a point belongs, most
    components tried, longest input of one summary in tokens, and the seed."""

    dimensions: int
    threshold: float
    components: int
    tokens: int
    seed: int


def clusters(vectors: Vector, tokens: Sequence[int], rule: Rule) -> Groups:
    """Groups of positions into ``vectors`` (n, d); every position is in at least one.

    First over all points, then inside each group found; a group whose texts are together
    longer than ``rule.tokens`` is cut again, now without overlap (else the number of groups
    could double with every cut), in two where the mixture would leave it whole. Groups are
    ordered by their members, equal ones named once.
    """
    # Threads of the linear algebra wait for each other longer than products of this size
    # take: with one a rebuild is several times as fast, and its last bits are always the same.
    with threadpool_limits(limits=1, user_api="blas"):
        return _clusters(vectors.astype(np.float64), tokens, rule)


def _clusters(points: Floats, tokens: Sequence[int], rule: Rule) -> Groups:
    rng = np.random.default_rng(rule.seed)
    found: dict[tuple[int, ...], None] = {}
    apart = replace(rule, threshold=1.0)
    for group in _two_stages(points, list(range(len(points))), rule, rng):
        pending = [group]
        while pending:
            members = pending.pop()
            if len(members) == 1 or sum(tokens[i] for i in members) <= rule.tokens:
                found[tuple(members)] = None
                continue
            parts = _two_stages(points, members, apart, rng)
            if max(map(len, parts)) == len(members):
                parts = _halves(points, members, rng)
            pending += parts
    return sorted(found)


def _two_stages(
    points: Floats, members: list[int], rule: Rule, rng: np.random.Generator
) -> list[list[int]]:
    return [
        small
        for group in _cut(points, members, rule, rng)
        for small in _cut(points, group, rule, rng)
    ]


def _cut(
    points: Floats, members: list[int], rule: Rule, rng: np.random.Generator
) -> list[list[int]]:
    """One mixture over some of the points; too few of them stay together.

    At most one component for two points: with a component for each point the likelihood of
    a diagonal mixture has no bound and BIC would never merge a small layer.
    """
    if len(members) <= rule.dimensions + 1:
        return [members]
    reduced = principal(points[members], rule.dimensions)
    mixture = best_fit(reduced, min(rule.components - 1, len(members) // 2), rng)
    return [[members[i] for i in group] for group in memberships(mixture.shares, rule.threshold)]


def _halves(points: Floats, members: list[int], rng: np.random.Generator) -> list[list[int]]:
    """Two parts by their likelier component of two; equal points by position."""
    mixture = fit(principal(points[members], 1), 2, rng)
    parts = [[members[i] for i in group] for group in memberships(mixture.shares, 1.0)]
    if len(parts) == 1:
        middle = len(members) // 2
        parts = [members[:middle], members[middle:]]
    return parts
