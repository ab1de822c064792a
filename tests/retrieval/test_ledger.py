"""The ledger's terms against the matrix form, entry by entry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.retrieval import POLICIES, propagate
from segviz.retrieval.ledger import explain
from tests.retrieval.test_propagate import TREE_POLICIES, cases, dense_matrix
from tests.trees import toy


@given(cases, st.sampled_from(TREE_POLICIES), st.integers(0, 10**6))
def test_terms_are_the_matrix_entries_and_sum_to_the_final_score(case, policy, pick):
    n, edges, initial, alpha, horizon = case
    node = pick % n
    ledger = explain(node, initial, edges, (policy, alpha, horizon))
    final = propagate(initial, edges, policy, alpha, horizon).final
    assert ledger.total == pytest.approx(final[node], abs=1e-12)
    whole = sum(alpha**k for k in range(horizon + 1))
    w = dense_matrix(n, edges, policy)
    found = {(entry.source, entry.hop): entry.amount for entry in ledger.received}
    for hop in range(1, horizon + 1):
        power = np.linalg.matrix_power(w, hop)
        for source in range(n):
            expected = alpha**hop * power[node, source] * initial[source] / whole
            assert found.get((source, hop), 0.0) == pytest.approx(expected, abs=1e-12)
    assert ledger.own == pytest.approx(initial[node] / whole, abs=1e-12)


def test_entries_come_by_hop_and_size_after_the_nodes_own():
    initial = np.zeros(11)
    initial[10], initial[7], initial[0] = 0.5, 0.3, 0.2
    ledger = explain(0, initial, toy().edges, ("top-down", 0.5, 2))
    assert [(e.source, e.hop) for e in ledger] == [(0, 0), (7, 1), (10, 2)]
    # 0.3 shared by three children at weight 0.5; 0.5 by three, then by three, at 0.25.
    assert [e.amount for e in ledger] == pytest.approx(
        [0.2 / 1.75, 0.5 * 0.1 / 1.75, 0.25 * (0.5 / 9) / 1.75]
    )


def test_without_propagation_a_node_owes_nothing_to_others():
    ledger = explain(3, np.full(11, 1 / 11), toy().edges, ("none", 0.5, 3))
    assert ledger.received == ()
    assert ledger.own == 1 / 11


def test_a_node_that_is_not_there():
    with pytest.raises(ValueError, match="nodes 0 to 10"):
        explain(11, np.zeros(11), toy().edges, ("both", 0.5, 3))


@pytest.mark.parametrize("relevance", ["contextual", "hybrid", "dense"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_result_explains_every_node_to_its_ingredients(memory, relevance, policy):
    result = memory.ask("the red bicycle", relevance=relevance, policy=policy, alpha=0.4, horizon=3)
    for node in range(len(result.structure)):
        ledger = result.explain(node)
        assert ledger.total == pytest.approx(result.final[node], abs=1e-12)
        assert bool(ledger.ingredients) == (relevance != "dense")
        if ledger.ingredients:
            assert sum(ledger.ingredients.values()) == pytest.approx(ledger.own)
