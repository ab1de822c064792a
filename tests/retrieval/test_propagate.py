"""Propagation against the dense matrix form, and its laws."""

from __future__ import annotations

import gc
import itertools
import random
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.retrieval import propagate
from segviz.retrieval.propagation import operator
from tests.trees import random_graph, random_tree, toy

TREE_POLICIES = ("top-down", "bottom-up", "both")


def dense_matrix(n, edges, policy):
    """W_P written out: [W]_{uv} = 1 for each allowed v -> u, columns divided by their sum."""
    w = np.zeros((n, n))
    for parent, child in edges:
        if policy in ("top-down", "both"):
            w[child, parent] = 1
        if policy in ("bottom-up", "both"):
            w[parent, child] = 1
    for v in range(n):
        if w[:, v].sum():
            w[:, v] /= w[:, v].sum()
    return w


def literal(initial, edges, policy, alpha, horizon):
    """Algorithm 2, lines 7-13, then the division of equation 4."""
    w = dense_matrix(len(initial), edges, policy)
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


class TestAgreement:
    @given(cases, st.sampled_from(TREE_POLICIES))
    def test_equals_the_dense_matrix_form(self, case, policy):
        _, edges, initial, alpha, horizon = case
        result = propagate(initial, edges, policy, alpha, horizon)
        expected = literal(initial, edges, policy, alpha, horizon)
        np.testing.assert_allclose(result.final, expected, rtol=0, atol=1e-12)


class TestCollapsed:
    @given(cases, st.sampled_from(["none", *TREE_POLICIES]))
    def test_horizon_zero_or_no_policy_is_the_initial_score_bit_for_bit(self, case, policy):
        _, edges, initial, alpha, horizon = case
        for hops in {0, horizon if policy == "none" else 0}:
            final = propagate(initial, edges, policy, alpha, hops).final
            assert final.tobytes() == initial.tobytes()


class TestLaws:
    @given(cases, st.sampled_from(TREE_POLICIES))
    def test_bounded_and_no_mass_created(self, case, policy):
        _, edges, initial, alpha, horizon = case
        result = propagate(initial, edges, policy, alpha, horizon)
        assert (result.final >= 0).all()
        assert (result.final <= 1 + 1e-12).all()
        assert result.final.sum() <= initial.sum() + 1e-12
        masses = result.hops.sum(axis=1)
        assert (np.diff(masses) <= 1e-12).all()

    def test_without_edges_only_the_first_hop_counts(self):
        initial = np.array([0.25, 0.75])
        result = propagate(initial, np.zeros((0, 2), dtype=np.int32), "top-down", 0.5, 2)
        np.testing.assert_allclose(result.final, initial / 1.75)


class TestErrors:
    def test_a_repeated_edge_counts_once(self):
        initial = np.array([1.0, 0.0, 0.0])
        once, twice = np.array([[0, 1], [0, 2]]), np.array([[0, 1], [0, 1], [0, 2]])
        assert propagate(initial, twice, "top-down", 0.5, 1).hops[1].tolist() == [0, 0.5, 0.5]
        for policy in ("top-down", "bottom-up", "both"):
            one = propagate(initial, once, policy, 0.5, 3)
            assert one.final.tolist() == propagate(initial, twice, policy, 0.5, 3).final.tolist()

    def test_edges_outside_the_scores(self):
        with pytest.raises(ValueError, match="there are 3 nodes"):
            propagate(np.ones(3), toy().edges)


class TestNeighbours:
    def test_equals_a_literal_restatement_on_the_toy_tree(self):
        s = toy()
        initial = np.arange(1.0, 12.0) / 66
        beside = {}
        for level in range(3):
            nodes = sorted((v for v in range(11) if s.level[v] == level), key=lambda v: s.start[v])
            for a, b in itertools.pairwise(nodes):
                beside.setdefault(a, []).append(b)
                beside.setdefault(b, []).append(a)
        once = np.zeros(11)
        for v, targets in beside.items():
            for u in targets:
                once[u] += initial[v] / len(targets)
        result = propagate(initial, s.edges, "neighbours", 0.5, 1, structure=s)
        np.testing.assert_allclose(result.final, (initial + 0.5 * once) / 1.5, atol=1e-15)

    def test_needs_the_structure(self):
        with pytest.raises(ValueError, match="pass structure="):
            propagate(np.ones(11), toy().edges, "neighbours")


class TestManyQuestions:
    @given(cases, st.sampled_from(TREE_POLICIES))
    def test_equal_one_at_a_time(self, case, policy):
        n, edges, initial, alpha, horizon = case
        rows = np.vstack([initial, np.roll(initial, 1), np.zeros(n)])
        together = propagate(rows, edges, policy, alpha, horizon)
        assert together.hops.shape == (horizon + 1, 3, n)
        for i, row in enumerate(rows):
            alone = propagate(row, edges, policy, alpha, horizon)
            np.testing.assert_allclose(together.final[i], alone.final, rtol=0, atol=1e-15)


class TestOperator:
    @given(cases, st.sampled_from(TREE_POLICIES))
    def test_both_directions_equal_the_matrix(self, case, policy):
        n, edges, scores, _, _ = case
        found = operator(n, edges, policy)
        w = dense_matrix(n, edges, policy)
        np.testing.assert_allclose(found @ scores, w @ scores, atol=1e-12)
        np.testing.assert_allclose(scores @ found, scores @ w, atol=1e-12)

    def test_it_is_kept_as_long_as_the_structure(self):
        s = toy()
        kept = operator(11, s.edges, "both", s)
        assert operator(11, s.edges, "both", s) is kept
        assert operator(11, s.edges, "top-down", s) is not kept
        assert operator(11, s.edges.copy(), "both", s) is not kept
        structure, made = weakref.ref(s), weakref.ref(kept)
        del s, kept
        gc.collect()
        assert structure() is None
        assert made() is None
