"""Gold evidence: where it lies, and what became of it."""

from __future__ import annotations

from segviz.retrieval import Evidence
from segviz.retrieval.gold import GoldEvidence
from tests.memories import built


def evidence(node, span):
    return Evidence(node, 0, span, (), "", 0, 0, 1, 1)


def test_a_turn_is_hit_covered_where_a_wider_node_quotes_it_missed_or_absent():
    found = [evidence(0, (0, 1)), evidence(7, (1, 4))]
    held = {0: ("a", "x"), 3: ("d",), 4: ("q",), 7: ("d",)}
    gold = GoldEvidence(("a", "d", "q", "y"), (0, 3, 4), held)
    assert gold.fate(found) == {"a": "hit", "d": "covered", "q": "missed", "y": "not in any leaf"}


def test_the_root_covers_nothing_by_being_the_root():
    memory = built(sessions=4)
    (root,) = memory.structure.roots
    every = [turn for unit in memory.units for turn in unit.turn_ids]
    held = memory.gold(every).by_node
    assert len(held.get(root, ())) < len(set(memory.turn_ids(root)))
