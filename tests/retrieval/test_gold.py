from segviz.retrieval import Evidence
from segviz.retrieval.gold import gold_status


def evidence(span, *turns):
    return Evidence(0, 0, span, turns, "", 0, 0, 1, 1)


def test_hit_covered_missed_and_absent():
    found = [evidence((0, 1), "a", "b"), evidence((1, 4), "c", "d", "e")]
    status = gold_status(found, ["a", "d", "x", "y"], held=["a", "b", "c", "d", "e", "x"])
    assert status == {"a": "hit", "d": "covered", "x": "missed", "y": "not in any leaf"}


def test_a_unary_node_over_one_unit_is_a_hit():
    assert gold_status([evidence((5, 6), "a")], ["a"], held=["a"]) == {"a": "hit"}
