"""What entered, what left and the levels agree, over all sample questions and many settings."""

from itertools import product

import pytest

from segviz.retrieval import OPENING, POLICIES, PRESETS, ranking
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


def test_inner_nodes_are_read_as_their_best_leaves_each_once():
    memory = built(sessions=3)
    asked = memory.conversation.questions[0]
    plain = memory.ask(asked, PRESETS[OPENING], k=60)
    result = memory.ask(asked, PRESETS[OPENING], k=60, expand=2)
    structure, every = plain.structure, ranking(plain.final, plain.structure).tolist()
    leaves = [node for node in every if structure.level[node] == 0]
    wanted = {}
    for node in every:
        units = set(structure.coverage(node))
        for leaf in [n for n in leaves if set(structure.coverage(n)) <= units][:2]:
            wanted.setdefault(leaf, node)
    assert result.after == tuple(wanted)[:60]
    assert [item.rank_after for item in result.evidence] == [*range(1, len(result.after) + 1)]
    for item in result.evidence:
        came = item.node if item.through is None else item.through
        assert (item.level, came) == (0, wanted[item.node])
    assert any(item.through is not None for item in result.evidence)
    assert all(item.through is None for item in plain.evidence)


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
