"""Means over questions with bootstrap confidence intervals, paired and clustered."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean over ``n`` questions with its 95 % confidence interval, which is NaN for n < 2."""

    value: float
    low: float
    high: float
    n: int

    @property
    def has_interval(self) -> bool:
        """True if the interval is known."""
        return not math.isnan(self.low)

    def __str__(self) -> str:
        """Returns ``0.812 [0.764, 0.857], n = 197``; no interval if it is NaN."""
        interval = f" [{self.low:.3f}, {self.high:.3f}]" if self.has_interval else ""
        return f"{self.value:.3f}{interval}, n = {self.n}"


Row = dict[str, str | int | float | Mean]
"""Row of a table: column name to value."""


def number_of(cell: object) -> float:
    """Converts a table cell to float: a number, the value of a Mean, else NaN."""
    value = cell.value if isinstance(cell, Mean) else cell
    return float(value) if isinstance(value, int | float) else math.nan


def mean_ci(values: Floats, seed: int = 0, groups: Sequence[Hashable] = ()) -> Mean:
    """Returns the mean of ``values`` with its percentile bootstrap interval.

    Each of 1,000 resamples draws conversations with replacement, and questions with replacement
    within each of them. The same seed and groups draw the same questions, so that two settings
    measured on the same questions are resampled in pairs. With two or three conversations, or fewer
    than ten questions, an interval says little. If all conversations are alike, the interval is
    wider than necessary, because drawing conversations adds variance.

    Args:
        values: float64 (n,).
        seed: seed of the draws.
        groups: the conversation of each value; () if all are of one.

    Source: Efron and Tibshirani 1993, ch. 13; Davison and Hinkley 1997, §3.8.
    """
    n = len(values)
    if not n:
        return Mean(math.nan, math.nan, math.nan, 0)
    if n == 1:  # one question has no spread
        return Mean(float(values[0]), math.nan, math.nan, 1)
    low, high = np.quantile(_resampled(values, seed, groups), (0.025, 0.975))
    return Mean(float(values.mean()), float(low), float(high), n)


def means_together(
    values: Floats, seed: int = 0, groups: Sequence[Hashable] = (), tables: int = 1
) -> list[Mean]:
    """Returns column means of ``values`` float64 (n, m), with simultaneous 95 % intervals.

    An interval is the mean ± c standard errors. c is the 95 % quantile, over the resamples of
    :func:`mean_ci`, of the largest deviation of any column from its mean, in standard errors of the
    column. So in 95 % of the resamples all columns lie within their intervals, and the highest of
    many columns is not significant merely because there are many. If several ``tables`` are read
    side by side, c is the quantile at 1 - 0.05 / tables (Bonferroni).

    Source: Romano and Wolf 2005, the studentised maximum in one step.
    """
    n, m = values.shape
    if n < 2:
        return [mean_ci(values[:, column], seed, groups) for column in range(m)]
    center = values.mean(axis=0)
    away = np.abs(_resampled(values, seed, groups) - center)
    error = np.sqrt((away**2).mean(axis=0))
    relative = np.divide(away, error, out=np.zeros_like(away), where=error > 0)
    width = float(np.quantile(relative.max(axis=1, initial=0.0), 1 - 0.05 / tables)) * error
    return [
        Mean(float(c), float(c - w), float(c + w), n) for c, w in zip(center, width, strict=True)
    ]


def _resampled(values: Floats, seed: int, groups: Sequence[Hashable]) -> Floats:
    """Returns the mean of ``values`` in every resample, float64 (RESAMPLES, …)."""
    sizes = (len(values),) if not groups else tuple(np.bincount(_codes(groups)).tolist())
    order = np.argsort(_codes(groups), kind="stable") if groups else slice(None)
    counts, drawn = _resamples(sizes, seed)
    means: Floats = (counts @ values[order]).T / drawn
    return means.T


def _codes(groups: Sequence[Hashable]) -> NDArray[np.int64]:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(group, len(known)) for group in groups], dtype=np.int64)


@lru_cache(maxsize=8)
def _resamples(sizes: tuple[int, ...], seed: int) -> tuple[Floats, Floats]:
    """Draws the resamples of groups with these ``sizes``.

    Returns how often each resample draws each question, float64 (RESAMPLES, n) with questions
    sorted by group, and the number of questions in each resample, float64 (RESAMPLES,).
    """
    # Counts of draws with replacement are multinomial, for the groups and for the questions of
    # each group as often as it was drawn.
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(sizes), [1 / len(sizes)] * len(sizes), size=RESAMPLES)
    parts = [
        rng.multinomial(times * size, [1 / size] * size)
        for times, size in zip(drawn.T, sizes, strict=True)
    ]
    counts = np.concatenate(parts, axis=1).astype(np.float64)
    return counts, counts.sum(axis=1)
