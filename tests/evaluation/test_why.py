"""Why a retrieval finds a gold turn: the node that decides, what is ahead, the words; slowly."""

import math
import re
from itertools import pairwise

import pytest

import segviz
from segviz.embedding import HashingEmbedder
from segviz.evaluation.why import ahead, deciding_turn, rank_of, ranks_without_words
from segviz.text.words import content_tokens
from tests.evaluation.test_permutation import talk

WAYS = {
    "segment-tree": {"policy": "both", "alpha": 0.5, "relevance": "lexical"},
    "memtree": {"policy": "none", "relevance": "hybrid"},
    "memforest": {"method": "native"},
}


@pytest.fixture(scope="module")
def memories():
    return {
        name: segviz.build(talk(), name, unit="turn", embedder=HashingEmbedder()) for name in WAYS
    }


@pytest.fixture(scope="module")
def questions(memories):
    asked = memories["memtree"].conversation.questions
    return [question for question in asked if question.evidence]


def slow_order(result):
    """All nodes that compete, best first; of a system's own retrieval what it returned."""
    if result.native:
        return list(result.after)
    active = [node for node in range(len(result.structure)) if result.structure.active[node]]
    return sorted(active, key=lambda node: (-result.final[node], node))


def slow_rank(result, node):
    order = slow_order(result)
    return order.index(node) + 1 if node in order else 0


@pytest.mark.parametrize("name", WAYS)
def test_ranks_and_what_is_ahead_are_those_of_the_whole_order(memories, questions, name):
    memory = memories[name]
    for question in questions[:4]:
        result = memory.ask(question, k=4, **WAYS[name])
        order = slow_order(result)
        for node in (*order[:6], *(set(range(len(result.structure))) - set(order))):
            assert rank_of(result, node) == slow_rank(result, node)
            before = order[: order.index(node)] if node in order else order
            units = [set(result.structure.coverage(each)) for each in before]
            nodes, read = ahead(result, node)
            assert sorted(nodes) == sorted(before)
            wide = [len(result.structure.coverage(each)) for each in nodes]
            assert wide == sorted(wide, reverse=True)
            assert read == len(set().union(*units))


def test_the_deciding_turn_is_the_one_that_is_read_earliest_before_the_other(memories, questions):
    pair, chosen = ["segment-tree", "memforest"], set()
    orders = [
        (first, evidence)
        for first, second in pairwise(questions)
        for evidence in (first.evidence + second.evidence, second.evidence + first.evidence)
    ]
    for question, evidence in orders:
        results = [memories[name].ask(question, k=4, **WAYS[name]) for name in pair]
        golds = [
            memories[name].gold(evidence, result.structure)
            for name, result in zip(pair, results, strict=True)
        ]
        gaps, nodes = {}, {}
        for turn in evidence:
            places, holders = [], []
            for result, gold in zip(results, golds, strict=True):
                holding = [node for node, turns in gold.by_node.items() if turn in turns]
                order, worst = slow_order(result), len(result.structure) + 1
                place, node = min((slow_rank(result, node) or worst, node) for node in holding)
                read = {
                    unit for each in order[: place - 1] for unit in result.structure.coverage(each)
                }
                places.append(1 / (1 + len(read)))
                holders.append((node, slow_rank(result, node), len(read)))
            gaps[turn], nodes[turn] = max(places) - min(places), holders
        turn, found = deciding_turn(results, golds)
        assert gaps[turn] == max(gaps.values())
        for one, (node, rank, units) in zip(found, nodes[turn], strict=True):
            assert (one.rank, one.units) == (rank, units)
            assert one.node == node or not rank  # of what is not returned any holder will do
        chosen.add(evidence.index(turn))
    assert chosen == {0, 1}


def test_a_question_without_gold_turns_has_no_deciding_node(memories):
    memory = memories["memtree"]
    result = memory.ask("Who has a boat?", k=4)
    assert deciding_turn([result], [memory.gold((), result.structure)]) is None


@pytest.mark.parametrize("name", WAYS)
def test_words_are_those_without_which_the_rank_is_another(memories, questions, name):
    memory, moved = memories[name], 0
    for question in questions[:4]:
        result = memory.ask(question, k=4, **WAYS[name])
        node = result.after[1]
        whole, last = 2, len(result.structure) + 1

        def ask(text, step=result.settings.step):
            return memory.ask(text, k=4, step=step, **WAYS[name])

        found = ranks_without_words(ask, question.text, node)
        expected = {}
        for word in content_tokens(question.text):
            pieces = re.split(r"(\w+)", question.text)
            rest = "".join(" " if piece.lower() == word else piece for piece in pieces)
            rank = slow_rank(ask(rest), node)
            if rank != whole:
                expected[word] = rank
        assert found == expected
        moves = [abs(math.log((rank or last) / whole)) for rank in found.values()]
        assert moves == sorted(moves, reverse=True)
        moved += len(found)
    assert moved


def test_of_a_single_word_nothing_is_left_to_ask(memories):
    memory = memories["memtree"]
    assert ranks_without_words(memory.ask, "boat?", 0) == {}
