"""Principal components and a diagonal Gaussian mixture, seeded: equal input, equal clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDS = 50  # ours
_FLOOR = 1e-6  # ours
_ENOUGH = 1e-3  # ours


def principal(points: Floats, dimensions: int) -> Floats:
    """Returns the first principal components of ``points`` (n, d), float64 (n, ≤ dimensions).

    Computed from whichever is smaller, the products of the points or of the columns. Each
    component's sign is fixed by its largest entry and everything is rounded to nine digits,
    so that equal input gives equal output; components without spread are zeros.
    """
    centred = points - points.mean(axis=0)
    if len(points) < centred.shape[1]:
        values, vectors = np.linalg.eigh(centred @ centred.T)
        lengths = np.sqrt(np.clip(values[::-1][:dimensions], 0.0, None))
        scores = vectors[:, ::-1][:, :dimensions] * lengths
    else:
        _, axes = np.linalg.eigh(centred.T @ centred)
        scores = centred @ axes[:, ::-1][:, :dimensions]
    largest = np.abs(scores).argmax(axis=0)
    signs = np.sign(scores[largest, np.arange(scores.shape[1])])
    return np.asarray(np.round(scores * np.where(signs == 0, 1.0, signs), 9))


@dataclass(frozen=True)
class Mixture:
    """A fitted mixture of c components over n points.

    ``shares`` float64 (n, c): the posterior of each component, rows sum to 1. ``bic``:
    lower is better.
    """

    shares: Floats
    bic: float


def fit(points: Floats, components: int, rng: np.random.Generator) -> Mixture:
    """Expectation maximisation from k-means++ centres (Arthur and Vassilvitskii 2007).

    ``points`` (n, d), ``components`` ≤ n. Variances are diagonal and at least 1e-6; it ends
    after 50 rounds or when the mean log-likelihood grows by less than 1e-3.
    """
    n, d = points.shape
    means = _centres(points, components, rng)
    spread = np.maximum(points.var(axis=0), _FLOOR)
    variances = np.tile(spread, (components, 1))
    weights = np.full(components, 1.0 / components)
    before = -math.inf
    squares, twice = points**2, 2 * points
    for _ in range(_ROUNDS):
        joint = _log_joint(twice, squares, means, variances)
        joint += np.log(weights)
        shares, likelihood = _normalised(joint)
        if likelihood - before < _ENOUGH:
            break
        before = likelihood
        mass = np.add.reduce(shares, axis=0) + 1e-12
        weights = mass / n
        means = (shares.T @ points) / mass[:, None]
        variances = np.maximum((shares.T @ squares) / mass[:, None] - means**2, _FLOOR)
        weights = weights / np.add.reduce(weights)
    parameters = components * 2 * d + components - 1
    return Mixture(shares, parameters * math.log(n) - 2 * n * likelihood)


def best_fit(points: Floats, most: int, rng: np.random.Generator, patience: int = 0) -> Mixture:
    """Returns the mixture with the least BIC (Schwarz 1978), of 1 … ``most`` components.

    The search ends after ``patience`` counts in a row without improvement; 0: it tries all.
    """
    best = fit(points, 1, rng)
    since = 0
    for components in range(2, min(most, len(points)) + 1):
        found = fit(points, components, rng)
        if found.bic < best.bic:
            best, since = found, 0
        else:
            since += 1
            if since == patience:
                break
    return best


def memberships(shares: Floats, threshold: float) -> list[list[int]]:
    """Members of each component: points whose share exceeds ``threshold``, and every point
    in its likeliest component, so that none is left out. Empty components are dropped."""
    member = shares > threshold
    member[np.arange(len(shares)), shares.argmax(axis=1)] = True
    groups = [np.flatnonzero(column).tolist() for column in member.T]
    return [group for group in groups if group]


def _centres(points: Floats, components: int, rng: np.random.Generator) -> Floats:
    chosen = [int(rng.integers(len(points)))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < components:
        total = nearest.sum()
        if total > 0:
            index = int(np.searchsorted(np.cumsum(nearest), rng.random() * total, side="right"))
            index = min(index, len(points) - 1)
        else:  # fewer distinct points than components
            index = int(rng.integers(len(points)))
        chosen.append(index)
        nearest = np.minimum(nearest, ((points - points[index]) ** 2).sum(axis=1))
    return points[chosen].copy()


# The two below run tens of thousands of times over small matrices: they write into what they
# have made, and add up by the ufunc, which is what ``sum`` calls after a detour.
def _log_joint(twice: Floats, squares: Floats, means: Floats, variances: Floats) -> Floats:
    """Log-density under every component, (n, c), of the points given doubled and squared."""
    precision = 1.0 / variances
    centres = means * precision
    joint: Floats = squares @ precision.T
    joint -= twice @ centres.T
    joint += np.add.reduce(means**2 * precision, axis=1)
    joint += np.add.reduce(np.log(2 * math.pi * variances), axis=1)
    joint *= -0.5
    return joint


def _normalised(joint: Floats) -> tuple[Floats, float]:
    """Posteriors, in the place of ``joint``, and the mean log-likelihood."""
    top = np.maximum.reduce(joint, axis=1, keepdims=True)
    joint -= top
    np.exp(joint, out=joint)
    sums = np.add.reduce(joint, axis=1, keepdims=True)
    joint /= sums
    top += np.log(sums)
    return joint, float(np.add.reduce(top, axis=None) / top.size)
