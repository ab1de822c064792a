"""Tests whether construction uses the order of time: the experiment of SegTreeMem Table 3.

A share of randomly chosen pairs of units swap places, each system is built again on the
changed order, and the same questions are asked of both memories. A system that uses time
should lose more than one that only uses similarity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Conversation, Unit
from segviz.evaluate.aggregate import Mean, mean_ci
from segviz.evaluate.evaluation import evaluate
from segviz.evaluate.outcomes import Outcomes

if TYPE_CHECKING:
    from segviz.memory import Memory

Build = Callable[[Conversation], "Memory"]
Propagation = tuple[str, float, int]
"""Policy, alpha and horizon."""
Values = NDArray[np.float64]

MEASURES = ("recall", "reached", "quoted", "answer_words")


def swapped(count: int, share: float, seed: int) -> list[int]:
    """The index of the unit at each of ``count`` places after swapping.

    All places are paired at random and ⌊share · count / 2⌋ of the disjoint pairs change
    places, so that about ``share`` of all units move.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; it must lie between 0 and 1")
    order = list(range(count))
    places = np.random.default_rng(seed).permutation(count).tolist()
    pairs = int(share * count / 2 + 1e-9)
    for left, right in zip(places[: 2 * pairs : 2], places[1 : 2 * pairs : 2], strict=True):
        order[left], order[right] = order[right], order[left]
    return order


@dataclass(frozen=True)
class Reordered(Conversation):
    """A conversation whose units come in another order.

    What is said moves; index, session and date stay with the place. Units are moved after
    they are cut, so that both orders hold the same units.
    """

    share: float = 0.0
    seed: int = 0

    def units(self, rule: str = "exchange") -> tuple[Unit, ...]:
        """The units of ``rule``, swapped by :func:`swapped`."""
        plain = super().units(rule)
        order = swapped(len(plain), self.share, self.seed)
        return tuple(
            replace(place, turn_ids=plain[i].turn_ids, text=plain[i].text)
            for place, i in zip(plain, order, strict=True)
        )


def reordered(conversation: Conversation, share: float, seed: int) -> Reordered:
    """``conversation`` with a share of its units in each other's place."""
    return Reordered(
        conversation.id,
        conversation.speakers,
        conversation.sessions,
        conversation.questions,
        conversation.source_format,
        share,
        seed,
    )


@dataclass(frozen=True, slots=True)
class Loss:
    """One system under one retrieval setting in one measure: its mean as it is, after
    permutation, and the mean loss per question (positive: permuted is worse)."""

    system: str
    setting: Propagation
    measure: str
    original: Mean
    permuted: Mean
    loss: Mean


@dataclass(frozen=True, slots=True)
class Difference:
    """How much more the first system loses than the second, per question; the paper expects
    a positive number for the segment tree against the non-temporal tree."""

    first: str
    second: str
    setting: Propagation
    measure: str
    more: Mean


@dataclass(frozen=True)
class Permutation:
    """The result of the experiment; ``differences`` compares the first system with each other."""

    share: float
    seeds: tuple[int, ...]
    relevance: str
    losses: tuple[Loss, ...]
    differences: tuple[Difference, ...]


def permutation(
    conversations: Sequence[Conversation],
    builders: Mapping[str, Build],
    *,
    share: float = 0.3,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    settings: Sequence[Propagation] = (("none", 0.0, 0), ("top-down", 0.1, 2)),
    relevance: str = "hybrid",
    k: int = 10,
    units: int = 20,
) -> Permutation:
    """Run the experiment; the questions of all conversations count together.

    ``builders`` make a memory of a conversation, by the name of the system. Each system is
    built once as it is and once per seed; a question's permuted value is its mean over the
    seeds. Measures: ``MEASURES`` of this module (see ``segviz.evaluate.measures``). Intervals
    are 95 %, from resampling conversations and the questions within them, in pairs; they do
    not cover the choice of seeds.

    Source: SegTreeMem §5.4, Table 3. Departs from the source: the paper measures answers
    by an LLM judge; it swaps turns and does not say how pairs are drawn (ours are
    pairs of units, disjoint and uniform over the conversation) nor whether dates move (ours stay
    with the place).
    """
    if not seeds:
        raise ValueError("seeds is empty; name at least one")
    kept: dict[tuple[str, Propagation, str], tuple[Values, Values]] = {}
    for system, build in builders.items():
        variants: list[dict[tuple[Propagation, str], Values]] = []
        for seed in (None, *seeds):
            found: dict[Propagation, list[Outcomes]] = {setting: [] for setting in settings}
            for conversation in conversations:
                given = conversation if seed is None else reordered(conversation, share, seed)
                memory = build(given)
                for setting in settings:
                    policy, alpha, horizon = setting
                    measured = evaluate(
                        memory,
                        conversation.questions,
                        policy=policy,
                        alpha=alpha,
                        horizon=horizon,
                        relevance=relevance,
                        k=k,
                        units=units,
                    )
                    found[setting].append(measured.outcomes)
            variants.append(
                {
                    (s, m): np.concatenate([part.column(m) for part in found[s]])
                    for s in settings
                    for m in MEASURES
                }
            )
        for setting in settings:
            for measure in MEASURES:
                original, *others = (variant[setting, measure] for variant in variants)
                kept[system, setting, measure] = original, np.mean(others, axis=0)
    groups = [each.id for each in conversations for _ in each.questions]

    def mean(values: Values) -> Mean:
        known = np.flatnonzero(~np.isnan(values))
        return mean_ci(values[known], groups=[groups[i] for i in known.tolist()])

    first, *rest = builders
    return Permutation(
        share,
        tuple(seeds),
        relevance,
        tuple(
            Loss(*key, mean(original), mean(permuted), mean(original - permuted))
            for key, (original, permuted) in kept.items()
        ),
        tuple(
            Difference(
                first,
                second,
                setting,
                measure,
                mean(
                    _loss_per_question(kept[first, setting, measure])
                    - _loss_per_question(kept[second, setting, measure])
                ),
            )
            for second in rest
            for setting in settings
            for measure in MEASURES
        ),
    )


def _loss_per_question(values: tuple[Values, Values]) -> Values:
    original, permuted = values
    return original - permuted
