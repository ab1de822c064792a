"""Tests whether construction uses the order of time: the experiment of SegTreeMem Table 3.

A share of randomly chosen pairs of units swap places, each system is built again on the
changed order, and the same questions are asked of both memories. A system that uses time
should lose more than one that only uses similarity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Conversation, Question
from segviz.evaluate.aggregate import Mean, mean_ci
from segviz.evaluate.evaluation import evaluate
from segviz.evaluate.many import Build, Progress, measure_many

if TYPE_CHECKING:
    from segviz.memory import Memory

Propagation = tuple[str, float, int]
"""Policy, alpha and horizon."""
Values = NDArray[np.float64]

MEASURES = ("recall", "reached", "quoted", "answer_words")


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
    workers: int = 1,
    progress: Progress | None = None,
) -> Permutation:
    """Run the experiment; the questions of all conversations count together.

    ``builders`` make a memory of a conversation, by the name of the system. Each system is
    built once as it is and once per seed; a question's permuted value is its mean over the
    seeds. ``workers`` share the builds as in ``measure_many``, ``progress(done, total)`` counts
    them. Measures: ``MEASURES`` of this module (see ``segviz.evaluate.measures``). Intervals
    are 95 %, from resampling conversations and the questions within them, in pairs; they do
    not cover the choice of seeds.

    Source: SegTreeMem §5.4, Table 3. Departs from the source: the paper measures answers
    by an LLM judge; it swaps turns and does not say how pairs are drawn (ours are
    pairs of units, disjoint and uniform over the conversation) nor whether dates move (ours stay
    with the place).
    """
    if not seeds:
        raise ValueError("seeds is empty; name at least one")
    runs, keys = len(conversations) * len(builders), list(product(settings, MEASURES))

    def values(share: float, seeds: Sequence[int], before: int) -> dict[str, Values]:
        """The mean over seeds of every value, by system (settings x measures, questions)."""

        def report(done: int, _: int) -> None:
            if progress is not None:
                progress(before + done, runs * (1 + count))

        found = measure_many(
            _columns,
            conversations,
            builders,
            seeds=seeds,
            share=share,
            workers=workers,
            progress=report,
            settings=tuple(settings),
            how={"relevance": relevance, "k": k, "units": units},
        )
        return {
            system: np.mean(
                [
                    np.hstack([o.result for o in found if (o.system, o.seed) == (system, seed)])
                    for seed in seeds
                ],
                axis=0,
            )
            for system in builders
        }

    count = len(seeds)
    before, after = values(0.0, (0,), 0), values(share, seeds, runs)
    groups = [each.id for each in conversations for _ in each.questions]

    def mean(values: Values) -> Mean:
        known = np.flatnonzero(~np.isnan(values))
        return mean_ci(values[known], groups=[groups[i] for i in known.tolist()])

    first, *rest = builders
    lost = {system: before[system] - after[system] for system in builders}
    return Permutation(
        share,
        tuple(seeds),
        relevance,
        tuple(
            Loss(system, *key, *(mean(by[system][row]) for by in (before, after, lost)))
            for system in builders
            for row, key in enumerate(keys)
        ),
        tuple(
            Difference(first, second, *key, mean(lost[first][row] - lost[second][row]))
            for second in rest
            for row, key in enumerate(keys)
        ),
    )


def _columns(
    memory: Memory,
    questions: Sequence[Question],
    *,
    settings: Sequence[Propagation],
    how: Mapping[str, Any],
    seed: int,
) -> Values:
    """The values of every setting and measure, float64 (settings x measures, questions)."""
    rows = []
    for policy, alpha, horizon in settings:
        asked: dict[str, Any] = {"policy": policy, "alpha": alpha, "horizon": horizon}
        found = evaluate(memory, questions, **asked, **how).outcomes
        rows += [found.column(measure) for measure in MEASURES]
    return np.array(rows)
