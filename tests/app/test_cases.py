"""What the Guide says about the paper's five cases is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import segviz
from segviz.ui.pages.guide.cases import CASES, CONVERSATION
from segviz.view.bookmark import Bookmark, decode, encode
from tests.data import real_data


@pytest.fixture(scope="module")
def memory():
    corpus = segviz.load(real_data("locomo", "locomo5.json"))
    return segviz.build(corpus[CONVERSATION])


class Asked:
    """A case's question under a setting, and where its gold leaves and nodes stand."""

    def __init__(self, memory, name, **setting):
        self.case = next(case for case in CASES if case.name == name)
        question = memory.conversation.questions[self.case.question]
        self.gold = set(question.evidence)
        self.result = memory.ask(question.text, **setting)
        structure, final = self.result.structure, self.result.final
        active = [node for node in range(len(structure)) if structure.active[node]]
        self.ranks = sorted(
            1 + sum(final[other] > final[leaf] for other in active)
            for leaf in structure.leaves
            if self.gold & set(memory.turn_ids(leaf))
        )
        self.over = [e for e in self.result.evidence if e.level and self.gold & set(e.turn_ids)]


NONE = {"policy": "none"}
TOP_DOWN = {"policy": "top-down", "alpha": 0.3}
BOTTOM_UP = {"policy": "bottom-up", "alpha": 0.1}


def test_q1(memory):
    plain, up, down = (Asked(memory, "Q1", **how) for how in (NONE, BOTTOM_UP, TOP_DOWN))
    assert [len(asked.over) for asked in (plain, up, down)] == [4, 4, 4]
    root = plain.result.structure.roots[0]
    assert root in [e.node for e in plain.over]
    narrow = [next(e for e in asked.over if e.level == 1) for asked in (plain, up)]
    assert [e.rank_after for e in narrow] == [5, 2]
    for asked in (plain, up, down):
        assert not any("gamepad" in e.text for e in asked.result.evidence)
    assert (plain.ranks, down.ranks) == ([185], [132])


def test_q2(memory):
    plain, up = Asked(memory, "Q2", **NONE), Asked(memory, "Q2", **BOTTOM_UP)
    for asked in (plain, up):
        fourth = asked.result.evidence[3]
        assert fourth.level == 0
        assert asked.gold <= set(fourth.turn_ids)
    assert plain.over == []
    assert [(e.rank_after, "Luna" in e.text) for e in up.over] == [(7, False)]


def test_q3(memory):
    plain, up, down = (Asked(memory, "Q3", **how) for how in (NONE, BOTTOM_UP, TOP_DOWN))
    assert (plain.ranks, down.ranks) == ([19], [25])
    assert up.ranks[0] > 10
    parent = up.over[0]
    assert (parent.rank_after, parent.level) == (6, 1)
    assert "drum" not in parent.text.lower()


def test_q4(memory):
    plain, mild, strong = (
        Asked(memory, "Q4", **how) for how in (NONE, {"policy": "top-down"}, TOP_DOWN)
    )
    assert (plain.ranks, mild.ranks, strong.ranks) == ([5], [5], [5])
    leads = []
    for asked in (plain, mild, strong):
        assert [e.rank_after for e in asked.over] == [3]
        ranked = sorted(asked.result.evidence, key=lambda e: e.rank_after)
        assert ranked[4].level == ranked[5].level == 0
        leads.append(round(100 * (ranked[4].final / ranked[5].final - 1)))
    assert leads == [12, 17, 27]
    dense = Asked(memory, "Q4", relevance="dense", **NONE)
    assert (dense.ranks, dense.result.structure.active.sum()) == ([337], 426)
    leaf = next(e for e in strong.result.evidence if e.rank_after == 5)
    ledger = strong.result.explain(leaf.node)
    best = max(ledger.received, key=lambda entry: entry.amount)
    assert best.source in strong.result.structure.parents[leaf.node]


def test_q5(memory):
    plain, up, down = (Asked(memory, "Q5", **how) for how in (NONE, BOTTOM_UP, TOP_DOWN))
    assert (plain.ranks, down.ranks) == ([64, 215], [70, 240])
    assert [e.rank_after for e in up.over] == [6]
    assert plain.over == down.over == []
    assert not any("cousin" in e.text.lower() for e in down.result.evidence)


def test_every_number_of_the_texts_is_asserted_above():
    """A rank written in the Guide and in no test would go stale unseen."""
    source = Path(__file__).read_text(encoding="utf-8")
    for case in CASES:
        for number in re.findall(r"ranks? (\d+)|\((\d+) and (\d+)\)|to (\d+),", case.here):
            for rank in filter(None, number):
                assert re.search(rf"\b{rank}\b", source), (case.name, rank)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_links_are_sound(case):
    for _, setting in case.settings:
        bookmark = Bookmark(conversation=CONVERSATION, question=case.question, retrieval=setting)
        assert decode(encode(bookmark)) == (bookmark, [])
