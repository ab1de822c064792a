"""Gold evidence: where it lies, and what became of it."""

from __future__ import annotations

from dataclasses import replace

from segviz.retrieval import Evidence
from segviz.retrieval.gold import GoldEvidence
from tests.memories import built


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
    gold = GoldEvidence(
        ("d", "s"), (3, 4), {3: ("d",), 4: ("s",), 7: ("d", "s")}, {7: ("s",)}, contents, "two"
    )

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
