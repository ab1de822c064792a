"""What entered, what left and the levels agree, over all sample questions and many settings."""

from itertools import product

import pytest

from segviz.retrieval import POLICIES
from tests.memories import built

SETTINGS = ((0.0, 2), (0.1, 2), (0.95, 3))


@pytest.mark.parametrize("name", ["ines-theo", "recurrence"])
def test_as_many_nodes_enter_as_leave(name):
    memory = built(name=name)
    settings = list(product(("hybrid", "dense"), SETTINGS, POLICIES))
    for question in memory.conversation.questions:
        # Every setting meets every seventh question, every question a seventh of the settings.
        for relevance, (alpha, horizon), policy in settings[question.index % 7 :: 7]:
            how = {"policy": policy, "alpha": alpha, "horizon": horizon, "relevance": relevance}
            result = memory.ask(question.text, **how, literal=bool(question.index % 2))
            where = (question.index, how)
            before, after = set(result.before), set(result.after)
            assert set(result.entered) == after - before, where
            assert set(result.left) == before - after, where
            assert len(result.entered) == len(result.left), where
            ranks = {e.node: (e.rank_before, e.rank_after) for e in result.evidence}
            k = len(result.after)
            assert {node for node, (was, _) in ranks.items() if was > k} == set(result.entered)


def test_similar_nodes_are_the_best_of_another_text_without_repeats():
    memory = built(sessions=6)
    result = memory.ask("Where is the boat?", relevance="lexical")
    found = result.similar("the oven", 7)
    other = memory.ask("the oven", relevance="lexical", policy="none", k=7, deduplicate=True)
    scored = [item.node for item in other.evidence if item.initial > 0]
    assert found == scored[: len(found)]
    assert found
    assert result.similar("zzz", 7) == []


@pytest.mark.parametrize("question", [None, 3, ["a"], b"who"])
def test_a_question_that_is_no_text_is_refused(memory, question):
    with pytest.raises(ValueError, match="expected a text or a Question"):
        memory.ask(question)
