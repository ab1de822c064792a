"""Measures one retrieval setting on many questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from segviz.conversation import Category, Question
from segviz.evaluate.aggregate import Mean
from segviz.evaluate.batch import Batch, Ints, Limits, batches, collect, measured_settings
from segviz.evaluate.measures import TOKENS, UNITS
from segviz.evaluate.outcomes import Outcomes, outcomes_of
from segviz.memory import own_retrieval
from segviz.retrieval import RetrievalSettings, combine, spread

if TYPE_CHECKING:
    from segviz.memory import Memory


@dataclass(frozen=True, slots=True)
class Row:
    """The measures of one question, by the names of ``MEASURES``; None where it has no value.

    ``counted``: it has evidence in the conversation; ``gold_leaves`` are node ids; ``step`` is
    the moment it was asked at, None for the end.
    """

    index: int
    category: Category | None
    counted: bool
    gold_leaves: tuple[int, ...]
    step: int | None
    recall: float | None
    reached: float | None
    reached_lift: float | None
    quoted: float | None
    quoted_lift: float | None
    answer_words: float | None
    answer_words_lift: float | None
    reciprocal_rank: float | None
    ndcg: float | None
    words: int
    short: bool


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Means of the measures over the questions that have a value; their numbers differ, see
    each mean's ``n``. ``short`` is the share of questions that are."""

    questions: int
    recall: Mean
    reached: Mean
    reached_lift: Mean
    quoted: Mean
    quoted_lift: Mean
    answer_words: Mean
    answer_words_lift: Mean
    reciprocal_rank: Mean
    ndcg: Mean
    words: Mean
    short: Mean


@dataclass(frozen=True)
class Evaluation:
    """One setting measured: a row per question in their order, and all values as ``outcomes``,
    which give any mean and any difference; ``settings`` as they were asked for, ``units`` and
    ``tokens`` the limits of ``reached`` and ``answer_words``."""

    settings: RetrievalSettings
    units: int
    tokens: int
    rows: tuple[Row, ...]
    outcomes: Outcomes

    @property
    def overall(self) -> Aggregate:
        """Means over all questions."""
        return Aggregate(len(self.rows), **self.outcomes.means())

    @property
    def without_adversarial(self) -> Aggregate:
        """Means without the questions of category 5, as most papers report them."""
        kept = self.outcomes.keep(adversarial=False)
        return Aggregate(len(kept), **self.outcomes.means(adversarial=False))

    @property
    def by_category(self) -> dict[Category | None, Aggregate]:
        """Means per category id."""
        found = self.outcomes
        return {
            label: Aggregate(
                len(found.keep(category=label)),
                **{name: found.mean(name, category=label) for name in found.values},
            )
            for label in found.known_categories
        }

    @property
    def levels(self) -> dict[int, float]:
        """Shares of the levels among all nodes of the tops."""
        return self.outcomes.levels

    def worst(self) -> tuple[Row, ...]:
        """Counted rows with something missed, worst first: by recall, then by the rank of
        the first gold leaf, then in order."""
        missed = [row for row in self.rows if row.recall is not None and row.recall < 1]
        return tuple(sorted(missed, key=lambda row: (row.recall, row.reciprocal_rank, row.index)))


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
    rankings = [ranked(memory, batch, settings) for batch in found]
    measured = collect(found, rankings, len(questions))
    outcomes = outcomes_of([q.category for q in questions], *measured, seed)
    places = {place: (b, i) for b in found for i, place in enumerate(b.places)}

    def row(place: int, question: Question) -> Row:
        batch, i = places[place]
        value = {name: values[place] for name, values in outcomes.values.items()}
        words, short = value.pop("words"), value.pop("short")
        return Row(
            question.index,
            question.category,
            bool(batch.counted[i]),
            tuple(np.flatnonzero(batch.gold[i]).tolist()),
            batch.step,
            **value,
            words=int(words or 0),
            short=bool(short),
        )

    rows = tuple(row(place, question) for place, question in enumerate(questions))
    return Evaluation(settings, units, tokens, rows, outcomes)


def ranked(memory: Memory, batch: Batch, settings: RetrievalSettings) -> Ints:
    """The mixed ranking of every question of a batch."""
    if settings.method == "own":
        asked = replace(settings, step=batch.step)
        return batch.ragged(
            [
                own_retrieval(memory, question.text, asked, batch.whole).ranked
                for question in batch.questions
            ]
        )
    policy, alpha, horizon = settings.propagation
    edges = batch.structure.edges
    initial = batch.first_scores(memory, settings.relevance_for(memory.model))
    hops = spread(initial, edges, policy, horizon, batch.structure)
    return batch.ranked(combine(hops, policy, alpha))
