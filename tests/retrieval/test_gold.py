"""Gold evidence: where it lies, and what became of it."""

from __future__ import annotations

from segviz.retrieval import Evidence
from segviz.retrieval.gold import GoldEvidence
from segviz.text.words import all_tokens, content_tokens
from tests.memories import built


def evidence(node, span):
    return Evidence(node, 0, span, (), "", 0, 0, 1, 1)


def test_a_turn_is_hit_covered_where_a_wider_node_quotes_it_missed_or_absent():
    found = [evidence(0, (0, 1)), evidence(7, (1, 4))]
    held = {0: ("a", "x"), 3: ("d",), 4: ("q",), 7: ("d",)}
    gold = GoldEvidence(("a", "d", "q", "y"), (0, 3, 4), held)
    assert gold.fate(found) == {"a": "hit", "d": "covered", "q": "missed", "y": "not in any leaf"}


def test_what_every_node_holds_equals_a_slow_search(memory):
    structure = memory.structure
    every = [turn for unit in memory.units for turn in unit.turn_ids]
    for wanted in ([], every[:1], every[::3], [*every[2:4], "nowhere"]):
        gold = memory.gold(wanted)
        for node in range(len(structure)):
            leaf, said = not structure.children[node], all_tokens(structure.text[node])
            expected = []
            for turn in set(memory.turn_ids(node)).intersection(wanted):
                words = content_tokens(memory.conversation.turn(turn).content)
                if leaf or (words and len(words & said) >= 0.6 * len(words) - 1e-9):
                    expected.append(turn)
            assert sorted(gold.by_node.get(node, ())) == sorted(expected)
        leaves = [n for n in structure.leaves if set(memory.turn_ids(n)) & set(wanted)]
        assert list(gold.leaves) == leaves
        assert gold.turns == tuple(wanted)


def test_the_root_covers_nothing_by_being_the_root():
    memory = built(sessions=4)
    (root,) = memory.structure.roots
    every = [turn for unit in memory.units for turn in unit.turn_ids]
    held = memory.gold(every).by_node
    assert len(held.get(root, ())) < len(set(memory.turn_ids(root)))
