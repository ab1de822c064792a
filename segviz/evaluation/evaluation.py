"""Measures many questions under one setting: every measure of each, and their means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import UNANSWERABLE, Category, Question, category_order
from segviz.evaluation.aggregate import Mean, Row, mean_ci
from segviz.evaluation.measures import (
    BUDGETS,
    CURVES,
    DEFAULT,
    MEASURES,
    TOKENS,
    UNITS,
    check_measure,
)
from segviz.evaluation.question_batch import Ints, Limits, QuestionBatch, batches
from segviz.memory import Memory, native_retrieval, settings_for
from segviz.retrieval import PRESETS, RetrievalSettings, combine, spread

ADVERSARIAL = 5
"""LoCoMo's category of questions whose answer is not in the conversation.

Their evidence is the turn that suggests a wrong answer."""


Fate = tuple[int, int, int, int]
"""Numbers of a question's gold turns: found, quoted, answered, all."""


@dataclass(frozen=True, slots=True, repr=False)
class Outcomes:
    """Measures of q questions under one setting.

    Attributes:
        categories: category id of each question.
        values: a number per question for each measure; None where it has no value.
        levels: share of each level among the nodes that are read, all questions taken together.
        groups: conversation of each question; () if all are of one.
        seed: seed of the intervals.
        fates: for each question the number of gold turns that are found in a read node of one unit,
            that only wider read nodes quote, for which only a read node above them states the
            answer, and of all gold turns.
        asked: texts of the questions.
        disputed: True for questions that an audit disputes.
        count_disputed: True if these count in means; see :meth:`counting`.
    """

    categories: tuple[Category | None, ...]
    values: dict[str, tuple[float | None, ...]]
    levels: dict[int, float] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    seed: int = 0
    fates: tuple[Fate, ...] = ()
    asked: tuple[str, ...] = ()
    disputed: tuple[bool, ...] = ()
    count_disputed: bool = True

    def __len__(self) -> int:
        return len(self.categories)

    def __repr__(self) -> str:
        """Returns the number of questions and the mean of the default (else the first) measure."""
        main = DEFAULT if DEFAULT in self.values else next(iter(self.values))
        return f"Outcomes({len(self)} questions, {main} {self.value(main):.3f})"

    def column(self, measure: str) -> NDArray[np.float64]:
        """Returns a measure of every question, float64 (q,), NaN for no value.

        ValueError for an unknown measure.
        """
        check_measure(measure, self.values)
        return np.array(self.values[measure], dtype=np.float64)

    def frame(self) -> Any:
        """Returns a pandas DataFrame, a row per question: category, conversation, every measure.

        Only pooled outcomes have the column conversation; a column disputed is added if a question
        is disputed. NaN means no value.
        """
        import pandas as pd

        groups: dict[str, Any] = {"conversation": list(self.groups)} if self.groups else {}
        groups |= {"disputed": list(self.disputed)} if any(self.disputed) else {}
        columns = {name: self.column(name) for name in self.values}
        return pd.DataFrame(
            {"category": pd.Series(self.categories, dtype=object)} | groups | columns
        )

    def counting(self, *, disputed: bool) -> Outcomes:
        """Returns the same outcomes, with the disputed questions in every mean or in none."""
        return replace(self, count_disputed=disputed)

    def recounted(self, measure: str, *, adversarial: bool = True) -> dict[str, Mean]:
        """Returns the mean without the disputed questions, or with them if they do not count now.

        The result has one key, ``without disputed`` or ``with disputed``. It is empty if no
        question is disputed.
        """
        if not any(self.disputed):
            return {}
        other = self.counting(disputed=not self.count_disputed)
        name = "with disputed" if other.count_disputed else "without disputed"
        return {name: other.mean(measure, adversarial=adversarial)}

    def keep(self, *, adversarial: bool = True, category: Category | None = "all") -> list[int]:
        """Returns the positions of the questions that count, in order.

        They are of the given ``category``, "all" for any. Questions whose answer is not in the
        conversation count only if ``adversarial``, disputed ones only if ``count_disputed``.
        """
        left_out = set() if self.count_disputed else set(np.flatnonzero(self.disputed).tolist())
        return [
            position
            for position, mine in enumerate(self.categories)
            if (adversarial or mine not in UNANSWERABLE)
            and category in ("all", mine)
            and position not in left_out
        ]

    def mean(
        self, measure: str, *, adversarial: bool = True, category: Category | None = "all"
    ) -> Mean:
        """Returns the mean of a measure over the questions that :meth:`keep` returns."""
        column = self.column(measure)
        return self._mean(column, self.keep(adversarial=adversarial, category=category))

    def value(
        self, measure: str, *, adversarial: bool = True, category: Category | None = "all"
    ) -> float:
        """Returns the value of :meth:`mean`, NaN without any; fast, as no interval is computed."""
        values = self.column(measure)[self.keep(adversarial=adversarial, category=category)]
        values = values[~np.isnan(values)]
        return float(values.mean()) if len(values) else math.nan

    def gain(self, other: Outcomes, measure: str, *, adversarial: bool = True) -> Mean:
        """Returns the mean over questions of a measure's value here minus its value in ``other``.

        ValueError unless both have the same questions.
        """
        mine, theirs = ((each.categories, each.groups, each.asked) for each in (self, other))
        if mine != theirs:
            raise ValueError(
                f"these outcomes have {len(self)} questions and those {len(other)}, or others; a "
                "paired difference needs the same questions in one order"
            )
        difference = self.column(measure) - other.column(measure)
        return self._mean(difference, self.keep(adversarial=adversarial))

    @property
    def known_categories(self) -> tuple[Category | None, ...]:
        """Category ids of the questions, ascending, None last."""
        return tuple(sorted(set(self.categories), key=category_order))

    def _mean(self, column: NDArray[np.float64], positions: Sequence[int]) -> Mean:
        known = [position for position in positions if not np.isnan(column[position])]
        groups = tuple(self.groups[position] for position in known) if self.groups else ()
        return mean_ci(column[known], self.seed, groups)


def summary(
    outcomes: Outcomes, other: Outcomes | None = None, measures: Iterable[str] = MEASURES
) -> dict[str, dict[str, Mean]]:
    """Returns means by name of the measure and name of the mean.

    The means are over ``all`` questions and ``without_adversarial`` ones. With ``other``, of as
    many questions, there is the paired ``gain`` over it, too. If an audit disputes questions, there
    are also ``without_disputed`` and ``gain_without_disputed``.
    """
    every, fewer = outcomes.counting(disputed=True), outcomes.counting(disputed=False)
    content = {
        name: {"all": every.mean(name), "without_adversarial": every.mean(name, adversarial=False)}
        for name in measures
    }
    gains = other is not None and len(other) == len(outcomes)
    for name, means in content.items():
        if any(outcomes.disputed):
            means["without_disputed"] = fewer.mean(name)
        if other is not None and gains:
            means["gain"] = every.gain(other, name)
            if any(outcomes.disputed):
                means["gain_without_disputed"] = fewer.gain(other, name)
    return content


def budget_rows(outcomes: Mapping[str, Outcomes], *, adversarial: bool = True) -> list[Row]:
    """Returns the curves over T tokens (``measures.CURVES``) of some settings or systems, by name.

    Each row has a name, a number of tokens, and the mean of each curve at it.
    """
    rows: list[Row] = []
    for (name, one), tokens in product(outcomes.items(), BUDGETS):
        row: Row = {"setting": name, "tokens": tokens}
        for label, measures in CURVES.items():
            row[label] = one.mean(measures[tokens], adversarial=adversarial)
        rows.append(row)
    return rows


def outcomes_of(
    questions: Sequence[Question],
    batches: Sequence[QuestionBatch],
    rankings: Iterable[NDArray[np.int64]],
    seed: int,
) -> Outcomes:
    """Returns the outcomes of ``questions``, measured on the rankings of nodes for them.

    ``batches`` are the groups that the questions form; ``rankings`` has an array for each.
    """
    columns = {name: np.full(len(questions), np.nan) for name in MEASURES}
    highest = max((int(b.structure.level.max(initial=0)) for b in batches), default=0)
    totals = np.zeros(highest + 1, dtype=np.int64)
    fates = np.zeros((len(questions), 4), dtype=np.int64)
    # Each batch fills the places of its questions; read nodes are counted by level over all.
    for batch, ranked in zip(batches, rankings, strict=True):
        places = list(batch.places)
        for name, values in batch.measure(ranked).items():
            columns[name][places] = values
        counts = batch.levels(ranked)
        totals[: len(counts)] += counts
        fates[places] = batch.fates(ranked)
    whole = max(int(totals.sum()), 1)
    return Outcomes(
        tuple(question.category for question in questions),
        _plain(columns),
        {level: float(number) / whole for level, number in enumerate(totals)},
        seed=seed,
        fates=fates_of(fates),
        asked=tuple(question.text for question in questions),
        disputed=tuple(question.disputed is not None for question in questions),
    )


def fates_of(counts: Ints) -> tuple[Fate, ...]:
    """Returns the counts of ``QuestionBatch.fates`` as plain numbers."""
    return tuple(
        (found, quoted, answered, every) for found, quoted, answered, every in counts.tolist()
    )


def averaged(parts: Sequence[Outcomes]) -> Outcomes:
    """Averages outcomes of the same questions, value by value.

    Levels and fates are not averaged; they are those of the first.
    """
    first = parts[0]
    means = {name: np.mean([one.column(name) for one in parts], axis=0) for name in first.values}
    return replace(first, values=_plain(means))


def _plain(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, tuple[float | None, ...]]:
    return {
        name: tuple(None if value != value else value for value in column.tolist())  # NaN
        for name, column in columns.items()
    }


def pooled(parts: Mapping[str, Outcomes]) -> Outcomes:
    """Pools the outcomes of several conversations, by name.

    Intervals then resample conversations, and questions within them. Level shares are averaged,
    weighted by the number of questions. ValueError without parts.
    """
    if not parts:
        raise ValueError("there are no outcomes to pool; measure at least one conversation")
    every = tuple(parts.values())
    total = sum(len(part) for part in every)
    levels = sorted({level for part in every for level in part.levels})
    return Outcomes(
        tuple(one for part in every for one in part.categories),
        {
            name: tuple(value for part in every for value in part.values[name])
            for name in every[0].values
        },
        {
            level: sum(part.levels.get(level, 0.0) * len(part) for part in every) / max(total, 1)
            for level in levels
        },
        tuple(name for name, part in parts.items() for _ in part.categories),
        every[0].seed,
        tuple(fate for part in every for fate in part.fates),
        tuple(text for part in every for text in part.asked),
        tuple(one for part in every for one in part.disputed),
        all(part.count_disputed for part in every),
    )


@dataclass(frozen=True)
class Evaluation:
    """Result of measuring one setting.

    Attributes:
        settings: the setting, with its relevance named.
        units: number of units read for the measure ``reached``.
        tokens: number of tokens read for the measure ``answer_words``.
        outcomes: measures of all questions, in their order.
    """

    settings: RetrievalSettings
    units: int
    tokens: int
    outcomes: Outcomes

    def __repr__(self) -> str:
        """Returns the retrieval and the mean of the default measure, in one line."""
        return f"Evaluation({self.settings.in_words}, K {self.settings.k}: {self.outcomes})"


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
    """Measures retrieval over many questions by every measure of ``MEASURES``.

    A question counts if at least one of its evidence ids is a turn of the conversation; its gold
    leaves are those of the units with such turns. A counted question whose turns the unit rule
    dropped counts with 0. A question with a time is asked of the memory at that time, unless the
    settings name a ``step`` for all. All questions of one time are scored at once, which takes
    O((H + f) · q · n) memory for q questions, n nodes, H hops, and f words and turns to look for.

    Args:
        memory: the memory.
        questions: the questions, with gold evidence or answers.
        settings: the retrieval settings; the default is that of ``segviz.ask``. ``levels`` limit
            the mixed ranking; the ranking of leaves always has all leaves.
        units: number of units read for ``reached``, ≥ 1.
        tokens: number of tokens read for the measure ``answer_words``, ≥ 1.
        seed: draws the 95 % intervals.
        changes: fields of ``settings`` to replace, as in ``segviz.ask``.

    Returns:
        The settings in force and the outcomes of all questions.

    Raises:
        ValueError: names value and legal range of a bad setting.
    """
    settings = settings_for(memory, settings, changes).resolved(memory.model)
    groups = batches(memory, questions, Limits(settings, units, tokens))
    rankings = (ranked(memory, batch, settings) for batch in groups)
    return Evaluation(settings, units, tokens, outcomes_of(questions, groups, rankings, seed))


@dataclass(frozen=True, slots=True)
class Rescue:
    """Question for which propagation with ``settings`` has more evidence; see :func:`rescue`.

    ``place`` is its position among the questions.
    """

    place: int
    settings: RetrievalSettings


def rescue(memory: Memory, questions: Sequence[Question]) -> Rescue | None:
    """Finds a question that shows the benefit of propagation.

    Tries the presets in their order, those that retrieve every level first, since they show what
    the tree says, and returns the best question of the first one that has any. A question
    qualifies if propagation raises the number of its gold turns that are in evidence. The largest
    such gain is best, then the largest gain in found turns, then the fewest missed turns, then the
    earlier question. Returns None if no question qualifies under any preset.
    """
    for settings in sorted(PRESETS.values(), key=lambda each: each.levels is not None):
        after = evaluate(memory, questions, settings).outcomes.fates
        before = evaluate(memory, questions, settings, policy="none").outcomes.fates
        gains = [
            (sum(now[:3]) - sum(was[:3]), now[0] - was[0], sum(now[:3]) - now[3], -place)
            for place, (was, now) in enumerate(zip(before, after, strict=True))
            if sum(now[:3]) > sum(was[:3])
        ]
        if gains:
            *_, place = max(gains)
            return Rescue(-place, settings)
    return None


def covering(memory: Memory, questions: Sequence[Question], **changes: Any) -> dict[str, Any]:
    """Returns the columns of ``QuestionBatch.covering`` for all questions, float64 (q,) each.

    Of every ranking the K best nodes are read. ``changes`` are fields of the settings.
    """
    settings = RetrievalSettings(**changes).resolved(memory.model)
    columns: dict[str, Any] = {}
    for batch in batches(memory, questions, Limits(settings)):
        best = ranked(memory, batch, settings)[:, : settings.k]
        for name, values in batch.covering(best).items():
            columns.setdefault(name, np.full(len(questions), np.nan))[list(batch.places)] = values
    return columns


def ranked(memory: Memory, batch: QuestionBatch, settings: RetrievalSettings) -> Ints:
    """Returns the ranking over all levels of every question of a batch, node ids int64 (q, m)."""
    if settings.method == "native":
        asked = replace(settings, step=batch.step)
        results = (native_retrieval(memory, q.text, asked, batch.whole) for q in batch.questions)
        return batch.ragged([retrieval.ranked for retrieval in results])
    policy, alpha, horizon = settings.propagation
    edges = batch.structure.edges
    initial = batch.first_scores(memory, settings.relevance_for(memory.model))
    hops = spread(initial, edges, policy, horizon, batch.structure)
    return batch.ranked(combine(hops, policy, alpha))
