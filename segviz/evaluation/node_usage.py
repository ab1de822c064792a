"""Sums over many questions how often each node is retrieved and how much score it passes on."""

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
    """Sums over all questions for each of n nodes.

    Attributes:
        questions: number of questions.
        retrieved: number of questions for which the node is read, int64 (n,).
        on_gold: number of questions for which the node is read and has a gold turn, int64 (n,).
        given: score that the node passed to others over one hop or more, float64 (n,).
        taken: score that the node received from others, float64 (n,). The scores of all nodes sum
            to at most 1 for each question.
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
    """Sums retrievals and propagated scores of every node over many questions.

    A node gives s⁽⁰⁾ Σ αᵏ (1ᵀ W_Pᵏ) / Σ αᵏ, the first sum over k ≥ 1, the second over k ≥ 0
    (equations 3 and 4). It takes its final score s̃ minus the part s⁽⁰⁾ / Σ αᵏ that comes from
    itself. Takes O(H · q · (n + m)) time.

    Args:
        memory: the memory.
        questions: q questions.
        settings: retrieval settings.
        changes: fields of ``settings`` to replace.

    Raises:
        ValueError: a setting is bad, or ``method`` is "native", which does not propagate.
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
