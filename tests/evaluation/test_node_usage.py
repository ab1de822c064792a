"""What passes through nodes, against the ledgers of all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from segviz.evaluation.node_usage import traffic
from segviz.retrieval import RetrievalSettings
from tests.evaluation.test_evaluate import random_memory


@pytest.mark.parametrize("policy", ["none", "top-down", "bottom-up", "both", "neighbours"])
def test_sums_equal_what_the_ledgers_list(policy):
    memory = random_memory(3, "turn")
    settings = RetrievalSettings(policy=policy, alpha=0.6, horizon=3, k=4)
    questions = memory.conversation.questions
    found = traffic(memory, questions, settings)
    n = len(memory.structure)
    retrieved, on_gold = np.zeros(n, int), np.zeros(n, int)
    given, taken = np.zeros(n), np.zeros(n)
    for question in questions:
        result = memory.ask(question, settings)
        held = memory.gold(question.evidence, result.structure).by_node
        for item in result.evidence:
            retrieved[item.node] += 1
            on_gold[item.node] += item.node in held
        for node in np.flatnonzero(result.structure.active).tolist():
            for entry in result.explain(node).received:
                given[entry.source] += entry.amount
                taken[node] += entry.amount
    assert found.questions == len(questions)
    assert found.retrieved.tolist() == retrieved.tolist()
    assert found.on_gold.tolist() == on_gold.tolist()
    assert np.allclose(found.given, given, atol=1e-12)
    assert np.allclose(found.taken, taken, atol=1e-12)


def test_a_systems_own_retrieval_has_none():
    memory = random_memory(3, "turn")
    with pytest.raises(ValueError, match="method is 'native'"):
        traffic(
            memory, memory.conversation.questions, replace(RetrievalSettings(), method="native")
        )
