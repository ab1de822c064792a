"""Gold evidence: where it lies, and what became of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import segviz
from segviz.conversation import Question
from segviz.embedding import HashingEmbedder
from segviz.retrieval import OPENING, PRESETS, Evidence
from segviz.retrieval.gold import GoldEvidence
from segviz.text.answers import parts_given
from tests.data import real_data
from tests.evaluation import restated
from tests.memories import built
from tests.trees import chat


def evidence(node, span):
    return Evidence(node, 0, span, (), "", 0, 0, 1, 1)


def test_a_turn_is_found_quoted_by_a_wider_node_answered_missed_or_absent():
    retrieved = [evidence(0, (0, 1)), evidence(7, (1, 4))]
    by_node = {0: ("a", "x"), 2: ("s",), 3: ("d",), 4: ("q",), 7: ("d", "s")}
    gold = GoldEvidence(("a", "d", "s", "q", "y"), (0, 2, 3, 4), by_node, {7: ("s",)})
    fates = ["found", "quoted", "answered", "missed", "not in any leaf"]
    assert [*gold.fate(retrieved).values()] == fates


def test_of_a_text_that_is_cut_only_what_is_read_counts():
    contents = {"d": "red bicycle", "s": "the telescope of Saturn"}
    given = dict(zip("ds", parts_given("two", [*contents.values()]), strict=True))
    by_node = {3: ("d",), 4: ("s",), 7: ("d", "s")}
    gold = GoldEvidence(("d", "s"), (3, 4), by_node, {7: ("s",)}, contents, given)

    def fate(node, text, span=(3, 4)):
        return [*gold.fate([replace(evidence(node, span), text=text, cut=True)]).values()]

    assert fate(3, "A: a red bicycle") == ["found", "missed"]
    assert fate(3, "A: a") == ["missed", "missed"]
    assert fate(7, "A red bicycle and 2", (3, 5)) == ["quoted", "answered"]
    assert fate(7, "2 of", (3, 5)) == ["answered", "answered"]
    assert fate(7, "A red", (3, 5)) == ["missed", "missed"]
    assert fate(4, "two") == ["missed", "missed"]  # a leaf states no answer, it has turns


def test_the_root_quotes_nothing_by_being_the_root():
    memory = built(sessions=4)
    (root,) = memory.structure.roots
    every = [turn for unit in memory.units for turn in unit.turn_ids]
    held = memory.gold(every).by_node
    assert len(held.get(root, ())) < len(set(memory.turn_ids(root)))


def test_a_turn_in_two_leaves_counts_once_above_them():
    said = ["red bicycle", "blue boat", "green bread"]
    rows = [
        {"id": "a", "text": "red bicycle, blue boat", "start": 0, "stop": 2, "parent": "r"},
        {"id": "b", "text": "blue boat, green bread", "start": 1, "stop": 3, "parent": "r"},
        {"id": "r", "text": "red bicycle, blue boat, green bread"},
    ]
    memory = segviz.memory_from(rows, conversation=chat([[("A", each) for each in said]]))
    assert memory.gold(["D1:2"]).by_node == dict.fromkeys(range(3), ("D1:2",))


def test_each_turn_of_a_list_is_answered_by_a_text_that_states_its_part():
    said = [[("A", "My boat is called Petrel."), ("B", "Ho.")], [("A", "Alzira, not Petrel!")]]
    question = Question(0, "Which names?", "Petrel, Alzira", 1, ("D1:1", "D2:1"))
    memory = segviz.build(chat(said, [question]), embedder=HashingEmbedder())
    memory = memory.with_texts({(0, 2): ("Names", "The boat became Alzira.")})
    gold = memory.gold(question)
    (root,) = memory.structure.roots
    assert gold.by_node[root] == gold.answers[root] == ("D2:1",)
    read = [evidence(root, (0, 2))]
    assert [*gold.fate(read).values()] == ["missed", "answered"]
    cut = [replace(read[0], text="The boat became", cut=True)]
    assert [*gold.fate(cut).values()] == ["missed", "missed"]


@pytest.mark.parametrize("policy", ["none", "both"])
def test_a_question_whose_read_texts_state_the_answer_is_not_missed(policy):
    memory = segviz.open(real_data("texts", "conv-47.npz"))
    home = {turn: unit.index for unit in memory.units for turn in unit.turn_ids}
    stated = 0
    for question in memory.conversation.questions:
        result = memory.ask(question, PRESETS[OPENING], policy=policy)
        golds = [home[turn] for turn in question.evidence if turn in home]
        read = [e.text for e in result.evidence if any(u in range(*e.span) for u in golds)]
        parts = restated.parts(question.answer or "")
        if parts and all(any(restated.states(text, part) for text in read) for part in parts):
            fates = memory.gold(question, result.structure).fate(result.evidence)
            assert {*fates.values()} != {"missed"}, question.text
            stated += 1
    assert stated > 50
