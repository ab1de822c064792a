"""Propagation against the dense matrix form, and its laws."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.retrieval import propagate
from tests.trees import random_graph, random_tree, toy

TREE_POLICIES = ("top-down", "bottom-up", "both")


def dense_matrix(n, edges, policy, rows=()):
    """W_P written out: [W]_{uv} = 1 for each allowed v -> u, columns divided by their sum; ``rows``
    are the nodes of each level from left to right."""
    w = np.zeros((n, n))
    for parent, child in edges:
        if policy in ("top-down", "both"):
            w[child, parent] = 1
        if policy in ("bottom-up", "both"):
            w[parent, child] = 1
    for left, right in itertools.chain.from_iterable(map(itertools.pairwise, rows)):
        if policy == "neighbours":
            w[left, right] = w[right, left] = 1
    for v in range(n):
        if w[:, v].sum():
            w[:, v] /= w[:, v].sum()
    return w


def literal(initial, edges, policy, alpha, horizon, rows=()):
    """Algorithm 2, lines 7-13, then the division of equation 4."""
    w = dense_matrix(len(initial), edges, policy, rows)
    total = initial.copy()
    previous = initial.copy()
    weight = 1.0
    for k in range(1, horizon + 1):
        previous = w @ previous
        total = total + alpha**k * previous
        weight += alpha**k
    return total / weight


def random_case(seed):
    rng = random.Random(seed)
    n = rng.randrange(1, 40)
    edges = random_tree(rng, n) if rng.random() < 0.5 else random_graph(rng, n)[1]
    scores = np.array([rng.random() * (rng.random() < 0.8) for _ in range(n)])
    total = scores.sum()
    initial = scores / total if total else scores
    pairs = np.array(edges, dtype=np.int32).reshape(-1, 2)
    return n, pairs, initial, rng.choice([0.0, 0.05, 0.1, 0.5, 0.95]), rng.randrange(6)


cases = st.integers(0, 2**32).map(random_case)


@given(cases, st.sampled_from(TREE_POLICIES))
def test_several_questions_equal_the_dense_matrix_form_and_no_mass_is_created(case, policy):
    n, edges, initial, alpha, horizon = case
    rows = np.vstack([initial, np.roll(initial, 1), np.zeros(n)])
    together = propagate(rows, edges, policy, alpha, horizon)
    assert together.hops.shape == (horizon + 1, 3, n)
    assert (np.diff(together.hops.sum(axis=2), axis=0) <= 1e-12).all()
    for row, final in zip(rows, together.final, strict=True):
        expected = literal(row, edges, policy, alpha, horizon)
        np.testing.assert_allclose(final, expected, rtol=0, atol=1e-12)
        alone = propagate(row, edges, policy, alpha, horizon)
        np.testing.assert_allclose(final, alone.final, rtol=0, atol=1e-15)


@given(cases, st.sampled_from(["none", *TREE_POLICIES]))
def test_horizon_zero_or_no_policy_is_the_initial_score_bit_for_bit(case, policy):
    _, edges, initial, alpha, horizon = case
    for hops in {0, horizon if policy == "none" else 0}:
        final = propagate(initial, edges, policy, alpha, hops).final
        assert final.tobytes() == initial.tobytes()


def test_a_repeated_edge_counts_once():
    initial = np.array([1.0, 0.0, 0.0])
    once, twice = np.array([[0, 1], [0, 2]]), np.array([[0, 1], [0, 1], [0, 2]])
    assert propagate(initial, twice, "top-down", 0.5, 1).hops[1].tolist() == [0, 0.5, 0.5]
    for policy in TREE_POLICIES:
        one = propagate(initial, once, policy, 0.5, 3)
        assert one.final.tolist() == propagate(initial, twice, policy, 0.5, 3).final.tolist()


def test_edges_outside_the_scores():
    with pytest.raises(ValueError, match="there are 3 nodes"):
        propagate(np.ones(3), toy().edges)


def test_neighbours_equal_the_dense_matrix_form_and_need_the_structure():
    s, initial = toy(), np.arange(1.0, 12.0) / 66
    result = propagate(initial, s.edges, "neighbours", 0.5, 2, structure=s)
    expected = literal(initial, s.edges, "neighbours", 0.5, 2, (range(7), (7, 8, 9), (10,)))
    np.testing.assert_allclose(result.final, expected, atol=1e-15)
    with pytest.raises(ValueError, match="pass structure="):
        propagate(initial, s.edges, "neighbours")


@pytest.mark.parametrize(
    ("initial", "edges", "message"),
    [
        ([1.0, float("nan")], [[0, 1]], "a score is not finite"),
        ([1.0, float("inf")], [[0, 1]], "a score is not finite"),
        ([1.0, 0.0], [[0, 0.5]], "a number that is not whole"),
        ([1.0, 0.0], [[1, 1]], "node 1 is its own parent"),
        ([1.0, 0.0, 0.0], [[0, 1, 2], [0, 2, 1]], r"the shape \(2, 3\)"),
        ([1.0, 0.0], [[0, 2]], "edges name nodes"),
    ],
)
def test_scores_and_edges_that_mean_nothing_are_refused(initial, edges, message):
    with pytest.raises(ValueError, match=message):
        propagate(np.array(initial), np.array(edges))
