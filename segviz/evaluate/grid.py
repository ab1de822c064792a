"""Sweeps policy x alpha x horizon over many questions (the paper's Figs 6, 7, 13, 14)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Question
from segviz.evaluate import measures
from segviz.evaluate.aggregate import Mean, categories, mean_ci
from segviz.evaluate.scores import first_scores, gold_of, measured_settings
from segviz.retrieval import RetrievalSettings, check_setting, combine, spread, taken

if TYPE_CHECKING:
    from segviz.memory import Memory

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Cell:
    """One setting: evidence recall@K over leaves, overall and per category id, and the
    shares of levels in the mixed tops of all questions (K nodes each, or what the token
    budget pays for)."""

    policy: str
    alpha: float
    horizon: int
    recall: Mean
    by_category: dict[int | None, Mean]
    levels: dict[int, float]


@dataclass(frozen=True)
class Sweep:
    """A grid of settings.

    ``cells`` run over policies, then alphas, then horizons, and end early when the sweep
    was cancelled; ``baseline`` is retrieval without propagation and always there.
    """

    policies: tuple[str, ...]
    alphas: tuple[float, ...]
    horizons: tuple[int, ...]
    k: int
    budget: int | None
    relevance: str
    distinct: bool
    questions: int
    baseline: Cell
    cells: tuple[Cell, ...]

    @property
    def settings(self) -> RetrievalSettings:
        """The settings all cells share; policy, alpha and horizon are the defaults."""
        return RetrievalSettings(
            relevance=self.relevance, k=self.k, budget=self.budget, literal=not self.distinct
        )

    @property
    def complete(self) -> bool:
        """Whether every cell was measured."""
        return len(self.cells) == len(self.policies) * len(self.alphas) * len(self.horizons)

    def cell(self, policy: str, alpha: float, horizon: int) -> Cell | None:
        """The cell of a setting; None where it was not measured."""
        for cell in self.cells:
            if (cell.policy, cell.alpha, cell.horizon) == (policy, alpha, horizon):
                return cell
        return None

    def best(self, policies: Collection[str] | None = None) -> Cell:
        """The cell with the highest recall, among ``policies`` if given.

        A tie goes to the fewer hops, then the smaller alpha, then the earlier policy. The
        baseline where nothing else was measured, or nothing counted.
        """
        found = [c for c in self.cells if policies is None or c.policy in policies]
        measured = [c for c in found if not math.isnan(c.recall.value)]
        ties_last = sorted(measured, key=lambda c: (c.horizon, c.alpha))
        return max(ties_last, key=lambda c: c.recall.value, default=self.baseline)


def sweep(
    memory: Memory,
    questions: Sequence[Question],
    settings: RetrievalSettings | None = None,
    *,
    policies: Sequence[str] = ("top-down", "bottom-up", "both"),
    alphas: Sequence[float] = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.95),
    horizons: Sequence[int] = (0, 1, 2, 3),
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    known: Sequence[Cell] = (),
    keep: Callable[[Cell], None] | None = None,
    **changes: Any,
) -> Sweep:
    """Measure every policy x alpha x horizon, as :func:`evaluate` would one by one.

    ``policies``, ``alphas`` and ``horizons`` are the axes; ``memory``, ``questions``,
    ``settings``, ``changes`` and ``seed`` are as in ``evaluate``, and a cell's numbers equal
    those of ``evaluate`` with its setting exactly. The questions are scored once, hops once
    per policy, and all settings that do not propagate (policy ``none``, H = 0, alpha = 0)
    once. ``progress(done, total)`` is called after every cell;
    when ``cancelled()``, asked before every cell, says so, what is done is returned.
    ``keep`` is given every cell; cells given back as ``known``, of a sweep that is
    otherwise the same, are not measured again. Repeated values are swept once. ValueError
    for an empty axis or an illegal value.
    """
    policies, alphas, horizons = (
        _axis("policies", policies),
        _axis("alphas", alphas),
        _axis("horizons", horizons),
    )
    for triple in product(policies, alphas, horizons):
        check_setting(*triple)
    horizons = tuple(int(horizon) for horizon in horizons)
    grid = list(product(policies, alphas, horizons))
    shared = measured_settings(settings, changes)
    k, budget = shared.k, shared.budget
    structure = memory.structure if shared.literal else memory.structure.collapsed
    gold = gold_of(memory, questions, structure)
    texts = structure.text
    nodes = np.flatnonzero(structure.active)
    counted = np.flatnonzero(gold.counted)
    groups = categories([questions[i].category for i in counted.tolist()])
    initial = first_scores(memory, questions, shared.relevance_for(), structure)

    def measured(policy: str, alpha: float, horizon: int, final: NDArray[np.float64]) -> Cell:
        ranked = measures.order(final, nodes)
        leaves = measures.among(ranked, structure.level == 0)
        mixed = ranked
        tops = (
            mixed[:, :k].tolist()
            if budget is None
            else [taken(row, texts, k, budget) for row in mixed]
        )
        relevant = np.take_along_axis(gold.leaves, leaves, axis=1)
        values = measures.recall(relevant, k)[counted]
        return Cell(
            policy,
            alpha,
            horizon,
            mean_ci(values, seed),
            {label: mean_ci(values[rows], seed) for label, rows in groups.items()},
            measures.level_shares(tops, structure.level),
        )

    # Hops do not depend on alpha, so they are spread once per policy, to the largest horizon;
    # each cell combines its first H + 1. The grid runs policy by policy, so one set is held.
    baseline = measured("none", 0.0, 0, initial)
    done = {(cell.policy, cell.alpha, cell.horizon): cell for cell in known}
    cells: list[Cell] = []
    hops, spread_by = initial[None], ""
    for policy, alpha, horizon in grid:
        if cancelled is not None and cancelled():
            break
        if (policy, alpha, horizon) in done:
            cell = done[policy, alpha, horizon]
        elif policy == "none" or horizon == 0 or alpha == 0:
            cell = replace(baseline, policy=policy, alpha=alpha, horizon=horizon)
        else:
            if policy != spread_by:
                hops = spread(initial, structure.edges, policy, max(horizons), structure)
                spread_by = policy
            cell = measured(policy, alpha, horizon, combine(hops, policy, alpha, horizon))
        cells.append(cell)
        if keep is not None:
            keep(cell)
        if progress is not None:
            progress(len(cells), len(grid))
    return Sweep(
        policies,
        alphas,
        horizons,
        k,
        budget,
        shared.relevance_for(),
        not shared.literal,
        len(questions),
        baseline,
        tuple(cells),
    )


def _axis(name: str, values: Sequence[_Value]) -> tuple[_Value, ...]:
    if not len(values):
        raise ValueError(f"{name} is empty; name at least one value")
    return tuple(dict.fromkeys(values))
