"""Sweeps policy x alpha x horizon over many questions (SegTreeMem Figs 6, 7, 13, 14)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from segviz.conversation import Question
from segviz.evaluation.aggregate import Mean, Row, means_together
from segviz.evaluation.evaluation import Outcomes, outcomes_of, pooled
from segviz.evaluation.measures import DEFAULT, MEASURES, TOKENS, UNITS, check_measure, sees
from segviz.evaluation.question_batch import Floats, Limits, batches
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings, check_setting, combine, spread
from segviz.systems import level_name

ALPHAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.95)
"""Values of the decay α in the sweeps of SegTreeMem."""


@dataclass(frozen=True)
class Cell:
    """Setting of a sweep, with the measures (``outcomes``) of all questions under this setting."""

    policy: str
    alpha: float
    horizon: int
    outcomes: Outcomes

    @property
    def setting(self) -> tuple[str, float, int]:
        """Policy, alpha and horizon."""
        return self.policy, self.alpha, self.horizon

    @property
    def moves(self) -> bool:
        """True if this setting propagates scores."""
        return self.policy != "none" and self.horizon > 0 and self.alpha > 0


@dataclass(frozen=True)
class Sweep:
    """Measures of a grid of settings.

    ``cells`` are ordered by policy, then alpha, then horizon. ``baseline`` is retrieval without
    propagation. ``settings`` are shared by all cells, but for policy, alpha and horizon.
    """

    settings: RetrievalSettings
    units: int
    tokens: int
    policies: tuple[str, ...]
    alphas: tuple[float, ...]
    horizons: tuple[int, ...]
    baseline: Cell
    cells: tuple[Cell, ...]

    def __repr__(self) -> str:
        """Returns the size of the grid and the mean without propagation, in one line."""
        return f"Sweep({len(self.cells)} settings, without propagation: {self.baseline.outcomes})"

    @property
    def questions(self) -> int:
        """Number of all questions, also of those without gold evidence or answer."""
        return len(self.baseline.outcomes)

    def counting(self, *, disputed: bool) -> Sweep:
        """Returns the sweep with the disputed questions in every mean, or in none."""
        baseline, *cells = (
            replace(cell, outcomes=cell.outcomes.counting(disputed=disputed))
            for cell in (self.baseline, *self.cells)
        )
        return replace(self, baseline=baseline, cells=tuple(cells))

    def frame(self) -> Any:
        """Returns a pandas DataFrame with a row per setting, the baseline first.

        Columns are the setting and the mean of every measure, NaN if the policy cannot change it.
        """
        import pandas as pd

        return pd.DataFrame(
            {
                "policy": cell.policy,
                "alpha": cell.alpha,
                "horizon": cell.horizon,
                **{
                    name: cell.outcomes.value(name) if sees(name, cell.policy) else math.nan
                    for name in MEASURES
                },
            }
            for cell in (self.baseline, *self.cells)
        )

    def cell(self, policy: str, alpha: float, horizon: int) -> Cell | None:
        """Returns the cell of a setting; None if it was not measured."""
        return {cell.setting: cell for cell in self.cells}.get((policy, alpha, horizon))

    def gain(self, cell: Cell, measure: str = DEFAULT, *, adversarial: bool = True) -> Mean:
        """Returns the mean of a cell minus that of no propagation, paired by question."""
        return cell.outcomes.gain(self.baseline.outcomes, measure, adversarial=adversarial)

    def gains(
        self, measure: str = DEFAULT, *, adversarial: bool = True, sweeps: int = 1
    ) -> dict[tuple[str, float, int], Mean]:
        """Returns the gain of every propagating cell over no propagation, by setting.

        Policies that cannot change the measure are left out. The intervals hold simultaneously for
        all these cells, and for the cells of as many ``sweeps`` as are reported together.
        """
        base = self.baseline.outcomes
        cells = [one for one in self.cells if one.moves and sees(measure, one.policy)]
        if not cells:
            return {}
        # A column of differences per cell; a question without a value in one of them is left out.
        columns = np.stack([one.outcomes.column(measure) for one in cells], axis=1)
        columns -= base.column(measure)[:, None]
        places = [p for p in base.keep(adversarial=adversarial) if not np.isnan(columns[p]).any()]
        groups = tuple(base.groups[p] for p in places) if base.groups else ()
        means = means_together(columns[places], base.seed, groups, sweeps)
        return {one.setting: mean for one, mean in zip(cells, means, strict=True)}

    def table(
        self, measure: str = DEFAULT, *, adversarial: bool = True, sweeps: int = 1
    ) -> list[Row]:
        """Returns a row for no propagation, then one for the best setting of each policy.

        A row has the mean and the paired gain (:meth:`gains`). Policies that cannot change the
        measure are left out.
        """
        changing = [policy for policy in self.policies if sees(measure, policy)]
        best = (self.best(measure, [policy], adversarial=adversarial) for policy in changing)
        gains = self.gains(measure, adversarial=adversarial, sweeps=sweeps)
        still = self.gain(self.baseline, measure, adversarial=adversarial)
        return [
            {
                "policy": cell.policy,
                "alpha": cell.alpha,
                "H": cell.horizon,
                MEASURES[measure].label: cell.outcomes.mean(measure, adversarial=adversarial),
                **cell.outcomes.recounted(measure, adversarial=adversarial),
                "gain": gains.get(cell.setting, still),
            }
            for cell in (self.baseline, *best)
        ]

    def level_rows(
        self,
        horizon: int,
        policy: str,
        measure: str = "",
        names: Sequence[str] = (),
        *,
        adversarial: bool = True,
    ) -> list[Row]:
        """Returns for each alpha the share of each level among the K best nodes.

        The first row is that of no propagation.

        Args:
            horizon: the number of hops.
            policy: the policy.
            measure: a measure whose mean is added; "" for none.
            names: names of the levels, from level 0 on.
            adversarial: False leaves adversarial questions out of that mean.
        """
        cells = [cell for cell in self.cells if (cell.policy, cell.horizon) == (policy, horizon)]
        rows: list[Row] = []
        for cell in (self.baseline, *sorted(cells, key=lambda cell: cell.alpha)):
            row: Row = {"α": f"{cell.alpha:g}" if cell is not self.baseline else "none"}
            for level in self.baseline.outcomes.levels:
                row[level_name(level, names)] = cell.outcomes.levels.get(level, 0.0)
            if measure:
                label = MEASURES[measure].label
                row[label] = cell.outcomes.mean(measure, adversarial=adversarial)
                recounted = cell.outcomes.recounted(measure, adversarial=adversarial)
                row |= {f"{label}, {how}": mean for how, mean in recounted.items()}
            rows.append(row)
        return rows

    def best(
        self,
        measure: str = DEFAULT,
        policies: Collection[str] | None = None,
        *,
        adversarial: bool = True,
    ) -> Cell:
        """Returns the propagating cell with the highest mean of a measure.

        Of equal cells, the one with fewer hops, then smaller alpha, then earlier policy is best.
        The baseline is returned if no propagating cell was measured, or no question counts.

        Args:
            measure: a name from ``MEASURES``.
            policies: policies to choose from; None for all that can change the measure.
            adversarial: count questions without an answer in the conversation.

        Raises:
            ValueError: the measure is unknown.
        """
        check_measure(measure, self.baseline.outcomes.values)
        values = [
            (-cell.outcomes.value(measure, adversarial=adversarial), cell.horizon, cell.alpha, cell)
            for cell in self.cells
            if cell.moves
            and sees(measure, cell.policy)
            and (policies is None or cell.policy in policies)
        ]
        counted = [one for one in values if not math.isnan(one[0])]
        return min(counted, key=lambda one: one[:3], default=(self.baseline,))[-1]


def sweep(
    memory: Memory,
    questions: Sequence[Question],
    settings: RetrievalSettings | None = None,
    *,
    policies: Sequence[str] = ("top-down", "bottom-up", "both"),
    alphas: Sequence[float] = ALPHAS,
    horizons: Sequence[int] = (0, 1, 2, 3),
    units: int = UNITS,
    tokens: int = TOKENS,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    known: Sequence[Cell] = (),
    keep: Callable[[Cell], None] | None = None,
    **changes: Any,
) -> Sweep:
    """Measures every policy x alpha x horizon, as :func:`evaluate` would one by one.

    The measures of a cell equal those of ``evaluate`` with the same setting exactly. To save time,
    questions are scored once, hops are computed once per policy, and all settings that do not
    propagate (policy ``none``, H = 0 or alpha = 0) are measured once.

    Args:
        memory: the memory.
        questions: the questions, with gold evidence or answers.
        settings: the shared retrieval settings.
        policies: names from ``POLICIES``; a repeated value is swept once.
        alphas: decays in [0, 1).
        horizons: numbers of hops, ≥ 0.
        units: as in ``evaluate``.
        tokens: as in ``evaluate``.
        seed: as in ``evaluate``.
        progress: called with (done, total) after every cell.
        known: cells of a sweep that is otherwise the same; they are not measured again.
        keep: called with every cell.
        changes: fields of ``settings`` to replace.

    Returns:
        The baseline and all cells.

    Raises:
        ValueError: an axis is empty or has an illegal value.
    """
    policies, alphas, horizons = _axes(policies, alphas, horizons)
    grid = list(product(policies, alphas, horizons))
    shared = replace(settings or RetrievalSettings(), **changes).resolved(memory.model)
    if shared.method != "propagate":
        raise ValueError(
            f"method is {shared.method!r}; a sweep varies propagation, so leave it out"
        )
    # Questions are scored once; every cell starts from these scores.
    groups = batches(memory, questions, Limits(shared, units, tokens))
    initial = [batch.first_scores(memory, shared.relevance_for(memory.model)) for batch in groups]

    def measured(policy: str, alpha: float, horizon: int, scores: Sequence[Floats]) -> Cell:
        ranked = (batch.ranked(each) for batch, each in zip(groups, scores, strict=True))
        return Cell(policy, alpha, horizon, outcomes_of(questions, groups, ranked, seed))

    # Hops do not depend on alpha, so they are spread once per policy, to the largest horizon;
    # each cell combines its first H + 1. The grid runs policy by policy, so one set suffices.
    @lru_cache(maxsize=1)
    def hops(policy: str) -> list[tuple[Floats, ...]]:
        return [
            spread(scores, batch.structure.edges, policy, max(horizons), batch.structure)
            for batch, scores in zip(groups, initial, strict=True)
        ]

    # Cells that do not propagate are the baseline under another name.
    baseline = measured("none", 0.0, 0, initial)
    done = {cell.setting: cell for cell in known}
    cells: list[Cell] = []
    for policy, alpha, horizon in grid:
        cell = done.get((policy, alpha, horizon)) or replace(
            baseline, policy=policy, alpha=alpha, horizon=horizon
        )
        if cell.moves and (policy, alpha, horizon) not in done:
            final = [combine(each, policy, alpha, horizon) for each in hops(policy)]
            cell = measured(policy, alpha, horizon, final)
        cells.append(cell)
        if keep is not None:
            keep(cell)
        if progress is not None:
            progress(len(cells), len(grid))
    return Sweep(shared, units, tokens, policies, alphas, horizons, baseline, tuple(cells))


def pooled_sweep(names: Sequence[str], sweeps: Sequence[Sweep]) -> Sweep:
    """Pools the sweeps of several conversations, called ``names``, over one grid."""
    baseline, *cells = (
        replace(
            column[0],
            outcomes=pooled(dict(zip(names, (cell.outcomes for cell in column), strict=True))),
        )
        for column in zip(*((one.baseline, *one.cells) for one in sweeps), strict=True)
    )
    return replace(sweeps[0], baseline=baseline, cells=tuple(cells))


def _axes(
    policies: Sequence[str], alphas: Sequence[float], horizons: Sequence[int]
) -> tuple[tuple[str, ...], tuple[float, ...], tuple[int, ...]]:
    """Returns the values of each axis once; ValueError for an empty axis or an illegal value."""
    for name, values in (("policies", policies), ("alphas", alphas), ("horizons", horizons)):
        if not len(values):
            raise ValueError(f"{name} is empty; name at least one value")
    for triple in product(policies, alphas, horizons):
        check_setting(*triple)
    whole = tuple(dict.fromkeys(int(horizon) for horizon in horizons))
    return tuple(dict.fromkeys(policies)), tuple(dict.fromkeys(alphas)), whole
