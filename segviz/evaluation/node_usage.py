"""Sums over many questions for every node: retrievals, gold evidence, score passed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Question
from segviz.evaluation.question_batch import Limits, batches, measured_settings
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings, combine, spread
from segviz.retrieval.propagation import operator


@dataclass(frozen=True, eq=False)
class Traffic:
    """Sums over ``questions`` for each of n nodes.

    Attributes:
        questions: number of questions.
        retrieved: number of tops with the node, int64 (n,).
        on_gold: number of those in which it has a gold turn, int64 (n,).
        given: score that the node passed on over one hop or more, float64 (n,).
        taken: score that it received so, float64 (n,). A question's scores sum to at most 1.
    """

    questions: int
    retrieved: NDArray[np.int64]
    on_gold: NDArray[np.int64]
    given: NDArray[np.float64]
    taken: NDArray[np.float64]


def traffic(
    memory: Memory,
    questions: Sequence[Question],
    settings: RetrievalSettings | None = None,
    **changes: Any,
) -> Traffic:
    """Sums what passes through every node under ``settings`` with ``changes``, by propagation.

    A node gives s⁽⁰⁾ Σ αᵏ (1ᵀ W_Pᵏ) / Σ αᵏ of its own score over k ≥ 1 (equations 3 and 4). It
    takes s̃ minus its own share, as in the ledger. O(H · q · (n + m)). ValueError for bad settings
    and for ``method`` "native", which does not propagate.
    """
    asked = measured_settings(settings, changes).resolved(memory.model)
    if asked.method != "propagate":
        raise ValueError(f"method is {asked.method!r}; only 'propagate' passes scores on")
    policy, alpha, horizon = asked.propagation
    n = len(memory.structure)
    retrieved, on_gold = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    given, taken = np.zeros(n), np.zeros(n)
    limits = Limits(asked.k, asked.budget, deduplicate=asked.deduplicate)
    for batch in batches(memory, questions, asked, limits):
        structure = batch.structure
        initial = batch.first_scores(memory, asked.relevance_for(memory.model))
        hops = spread(initial, structure.edges, policy, horizon, structure)
        final = combine(hops, policy, alpha)
        here = slice(len(structure))
        tops = batch.tops(batch.ranked(final))
        retrieved[here] += np.bincount(tops.ravel(), minlength=len(structure) + 1)[here]
        on_gold[here] += batch.on_gold(tops)[here]
        if policy == "none":
            continue
        weights = alpha ** np.arange(horizon + 1)
        transition = operator(len(structure), structure.edges, policy, structure)
        # `reach` is 1ᵀ W_Pᵏ: the share of each node's score that still exists after k hops.
        reach, arrives = np.ones(len(structure)), np.zeros(len(structure))
        for weight in weights[1:]:
            reach = reach @ transition
            arrives += weight * reach
        own = initial.sum(axis=0)
        given[here] += own * arrives / weights.sum()
        taken[here] += final.sum(axis=0) - own / weights.sum()
    return Traffic(len(questions), retrieved, on_gold, given, taken)
