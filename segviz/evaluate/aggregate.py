"""Computes means over questions with bootstrap confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1_000
# Most drawn indices in memory at once; resamples are drawn in blocks of rows.
_BLOCK = 4_000_000


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over ``n`` questions and its 95 % confidence interval; all NaN for n = 0."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        """``0.812 [0.764, 0.857], n = 197``."""
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}], n = {self.n}"


def mean_ci(values: NDArray[np.float64], seed: int = 0) -> Mean:
    """Mean of ``values`` float64 (n,) with its percentile bootstrap interval.

    1,000 resamples of the questions with replacement from a generator seeded with
    ``seed``: the same seed and n draw the same questions, so that two settings measured
    on the same questions are resampled in pairs. Source: Efron and Tibshirani 1993, ch. 13.
    """
    # Each resample is a row of n drawn positions; its mean is one draw of the statistic. The
    # generator gives the same rows whatever the block size, so blocks bound memory alone.
    n = len(values)
    if not n:
        return Mean(math.nan, math.nan, math.nan, 0)
    rng = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    rows = max(1, _BLOCK // n)
    for begin in range(0, RESAMPLES, rows):
        block = means[begin : begin + rows]
        block[:] = values[rng.integers(n, size=(len(block), n), dtype=np.int32)].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Mean(float(values.mean()), float(low), float(high), n)


def categories(labels: Sequence[int | None]) -> dict[int | None, NDArray[np.int64]]:
    """Positions (int64) of the questions of each category id, ascending, None last."""
    found = sorted(set(labels), key=lambda label: (label is None, label or 0))
    return {
        label: np.array([i for i, other in enumerate(labels) if other == label], dtype=np.int64)
        for label in found
    }
