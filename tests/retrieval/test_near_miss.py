import pytest

from segviz.retrieval import ranking
from segviz.retrieval.near_miss import near_misses

QUESTION = "the red bicycle and the sourdough bread"


def test_lists_the_next_nodes_in_order(memory):
    result = memory.ask(QUESTION, k=3, policy="both", alpha=0.4)
    order = ranking(result.final, result.structure)
    rows = near_misses(result, count=4)
    assert [row.node for row in rows] == order[3:7].tolist()
    assert [row.rank_after for row in rows] == [4, 5, 6, 7]
    last = result.final[result.after[-1]]
    for row in rows:
        assert row.short_by == pytest.approx(last - result.final[row.node])
        assert row.short_by >= 0
        assert row.reason


def test_missed_gold_is_listed_however_far_down(memory):
    result = memory.ask(QUESTION, k=1, levels=[0], policy="none")
    order = ranking(result.final, result.structure, [0])
    far = int(order[-1])
    rows = near_misses(result, count=2, wanted=[far, int(order[0])])
    assert [row.node for row in rows] == [*order[1:3].tolist(), far]


def test_a_node_on_another_level_says_so(memory):
    result = memory.ask(QUESTION, k=2, levels=[0])
    root = result.structure.roots[0]
    row = near_misses(result, count=0, wanted=[root])[0]
    assert (row.rank_after, row.reason) == (0, "its level is not admissible")


def test_a_node_that_was_pushed_out_says_where_it_was(memory):
    for question in ("bicycle", "bread", "Saturn", QUESTION):
        result = memory.ask(question, k=3, policy="both", alpha=0.9, horizon=3)
        pushed = set(result.before) - set(result.after)
        for row in near_misses(result, count=20):
            if row.node in pushed:
                assert row.reason.startswith(f"was rank {row.rank_before};")


def test_nothing_retrieved_nothing_missed(memory):
    assert near_misses(memory.ask(QUESTION, levels=[])) == []
