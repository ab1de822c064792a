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
        self.result = memory.ask(question.text, **{"relevance": "hybrid", **setting})
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
    for asked in (plain, up, down):
        assert len(asked.over) == 3
        narrow = next(e for e in asked.over if e.level == 1)
        assert (narrow.rank_after, "gamepad" in narrow.text) == (2, True)
    assert (plain.ranks, down.ranks) == ([209], [4])


def test_q2(memory):
    plain, up = Asked(memory, "Q2", **NONE), Asked(memory, "Q2", **BOTTOM_UP)
    for asked in (plain, up):
        fifth = asked.result.evidence[4]
        assert fifth.level == 0
        assert asked.gold <= set(fifth.turn_ids)
    assert plain.over == []
    assert [(e.rank_after, "Luna" in e.text) for e in up.over] == [(8, False)]


def test_q3(memory):
    plain, up, down = (Asked(memory, "Q3", **how) for how in (NONE, BOTTOM_UP, TOP_DOWN))
    assert (plain.ranks, down.ranks) == ([22], [26])
    assert up.ranks[0] > 10
    for asked in (plain, up, down):
        assert asked.over == []
        speaking = [e for e in asked.result.evidence if "drum" in e.text.lower()]
        assert len(speaking) >= 5
        assert not any(asked.gold & set(e.turn_ids) for e in speaking)


def test_q4(memory):
    plain, mild, strong = (
        Asked(memory, "Q4", **how) for how in (NONE, {"policy": "top-down"}, TOP_DOWN)
    )
    assert (plain.ranks, mild.ranks, strong.ranks) == ([6], [6], [5])
    leads, over = [], []
    for asked in (plain, mild, strong):
        over += [e.rank_after for e in asked.over]
        leaves = sorted((e for e in asked.result.evidence if not e.level), key=lambda e: -e.final)
        place = next(i for i, e in enumerate(leaves) if asked.gold & set(e.turn_ids))
        leads.append(round(100 * (leaves[place].final / leaves[place + 1].final - 1)))
    assert (over, leads) == ([2, 3, 3], [35, 38, 43])
    dense = Asked(memory, "Q4", relevance="dense", **NONE)
    assert (dense.ranks, int(dense.result.structure.active.sum())) == ([357], 448)
    leaf = next(e for e in strong.result.evidence if e.rank_after == 5)
    ledger = strong.result.explain(leaf.node)
    best = max(ledger.received, key=lambda entry: entry.amount)
    assert best.source in strong.result.structure.parents[leaf.node]


def test_q5(memory):
    plain, up, down = (Asked(memory, "Q5", **how) for how in (NONE, BOTTOM_UP, TOP_DOWN))
    assert (plain.ranks, down.ranks) == ([64, 225], [72, 260])
    for asked in (plain, up, down):
        assert asked.over[0].rank_after == 3
        assert asked.over[0].level == 3
    root = up.result.structure.roots[0]
    assert [e.rank_after for e in up.result.evidence if e.node == root] == [6]
    assert root not in [e.node for asked in (plain, down) for e in asked.result.evidence]
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
