"""Ranks of the same questions under two settings and in two memories, and their message."""

from dataclasses import replace

import pytest

from segviz.evaluation.rank_changes import question_ranks, rank_changes
from segviz.frontend.atlas import NARROW, READ_AFTER, READ_BEFORE, atlas_payload, node_names
from segviz.retrieval import RetrievalSettings, ranks
from tests.memories import KINDS, built

PLAIN = RetrievalSettings(policy="none", k=4, relevance="lexical")
FATES = {"found", "quoted", "answered"}
BOTH = replace(PLAIN, policy="both", alpha=0.5, horizon=2)


def changes(memory, before, after, other=None):
    questions = memory.conversation.questions
    return rank_changes(
        question_ranks(memory, questions, before), question_ranks(other or memory, questions, after)
    )


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_ranks_and_gold_equal_those_of_each_question_alone(name, repeats):
    memory = built(name, sessions=3)
    questions = memory.conversation.questions
    after = replace(BOTH, deduplicate=not repeats)
    found = changes(memory, replace(PLAIN, deduplicate=not repeats), after)
    assert len(found) == len(questions) > 0
    for question, rows in zip(questions, found, strict=True):
        result = memory.ask(question, after)
        for side, read in enumerate((result.before, result.after)):
            assert {row.nodes[side] for row in rows if row.read[side]} == set(read)
        nodes = [row.nodes[1] for row in rows]
        for side, scores in enumerate((result.initial, result.final)):
            assert [row.ranks[side] for row in rows] == ranks(nodes, scores, result.structure)
        gold = memory.gold(question, result.structure)
        turns = {row.nodes[0]: [gold.turns[turn] for turn in row.gold] for row in rows}
        assert turns == {node: [*gold.by_node.get(node, ())] for node in nodes}
        answers = {row.nodes[0]: [gold.turns[turn] for turn in row.answers] for row in rows}
        assert answers == {node: [*gold.answers.get(node, ())] for node in nodes}
        assert {*gold.leaves} <= {*nodes}


@pytest.mark.parametrize("name", KINDS)
def test_a_text_that_the_budget_cuts_has_the_gold_turns_that_are_read(name):
    memory = built(name, sessions=3)
    questions, cut = memory.conversation.questions, 0
    for budget in (20, 50, 100, 200, 300):
        after = replace(BOTH, budget=budget)
        for question, rows in zip(questions, changes(memory, PLAIN, after), strict=True):
            result = memory.ask(question, after)
            gold = memory.gold(question, result.structure)
            read: set[str] = set()
            for row in (row for row in rows if row.read[1]):
                turns, _ = row.cut[1] or (row.gold, row.answers)
                cut += len(turns) < len(row.gold)
                read |= {gold.turns[turn] for turn in turns}
            fates = gold.fate(result.evidence)
            assert read == {turn for turn, fate in fates.items() if fate in FATES}
    assert cut > 0


def test_two_memories_share_the_nodes_of_one_text_and_lack_the_others():
    memory, other = built(sessions=3), built("bm25", sessions=3)
    found = changes(memory, PLAIN, PLAIN, other)
    rows = [row for some in found for row in some]
    for row in rows:
        old, new = row.nodes
        if old >= 0 and new >= 0:
            assert memory.structure.text[old] == other.structure.text[new]
        else:  # the flat memory has leaves alone
            assert new < 0
            assert memory.structure.level[old] > 0
            assert row.ranks[1] == 0
    assert any(new < 0 for _, new in (row.nodes for row in rows))


def test_what_a_systems_own_retrieval_does_not_return_has_no_rank():
    memory = built("bm25", sessions=3)
    asked = [replace(memory.conversation.questions[0], text="zzz qqq")]
    before = question_ranks(memory, asked, PLAIN)
    (rows,) = rank_changes(before, question_ranks(memory, asked, replace(PLAIN, method="native")))
    gold = [row for row in rows if row.gold]
    assert gold
    assert all(row.ranks[0] > 0 and row.ranks[1] == 0 for row in gold)


def test_the_message_names_each_node_once_and_refers_to_it():
    memory, other = built(sessions=3), built("bm25", sessions=3)
    found = changes(memory, PLAIN, PLAIN, other)
    both = [node_names(m.structure, m.labels()) for m in (memory, other)]
    text = "x" * 400
    levels = [[f"L{level}" for level in m.structure.level] for m in (memory, other)]
    dots = [(1, text, 2, 5), (0, "<b>", 0, 1)]
    sent = atlas_payload(dots, found, (both[0], both[1]), (levels[0], levels[1]))
    of_name = {*zip(both[0] + both[1], levels[0] + levels[1], strict=True)}
    assert {*zip(sent["names"], sent["levels"], strict=True)} <= of_name
    first, second = sent["dots"]
    assert (first["place"], first["group"], first["asked"]) == (1, 2, 5)
    assert len(first["text"]) == 300
    assert second["text"] == "<b>"  # the browser shows it as text
    for dot in (first, second):
        for change, (name, was, rank, flags, gold, answers, *cut) in zip(
            found[dot["place"]], dot["rows"], strict=True
        ):
            old, new = change.nodes
            assert sent["names"][name] == (both[0][old] if old >= 0 else both[1][new])
            assert (was, rank) == change.ranks
            assert (gold, answers, cut) == (change.gold, change.answers, [])
            before, after = change.read
            assert flags == READ_BEFORE * before + READ_AFTER * after + NARROW * change.narrow
    rows = {row[0] for dot in sent["dots"] for row in dot["rows"]}
    assert rows == {*range(len(sent["names"]))}
    assert max(map(len, sent["names"])) <= 70


def test_an_inner_node_is_called_by_its_label_and_a_leaf_by_its_text():
    memory = built(sessions=3)
    names, labels = node_names(memory.structure, memory.labels()), memory.labels()
    (inner, *_) = [n for n in range(len(names)) if memory.structure.level[n] and labels[n]]
    leaf = memory.structure.leaves[0]
    assert names[inner] == labels[inner]
    assert memory.structure.text[leaf].startswith(names[leaf][:40].split("\n")[0])
