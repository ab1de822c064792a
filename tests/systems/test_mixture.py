"""Principal components and the Gaussian mixture against slow restatements."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segviz.systems.raptor import Raptor, mixture
from segviz.systems.raptor.system import clusters


def blobs(sizes, distance=5.0, seed=0, dimensions=4):
    rng = np.random.default_rng(seed)
    centres = np.repeat(rng.normal(size=(len(sizes), dimensions)) * distance, sizes, axis=0)
    return centres + rng.normal(scale=0.3, size=centres.shape)


@pytest.mark.parametrize(("n", "d"), [(30, 5), (6, 20), (1, 3), (2, 2)])
def test_principal_components_are_those_of_the_svd(n, d):
    points = np.random.default_rng(n).normal(size=(n, d))
    k = 2
    found = mixture.principal(points, k)
    centred = points - points.mean(axis=0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    expected = (left * lengths)[:, :k]
    assert found.shape == expected.shape
    assert np.allclose(np.abs(found), np.abs(expected), atol=1e-6)
    for column in found.T:
        assert column[np.abs(column).argmax()] >= 0


def literal_em(points, means, rounds):
    """EM for a diagonal mixture, one point and one component at a time."""
    n, d = len(points), len(points[0])
    c = len(means)
    spread = [max(float(np.var(points[:, j])), 1e-6) for j in range(d)]
    variances = [list(spread) for _ in range(c)]
    weights = [1 / c] * c
    before = -math.inf
    for _ in range(rounds):
        shares, total = [], 0.0
        for x in points:
            logs = []
            for w, mean, variance in zip(weights, means, variances, strict=True):
                value = math.log(w)
                for j in range(d):
                    value -= 0.5 * math.log(2 * math.pi * variance[j])
                    value -= 0.5 * (x[j] - mean[j]) ** 2 / variance[j]
                logs.append(value)
            top = max(logs)
            likelihood = top + math.log(sum(math.exp(v - top) for v in logs))
            total += likelihood
            shares.append([math.exp(v - likelihood) for v in logs])
        if total / n - before < 1e-3:
            break
        before = total / n
        for k in range(c):
            mass = sum(row[k] for row in shares)
            weights[k] = mass / n
            for j in range(d):
                mean = sum(row[k] * x[j] for row, x in zip(shares, points, strict=True)) / mass
                square = sum(row[k] * x[j] ** 2 for row, x in zip(shares, points, strict=True))
                means[k][j] = mean
                variances[k][j] = max(square / mass - mean**2, 1e-6)
    free = c * 2 * d + c - 1
    return np.array(shares), free * math.log(n) - 2 * total


@pytest.mark.parametrize("components", [1, 2, 3, 5])
def test_fit_is_expectation_maximisation(components):
    points = blobs([9, 7, 5], distance=1.0)
    start = mixture._centres(points, components, np.random.default_rng(4))
    shares, bic = literal_em(points, start.tolist(), 50)
    found = mixture.fit(points, components, np.random.default_rng(4))
    assert np.allclose(found.shares, shares, atol=1e-6)
    assert found.bic == pytest.approx(bic, rel=1e-6)


@pytest.mark.parametrize("patience", [0, 1, 2, 5])
def test_the_search_ends_after_counts_without_a_lower_bic(patience):
    """Against all counts fitted one by one with the same draws."""
    points = blobs([9, 7, 5, 8], distance=1.0)
    rng = np.random.default_rng(7)
    fits = [mixture.fit(points, c, rng) for c in range(1, 15)]
    bics = [found.bic for found in fits]
    ends = next(
        (i for i in range(1, 14) if patience and i - int(np.argmin(bics[: i + 1])) == patience), 13
    )
    found = mixture.best_fit(points, 14, np.random.default_rng(7), patience)
    assert found.bic == min(bics[: ends + 1])
    assert min(bics) < min(bics[:3])  # so that patience matters


def test_a_share_above_the_threshold_is_enough_and_the_largest_always_counts():
    shares = np.array([[0.9, 0.1, 0.0], [0.45, 0.45, 0.1], [0.2, 0.2, 0.6]])
    assert mixture.memberships(shares, 0.15) == [[0, 1, 2], [1, 2], [2]]
    assert mixture.memberships(shares, 0.5) == [[0, 1], [2]]


@settings(max_examples=10)
@given(
    st.integers(1, 40),
    st.integers(0, 5),
    st.sampled_from([300, 1000, 100_000]),
    st.sampled_from([0.0, 0.01, 0.1, 0.5]),
)
def test_clusters_cover_everything_within_the_longest_input(n, equal, tokens, threshold):
    rng = np.random.default_rng(n)
    vectors = rng.normal(size=(n, 6)).astype(np.float32)
    vectors[:equal] = vectors[0]
    lengths = (10 * rng.integers(1, 25, size=n)).tolist()
    rule = Raptor(dimensions=2, threshold=threshold, input_tokens=tokens)
    found = clusters(vectors, lengths, rule)
    assert found == clusters(vectors, lengths, rule)
    assert {i for group in found for i in group} == set(range(n))
    assert len(set(found)) == len(found)
    for group in found:
        assert list(group) == sorted(set(group))
        assert len(group) == 1 or sum(lengths[i] for i in group) <= tokens
