"""Measures many questions under one setting: every measure of each, and their means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import UNANSWERABLE, Category, Question, category_order
from segviz.evaluation.aggregate import Mean, mean_ci
from segviz.evaluation.measures import MEASURES, TOKENS, UNITS, check_measure
from segviz.evaluation.question_batch import Ints, Limits, QuestionBatch, batches, measured_settings
from segviz.memory import Memory, own_retrieval
from segviz.retrieval import PRESETS, RetrievalSettings, combine, spread

ADVERSARIAL = 5
"""LoCoMo's category of questions whose answer is not in the conversation; their evidence is
the turn that tempts to a wrong answer."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The measures of q questions under one setting.

    ``values`` has a number per question for each measure, None where the question has no
    value; ``categories`` is the category id of each question, ``groups`` its conversation;
    ``levels`` the shares of levels among all nodes of the tops; ``seed`` draws the intervals.
    ``fates`` says how many gold turns of each question are found in the top, how many only
    quoted by a wider node alone, and how many there are; ``asked`` are the questions' texts.
    """

    categories: tuple[Category | None, ...]
    values: dict[str, tuple[float | None, ...]]
    levels: dict[int, float] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    seed: int = 0
    fates: tuple[tuple[int, int, int], ...] = ()
    asked: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.categories)

    def column(self, measure: str) -> NDArray[np.float64]:
        """A measure of every question, float64 (q,), NaN where it has no value. ValueError for
        an unknown measure."""
        check_measure(measure)
        return np.array(self.values[measure], dtype=np.float64)

    def frame(self) -> Any:
        """A pandas DataFrame, a row per question: its category, its conversation where there are
        several, and every measure, NaN where it has no value."""
        import pandas as pd

        groups = {"conversation": list(self.groups)} if self.groups else {}
        columns = {name: self.column(name) for name in self.values}
        return pd.DataFrame(
            {"category": pd.Series(self.categories, dtype=object)} | groups | columns
        )

    def keep(self, *, adversarial: bool = True, category: Category | None = "all") -> list[int]:
        """Positions of the questions of a ``category`` (default: all), in order, those
        whose answer is not in the conversation left out unless ``adversarial``."""
        return [
            position
            for position, mine in enumerate(self.categories)
            if (adversarial or mine not in UNANSWERABLE) and category in ("all", mine)
        ]

    def mean(
        self, measure: str, *, adversarial: bool = True, category: Category | None = "all"
    ) -> Mean:
        """The mean of a measure over the questions that :meth:`keep` names."""
        column = self.column(measure)
        return self._mean(column, self.keep(adversarial=adversarial, category=category))

    def value(
        self, measure: str, *, adversarial: bool = True, category: Category | None = "all"
    ) -> float:
        """As :meth:`mean` without its interval, at once; NaN where no question has a value."""
        kept = self.column(measure)[self.keep(adversarial=adversarial, category=category)]
        kept = kept[~np.isnan(kept)]
        return float(kept.mean()) if len(kept) else math.nan

    def gain(self, other: Outcomes, measure: str, *, adversarial: bool = True) -> Mean:
        """The mean difference to ``other``, question by question: positive where these are
        higher. ValueError unless both hold the same questions."""
        mine, theirs = ((each.categories, each.groups, each.asked) for each in (self, other))
        if mine != theirs:
            raise ValueError(
                f"these outcomes hold {len(self)} questions and those {len(other)}, or others; a "
                "paired difference needs the same questions in one order"
            )
        difference = self.column(measure) - other.column(measure)
        return self._mean(difference, self.keep(adversarial=adversarial))

    @property
    def known_categories(self) -> tuple[Category | None, ...]:
        """The category ids there are, ascending, None last."""
        return tuple(sorted(set(self.categories), key=category_order))

    def _mean(self, column: NDArray[np.float64], positions: Sequence[int]) -> Mean:
        kept = [position for position in positions if not np.isnan(column[position])]
        groups = tuple(self.groups[position] for position in kept) if self.groups else ()
        return mean_ci(column[kept], self.seed, groups)


def summary(
    found: Outcomes, other: Outcomes | None = None, measures: Sequence[str] = tuple(MEASURES)
) -> dict[str, dict[str, Mean]]:
    """The means of ``measures`` by name: ``all`` questions, ``without_adversarial``, and with
    ``other`` the paired ``gain`` over it."""
    content = {
        name: {"all": found.mean(name), "without_adversarial": found.mean(name, adversarial=False)}
        for name in measures
    }
    if other is not None and len(other) == len(found):
        for name, means in content.items():
            means["gain"] = found.gain(other, name)
    return content


def outcomes_of(
    questions: Sequence[Question],
    batches: Sequence[QuestionBatch],
    rankings: Iterable[NDArray[np.int64]],
    seed: int,
) -> Outcomes:
    """The outcomes of ``questions`` from a ranking of each of their batches."""
    columns = {name: np.full(len(questions), np.nan) for name in MEASURES}
    highest = max((int(b.structure.level.max(initial=0)) for b in batches), default=0)
    totals = np.zeros(highest + 1, dtype=np.int64)
    fates = np.zeros((len(questions), 3), dtype=np.int64)
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
        fates=tuple((found, covered, every) for found, covered, every in fates.tolist()),
        asked=tuple(question.text for question in questions),
    )


def averaged(parts: Sequence[Outcomes]) -> Outcomes:
    """Outcomes of the same questions as one: each value is the mean of theirs. Levels and fates
    are those of the first."""
    first = parts[0]
    means = {name: np.mean([one.column(name) for one in parts], axis=0) for name in first.values}
    return replace(first, values=_plain(means))


def _plain(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, tuple[float | None, ...]]:
    return {
        name: tuple(None if np.isnan(value) else value for value in column.tolist())
        for name, column in columns.items()
    }


def pooled(parts: Mapping[str, Outcomes]) -> Outcomes:
    """The outcomes of several conversations as one; intervals resample conversations and the
    questions within them. Level shares are means over the conversations, weighed by questions.
    ValueError without parts."""
    if not parts:
        raise ValueError("there are no outcomes to pool; measure at least one conversation")
    total = sum(len(part) for part in parts.values())
    levels = sorted({level for part in parts.values() for level in part.levels})
    return Outcomes(
        tuple(one for part in parts.values() for one in part.categories),
        {
            name: tuple(value for part in parts.values() for value in part.values[name])
            for name in MEASURES
        },
        {
            level: sum(part.levels.get(level, 0.0) * len(part) for part in parts.values())
            / max(total, 1)
            for level in levels
        },
        tuple(name for name, part in parts.items() for _ in part.categories),
        next(iter(parts.values())).seed,
        tuple(fate for part in parts.values() for fate in part.fates),
        tuple(text for part in parts.values() for text in part.asked),
    )


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


@dataclass(frozen=True, slots=True)
class Rescue:
    """The question whose gold turns a setting rescues most, by its ``place``."""

    place: int
    settings: RetrievalSettings


def rescue(memory: Memory, questions: Sequence[Question]) -> Rescue | None:
    """Finds a question that shows what propagation is good for.

    Tries the presets in their order, the opening first. A rescued question has more gold turns
    found than without propagation, and none lost that a wider node quoted. Ties go to more that
    are covered, then to the earlier question.

    Args:
        memory: the memory that is asked.
        questions: the questions to choose from.

    Returns:
        None where no preset rescues any.
    """
    for settings in PRESETS.values():
        after = evaluate(memory, questions, settings).outcomes.fates
        before = evaluate(memory, questions, settings, policy="none").outcomes.fates
        gains = [
            (now[0] - was[0], now[1] - was[1], -place)
            for place, (was, now) in enumerate(zip(before, after, strict=True))
            if now[0] > was[0] and now[0] + now[1] >= was[0] + was[1]
        ]
        if gains:
            return Rescue(-max(gains)[2], settings)
    return None


def ranked(memory: Memory, batch: QuestionBatch, settings: RetrievalSettings) -> Ints:
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
