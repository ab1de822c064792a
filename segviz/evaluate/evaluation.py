"""Measures one retrieval setting on many questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from segviz.conversation import Question
from segviz.evaluate.batch import Batch, Ints, Limits, batches, measured_settings
from segviz.evaluate.measures import TOKENS, UNITS
from segviz.evaluate.outcomes import Outcomes, outcomes_of
from segviz.memory import Memory, own_retrieval
from segviz.retrieval import RetrievalSettings, combine, spread


@dataclass(frozen=True)
class Evaluation:
    """One setting measured: the ``outcomes`` of all questions, in their order, which give any
    mean, any difference and a frame; ``settings`` as they were asked for, ``units`` and ``tokens``
    the limits of ``reached`` and ``answer_words``."""

    settings: RetrievalSettings
    units: int
    tokens: int
    outcomes: Outcomes


def evaluate(
    memory: Memory,
    questions: Sequence[Question],
    settings: RetrievalSettings | None = None,
    *,
    units: int = UNITS,
    tokens: int = TOKENS,
    seed: int = 0,
    **changes: Any,
) -> Evaluation:
    """Measure retrieval with ``settings`` and ``changes`` to their fields, as in
    ``segviz.ask``, by every measure of ``MEASURES``; all levels are admissible.

    A question counts if at least one of its evidence ids is a turn of the conversation; its
    gold leaves are those of the units that hold such turns. A counted question whose turns no
    leaf holds, because the unit rule dropped them, counts with 0. A question that stands at a
    moment of the conversation is asked of the memory as it stood then, unless the settings name
    a ``step`` for all. ``units`` are read for ``reached``, ``tokens`` for ``answer_words``.
    Intervals are 95 %, drawn with ``seed``.

    All questions of one moment are scored at once: O((H + f) · q · n) memory for f words and
    turns looked for. ValueError names value and legal range of a bad setting.
    """
    settings = measured_settings(settings, changes).resolved(memory.model)
    found = batches(memory, questions, settings, Limits(settings.k, settings.budget, units, tokens))
    rankings = (ranked(memory, batch, settings) for batch in found)
    return Evaluation(settings, units, tokens, outcomes_of(questions, found, rankings, seed))


def ranked(memory: Memory, batch: Batch, settings: RetrievalSettings) -> Ints:
    """The mixed ranking of every question of a batch."""
    if settings.method == "own":
        asked = replace(settings, step=batch.step)
        found = (own_retrieval(memory, q.text, asked, batch.whole) for q in batch.questions)
        return batch.ragged([retrieval.ranked for retrieval in found])
    policy, alpha, horizon = settings.propagation
    edges = batch.structure.edges
    initial = batch.first_scores(memory, settings.relevance_for(memory.model))
    hops = spread(initial, edges, policy, horizon, batch.structure)
    return batch.ranked(combine(hops, policy, alpha))
