import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.retrieve import level_distribution, ranking, top_k
from tests.trees import grown, toy

scores_11 = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), min_size=11, max_size=11)
level_sets = st.none() | st.sets(st.integers(0, 2), min_size=1)


def literal_ranking(scores, structure, levels, distinct):
    """Sort by (score down, id up), drop other levels, then later nodes over the same units."""
    nodes = sorted(range(len(scores)), key=lambda v: (-scores[v], v))
    kept, seen = [], []
    for node in nodes:
        if levels is not None and structure.level[node] not in levels:
            continue
        units = structure.coverage(node)
        if distinct and units in seen:
            continue
        seen.append(units)
        kept.append(node)
    return kept


@given(scores_11, level_sets, st.booleans())
def test_ranking_equals_the_literal_form(values, levels, distinct):
    scores = np.array(values)
    found = ranking(scores, toy(), levels, distinct).tolist()
    assert found == literal_ranking(scores, toy(), levels, distinct)


def test_ties_go_to_the_older_node():
    assert top_k(np.full(11, 0.5), toy(), 3) == [0, 1, 2]


def test_a_unary_node_takes_no_second_place():
    scores = np.zeros(11)
    scores[8], scores[3], scores[0] = 0.9, 0.8, 0.1
    assert top_k(scores, toy(), 2) == [8, 0]
    assert top_k(scores, toy(), 2, distinct=False) == [8, 3]


def test_admissible_levels_come_before_distinctness():
    scores = np.zeros(11)
    scores[8], scores[3] = 0.9, 0.8
    assert top_k(scores, toy(), 1, levels=[0]) == [3]


def test_retired_nodes_are_never_returned():
    s = toy()
    active = s.active.copy()
    active[0] = False
    s = type(s)(s.level, s.start, s.stop, s.text, s.vector, active, s.edges)
    assert 0 not in top_k(np.ones(11), s, 11)


def test_fewer_nodes_than_asked_for():
    assert top_k(np.ones(1), grown([(0, 0, 1)], []), 10) == [0]


def test_k_below_one_is_refused():
    with pytest.raises(ValueError, match="k is 0"):
        top_k(np.ones(11), toy(), 0)


def test_level_distribution_lists_every_level():
    assert level_distribution(toy(), [0, 1, 8]) == {0: 2, 1: 1, 2: 0}
