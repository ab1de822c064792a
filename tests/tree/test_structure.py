import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.tree import Add, Link, Relate, Retire, Revise, Step, Unlink, replay
from segviz.tree.invariants import check
from segviz.tree.replayer import ReplayError
from tests.trees import ZERO, random_graph, shown_as, toy, unit


def step(*events):
    return Step(unit(0), "", None, tuple(events))


def add(node, level=0, start=0, stop=1):
    return Add(node, level, (start, stop), f"n{node}", ZERO)


class TestDerived:
    def test_toy_tree(self):
        s = toy()
        assert s.roots == (10,)
        assert s.leaves == tuple(range(7))
        assert s.children[10] == (7, 8, 9)
        assert s.parents[3] == (8,)
        assert s.frontier == (6, 9, 10)
        assert s.depth.tolist() == [2] * 7 + [1] * 3 + [0]
        assert s.coverage(7) == (0, 1, 2)
        assert s.coverage(10) == tuple(range(7))

    def test_a_same_text_chain_is_one_node(self):
        s = toy().collapsed
        assert s.chain.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 3, 9, 10]
        assert s.top.tolist() == [0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 2]
        assert np.flatnonzero(~s.active).tolist() == [8]
        assert s.children[10] == (7, 3, 9)
        assert s.coverage(8) == s.coverage(3) == (3,)
        assert s.nodes.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 9, 10]

    def test_a_node_with_one_child_and_its_own_text_stays(self):
        events = [Add(0, 0, (0, 1), "said", ZERO), Add(1, 1, (0, 1), "meant", ZERO), Link(1, 0)]
        s = replay([step(*events)])
        assert s.collapsed is s

    @given(st.integers(0, 10**6))
    def test_chains_equal_a_slow_walk(self, seed):
        """In random graphs whose nodes share few texts, several parents and roots included."""
        rng = random.Random(seed)
        n, edges = random_graph(rng, rng.randrange(1, 30))
        events = [Add(i, 0, (i, i + 1), rng.choice("ab"), ZERO) for i in range(n)]
        s = replay([step(*events, *(Link(*edge) for edge in edges))])
        shown, found = shown_as(s), s.collapsed
        assert found.chain.tolist() == shown
        assert np.flatnonzero(found.active).tolist() == sorted(set(shown))
        between = {(shown[a], shown[b]) for a, b in edges if shown[a] != shown[b]}
        assert sorted(map(tuple, found.edges.tolist())) == sorted(between)
        for node in range(n):
            members = [other for other in range(n) if shown[other] == shown[node]]
            assert found.top[shown[node]] == max(s.level[member] for member in members)


class TestReplay:
    def test_columns_and_types(self):
        s = replay([step(add(0), add(1, 1), Link(1, 0)), step(Revise(1, (0, 1), "new", ZERO + 1))])
        assert s.level.dtype == s.start.dtype == s.stop.dtype == s.edges.dtype == np.int32
        assert s.vector.dtype == np.float32
        assert s.text == ("n0", "new")
        assert s.vector[1].tolist() == [1, 1]
        assert s.edges.tolist() == [[1, 0]]
        with pytest.raises(ValueError, match="read-only"):
            s.level[0] = 3
        assert replay([]).roots == replay([]).leaves == replay([]).frontier == ()

    def test_unlink_and_retire_keep_the_row(self):
        s = replay([step(add(0), add(1, 1), Link(1, 0)), step(Unlink(1, 0), Retire(1))])
        assert s.active.tolist() == [True, False]
        assert s.edges.shape == (0, 2)
        assert s.roots == (0,)
        assert s.depth.tolist() == [0, -1]

    def test_kinds_facts_and_levels(self):
        late = Add(1, 1, (0, 1), "who", ZERO, "entity", {"mentions": 1})
        s = replay([step(add(0), late, Link(1, 0))])
        assert s.kind == ("", "entity")
        assert dict(s.facts[1]) == {"mentions": 1}
        s = replay(
            [
                step(add(0), late, Link(1, 0)),
                step(Revise(1, (0, 1), "who", ZERO, level=2, facts={"mentions": 2})),
                step(Revise(1, (0, 1), "whom", ZERO)),
            ]
        )
        assert (s.level.tolist(), dict(s.facts[1]), s.text[1]) == ([0, 2], {"mentions": 2}, "whom")

    def test_relations_are_set_and_removed(self):
        steps = [step(add(0), add(1)), step(Relate(0, 1, "knows")), step(Relate(0, 1, "knows", 3))]
        assert replay(steps).relations == (Relate(0, 1, "knows", 3),)
        with pytest.raises(ReplayError, match="unlink them first"):
            replay([*steps, step(Retire(1))])
        s = replay([*steps, step(Relate(0, 1, "knows", 0), Retire(1))])
        assert s.relations == ()
        assert s.active.tolist() == [True, False]
        assert not check(s)

    @pytest.mark.parametrize(
        ("events", "message"),
        [
            ((add(1),), "expected node 0"),
            ((Link(0, 1),), "node 0 is not in the structure"),
            ((add(0), add(1, 1), Link(1, 0), Link(1, 0)), "already there"),
            ((add(0), Unlink(0, 0)), "no such edge"),
            ((add(0), add(1, 1), Link(1, 0), Retire(1)), "unlink them first"),
            ((add(0), Relate(0, 1, "knows")), "node 1 is not in the structure"),
            ((add(0), Relate(0, 0, "knows", 0)), "no such relation"),
            ((add(0), Retire(0), Revise(0, (0, 1), "", ZERO)), "not in the structure"),
        ],
    )
    def test_impossible_events_name_the_step(self, events, message):
        with pytest.raises(ReplayError, match=f"step 1.*{message}"):
            replay([step(), step(*events)])
