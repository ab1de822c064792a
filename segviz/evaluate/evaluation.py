"""Measures one retrieval setting on many questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Question
from segviz.evaluate import measures
from segviz.evaluate.aggregate import Mean, categories, mean_ci
from segviz.evaluate.scores import final_scores, gold_of, measured_settings
from segviz.evaluate.text_metrics import all_tokens, content_tokens
from segviz.retrieval import RetrievalSettings, check_count, taken

if TYPE_CHECKING:
    from segviz.memory import Memory


@dataclass(frozen=True, slots=True)
class Row:
    """The measures of one question.

    ``gold_leaves`` are node ids. ``recall``, ``reciprocal_rank`` and ``ndcg`` are over
    leaves, ``budget_recall`` over all levels; all four are None where the question is not
    counted. ``coverage`` is the share of the answer's words in the mixed top K, None where
    the dataset gives no answer; ``words`` counts the words of that top K. With a token
    budget the top is as many nodes as the budget pays for.
    """

    index: int
    category: int | None
    counted: bool
    gold_leaves: tuple[int, ...]
    recall: float | None
    budget_recall: float | None
    reciprocal_rank: float | None
    ndcg: float | None
    coverage: float | None
    words: int


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Means of a :class:`Row`'s measures over the questions that have a value; their
    numbers differ, see each mean's ``n``."""

    questions: int
    recall: Mean
    budget_recall: Mean
    reciprocal_rank: Mean
    ndcg: Mean
    coverage: Mean
    words: Mean


MEASURES = ("recall", "budget_recall", "reciprocal_rank", "ndcg", "coverage", "words")


@dataclass(frozen=True)
class Evaluation:
    """Rows in the order of the questions, their means overall and per category id, and
    the shares of levels in the mixed tops of all questions; the settings as they were
    asked for."""

    settings: RetrievalSettings
    units: int
    rows: tuple[Row, ...]
    overall: Aggregate
    by_category: dict[int | None, Aggregate]
    levels: dict[int, float]

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
    units: int = 20,
    seed: int = 0,
    **changes: Any,
) -> Evaluation:
    """Measure retrieval by propagation with ``settings`` and ``changes`` to their fields, as
    in ``segviz.ask``. All questions are put to the final structure; ``levels``, ``method`` and
    ``step`` must be as by default.

    *Evidence recall@K over leaves*: a question counts if at least one of its evidence ids
    is a turn of the conversation; its gold leaves are the units holding those turns; the K
    best leaves (level 0 only) are returned; the value is gold leaves returned / gold
    leaves; the mean runs over the counted questions of all categories. A counted question
    whose turns no leaf holds, because the unit rule dropped them, counts with 0.

    MRR (rank of the first gold leaf among all leaves) and nDCG@K are over leaves too.
    ``units`` limits the units read for ``budget_recall`` (see ``measures``). Coverage,
    words and level shares are of the mixed top, nodes of all levels, where nodes with the
    same text count once unless the settings are ``literal``: the K best, or with a ``budget``
    as many as its tokens pay for. Intervals are 95 %, drawn with ``seed``.

    All questions are scored at once: O((H + 4) · q · n) floats of memory. ValueError
    names value and legal range of a bad setting.
    """
    settings = measured_settings(settings, changes)
    k, budget = settings.k, settings.budget
    check_count("units", units)
    structure = memory.structure if settings.literal else memory.structure.collapsed
    gold = gold_of(memory, questions, structure)
    final = final_scores(memory, questions, settings)
    ranked = measures.order(final, np.flatnonzero(structure.active))
    leaves = measures.among(ranked, structure.level == 0)
    tops = [taken(row, structure.text, k, budget) for row in ranked]

    relevant = np.take_along_axis(gold.leaves, leaves, axis=1)
    per_question: dict[str, NDArray[np.float64]] = {
        "recall": measures.recall(relevant, k),
        "budget_recall": measures.budget_recall(
            ranked, cache(lambda node: frozenset(structure.coverage(node))), gold.units, units
        ),
        "reciprocal_rank": measures.reciprocal_rank(relevant),
        "ndcg": measures.ndcg(relevant, k),
    }
    for values in per_question.values():
        values[~gold.counted] = np.nan
    per_question |= _coverage_and_words(structure.text, tops, questions)

    def aggregate(positions: NDArray[np.int64]) -> Aggregate:
        columns = [per_question[name][positions] for name in MEASURES]
        return Aggregate(
            len(positions), *(mean_ci(column[~np.isnan(column)], seed) for column in columns)
        )

    def row(i: int, question: Question) -> Row:
        *values, words = (float(per_question[name][i]) for name in MEASURES)
        recall, budgeted, first, gain, covered = (None if np.isnan(v) else v for v in values)
        leaves_of_it = tuple(np.flatnonzero(gold.leaves[i]).tolist())
        return Row(
            question.index,
            question.category,
            bool(gold.counted[i]),
            leaves_of_it,
            recall,
            budgeted,
            first,
            gain,
            covered,
            int(words),
        )

    return Evaluation(
        settings,
        units,
        tuple(row(i, question) for i, question in enumerate(questions)),
        aggregate(np.arange(len(questions))),
        {
            label: aggregate(positions)
            for label, positions in categories([q.category for q in questions]).items()
        },
        measures.level_shares(tops, structure.level),
    )


def _coverage_and_words(
    text: Sequence[str], tops: Sequence[Sequence[int]], questions: Sequence[Question]
) -> dict[str, NDArray[np.float64]]:
    """Coverage (NaN without an answer) and words of each question's top nodes, (q,)."""
    tokens = cache(lambda node: all_tokens(text[node]))
    length = cache(lambda node: len(text[node].split()))
    covered = np.full(len(questions), np.nan)
    words = np.zeros(len(questions))
    for i, (question, nodes) in enumerate(zip(questions, tops, strict=True)):
        words[i] = sum(length(node) for node in nodes)
        wanted = content_tokens(question.answer or "")
        if wanted:
            held = frozenset[str]().union(*map(tokens, nodes))
            covered[i] = len(wanted & held) / len(wanted)
    return {"coverage": covered, "words": words}
