"""Standardises scores of different kinds and sharpens them towards the best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows (q, n) minus their means, divided by their standard deviations; 0 for a constant row."""
    if not scores.shape[1]:
        return np.zeros_like(scores)
    centred = scores - scores.mean(axis=1, keepdims=True)
    squares = np.multiply(centred, centred).sum(axis=1, keepdims=True)
    deviation = np.sqrt(squares / scores.shape[1])
    spread = deviation > 1e-12
    if not spread.all():
        centred *= spread
    return np.asarray(np.divide(centred, np.where(spread, deviation, 1.0), out=centred))


def sharpened(scores: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """exp(scores / temperature), each row divided by its largest: in (0, 1], same order.

    Dividing by the row's sum afterwards gives the softmax. Differences beyond 700
    temperatures, more than a float can tell, come out as the smallest float instead of 0.
    """
    if not scores.shape[1]:
        return np.zeros_like(scores)
    below = scores - scores.max(axis=1, keepdims=True)
    below /= temperature
    np.maximum(below, -700.0, out=below)
    return np.asarray(np.exp(below, out=below))
