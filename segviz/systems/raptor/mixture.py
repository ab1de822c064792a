"""Computes principal components and diagonal Gaussian mixtures; equal input, equal clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDS = 50  # most iterations of EM; ours
_FLOOR = 1e-6  # least variance; ours
_ENOUGH = 1e-3  # gain in mean log-likelihood that ends EM; ours


def principal(points: Floats, dimensions: int) -> Floats:
    """Projects ``points`` (n, d) onto their first principal components, float64 (n, ≤ dimensions).

    Each component's sign is fixed by its largest entry and everything is rounded to nine digits, so
    that equal input gives equal output. Components without spread are zeros.
    """
    centred = points - points.mean(axis=0)
    # The Gram matrix of the points and the covariance of the columns have the same non-zero
    # eigenvalues; the smaller one is faster.
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
    """Gaussian mixture of c components, fitted to n points.

    ``shares`` float64 (n, c) are the posteriors of the components, rows sum to 1. ``bic``: lower is
    better.
    """

    shares: Floats
    bic: float


def fit(points: Floats, components: int, rng: np.random.Generator) -> Mixture:
    """Fits a mixture by expectation maximisation from k-means++ centres.

    Variances are diagonal and at least 1e-6. It ends after 50 rounds or when the mean
    log-likelihood grows by less than 1e-3.

    Args:
        points: float64 (n, d).
        components: their number, ≤ n.
        rng: source of randomness.

    Source: Arthur and Vassilvitskii 2007 for the centres.
    """
    n, d = points.shape
    means = _centres(points, components, rng)
    spread = np.maximum(points.var(axis=0), _FLOOR)
    variances = np.tile(spread, (components, 1))
    weights = np.full(components, 1.0 / components)
    before = -math.inf
    squares, twice = points**2, 2 * points
    for _ in range(_ROUNDS):
        # E step: posterior of each component for each point.
        joint = _log_joint(twice, squares, means, variances)
        joint += np.log(weights)
        shares, likelihood = _normalised(joint)
        if likelihood - before < _ENOUGH:
            break
        before = likelihood
        # M step: weights, means and variances from the posteriors; 1e-12 avoids division by 0.
        mass = np.add.reduce(shares, axis=0) + 1e-12
        weights = mass / n
        means = (shares.T @ points) / mass[:, None]
        variances = np.maximum((shares.T @ squares) / mass[:, None] - means**2, _FLOOR)
        weights = weights / np.add.reduce(weights)
    # BIC = parameters · ln n - 2 · log-likelihood: means and variances, and weights that sum to 1.
    parameters = components * 2 * d + components - 1
    return Mixture(shares, parameters * math.log(n) - 2 * n * likelihood)


def best_fit(points: Floats, most: int, rng: np.random.Generator, patience: int = 0) -> Mixture:
    """Returns the mixture with the least BIC (Schwarz 1978), of 1 … ``most`` components.

    The search ends after ``patience`` numbers in a row without improvement; 0: it tries all.
    """
    best = fit(points, 1, rng)
    since = 0
    for components in range(2, min(most, len(points)) + 1):
        mixture = fit(points, components, rng)
        if mixture.bic < best.bic:
            best, since = mixture, 0
        else:
            since += 1
            if since == patience:
                break
    return best


def memberships(shares: Floats, threshold: float) -> list[list[int]]:
    """Returns the members of each component that has any: points of a share above ``threshold``.

    Every point also belongs to its likeliest component.
    """
    member = shares > threshold
    member[np.arange(len(shares)), shares.argmax(axis=1)] = True
    groups = [np.flatnonzero(column).tolist() for column in member.T]
    return [group for group in groups if group]


def _centres(points: Floats, components: int, rng: np.random.Generator) -> Floats:
    """Draws as many of the points as there are components, far from each other (k-means++)."""
    chosen = [int(rng.integers(len(points)))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < components:
        # k-means++: the next centre is drawn in proportion to the squared distance from the nearest
        # one.
        total = nearest.sum()
        if total > 0:
            index = int(np.searchsorted(np.cumsum(nearest), rng.random() * total, side="right"))
            index = min(index, len(points) - 1)
        else:  # fewer distinct points than components
            index = int(rng.integers(len(points)))
        chosen.append(index)
        nearest = np.minimum(nearest, ((points - points[index]) ** 2).sum(axis=1))
    return points[chosen].copy()


# The next two functions run tens of thousands of times over small matrices. They compute in place
# and call the ufunc's ``reduce``, which avoids the overhead of ``sum``.
def _log_joint(twice: Floats, squares: Floats, means: Floats, variances: Floats) -> Floats:
    """Returns the log-density of each point under each component, float64 (n, c)."""
    precision = 1.0 / variances
    centres = means * precision
    # (x - μ)²/σ² = x²/σ² - 2xμ/σ² + μ²/σ²: two matrix products instead of n · c differences.
    joint: Floats = squares @ precision.T
    joint -= twice @ centres.T
    joint += np.add.reduce(means**2 * precision, axis=1)
    joint += np.add.reduce(np.log(2 * math.pi * variances), axis=1)
    joint *= -0.5
    return joint


def _normalised(joint: Floats) -> tuple[Floats, float]:
    """Makes posteriors of ``joint`` (n, c), in place; returns them and the mean likelihood."""
    top = np.maximum.reduce(joint, axis=1, keepdims=True)
    # Log-sum-exp: without the largest term the exponentials could overflow.
    joint -= top
    np.exp(joint, out=joint)
    sums = np.add.reduce(joint, axis=1, keepdims=True)
    joint /= sums
    top += np.log(sums)
    return joint, float(np.add.reduce(top, axis=None) / top.size)
