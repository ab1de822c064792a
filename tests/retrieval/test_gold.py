"""Gold evidence: where it lies, and what became of it."""

from __future__ import annotations

from segviz.retrieval import Evidence
from segviz.retrieval.gold import GoldEvidence, gold_evidence


def evidence(span, *turns):
    return Evidence(0, 0, span, turns, "", 0, 0, 1, 1)


def held(*turns, wanted):
    return GoldEvidence(tuple(wanted), (0,), {0: turns})


def test_hit_covered_missed_and_absent():
    found = [evidence((0, 1), "a", "b"), evidence((1, 4), "c", "d", "e")]
    gold = held("a", "d", "x", wanted=["a", "d", "x", "y"])
    assert gold.fate(found) == {"a": "hit", "d": "covered", "x": "missed", "y": "not in any leaf"}


def test_a_unary_node_over_one_unit_is_a_hit():
    assert held("a", wanted=["a"]).fate([evidence((5, 6), "a")]) == {"a": "hit"}


def test_leaves_and_what_every_node_holds_equal_a_slow_search(memory):
    structure, units = memory.structure, memory.units
    every = [turn for unit in units for turn in unit.turn_ids]
    for wanted in ([], every[:1], every[::3], [*every[2:4], "nowhere"]):
        gold = gold_evidence(structure, units, wanted)
        for node in range(len(structure)):
            below = [t for t in memory.turn_ids(node) if t in wanted]
            assert sorted(gold.held.get(node, ())) == sorted(below)
        leaves = [n for n in structure.leaves if set(memory.turn_ids(n)) & set(wanted)]
        assert list(gold.leaves) == leaves
        assert gold.turns == tuple(wanted)
