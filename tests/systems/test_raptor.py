"""RAPTOR: layers by hand, rebuilding against building at once, several parents, budget."""

from collections import Counter

import numpy as np
import pytest

from segviz.retrieval import estimated_tokens
from segviz.systems import SYSTEMS
from segviz.systems.raptor import Raptor
from segviz.tree import Add, Retire, history, replay
from segviz.tree.invariants import check
from tests.systems import common
from tests.systems.common import bracket
from tests.systems.test_contract import talk
from tests.trees import chat


class Points:
    """Embeds the text "x y" as that point; a summary as the mean of the points in it."""

    name = "points"

    def embed(self, texts):
        rows = [
            np.array(t.replace("(", "").replace(")", "").split(), dtype=np.float32).reshape(-1, 2)
            for t in texts
        ]
        return np.array([row.mean(axis=0) for row in rows], dtype=np.float32).reshape(-1, 2)


def run(system, points, sessions=None):
    return common.run(system, [f"{x} {y}" for x, y in points], Points(), sessions)


TWO_HEAPS = [(0, 0), (9, 9), (0.2, 0.1), (9.1, 9.3), (0.1, 0.3), (9.2, 8.9)]


def test_two_heaps_by_hand():
    """Six points in two heaps: two summaries; two nodes are too few for a further layer."""
    s = replay(run(Raptor(dimensions=1, small=2, annotate=bracket), TWO_HEAPS))
    assert s.level.tolist() == [0] * 6 + [1] * 2
    assert s.children[6] == (0, 2, 4)
    assert s.children[7] == (1, 3, 5)
    assert s.text[6] == "(0 0 0.2 0.1 0.1 0.3)"
    assert (int(s.start[6]), int(s.stop[6])) == (0, 5)
    assert s.coverage(6) == (0, 2, 4)


def test_a_small_layer_becomes_one_cluster():
    s = replay(run(Raptor(dimensions=1, small=6, annotate=bracket), TWO_HEAPS))
    assert s.level.tolist() == [0] * 6 + [1]
    assert s.children[6] == (0, 1, 2, 3, 4, 5)


def test_too_few_units_stay_alone():
    for n in range(4):
        assert len(replay(run(Raptor(dimensions=2, annotate=bracket), TWO_HEAPS[:n]))) == n


def test_a_layer_that_would_not_shrink_is_not_built():
    """Every text fills a summary by itself, so each unit would be a cluster of its own."""
    told = [[("Ada", f"part {i} " + "of a long story about bread " * 20) for i in range(12)]]
    assert len(common.build("raptor", chat(told), input_tokens=100).structure) == 12


def shape_of(structure):
    """Active inner nodes without their ids: level, exact coverage, text."""
    return Counter(
        (int(structure.level[n]), structure.coverage(n), structure.text[n])
        for n in np.flatnonzero(structure.active & (structure.level > 0)).tolist()
    )


def random_points(n, seed):
    rng = np.random.default_rng(seed)
    heaps = rng.integers(0, 4, size=(n, 1)) * 3
    return [tuple(p) for p in (heaps + rng.normal(size=(n, 2))).round(2)]


@pytest.mark.parametrize("seed", range(6))
def test_rebuilding_leaves_no_trace_of_what_was_before(seed):
    """After each session the layers are those of building the units so far at once."""
    points = random_points(40, seed)
    ends = [7, 8, 20, 33, 40]
    sessions = [sum(i >= end for end in ends) for i in range(40)]
    system = Raptor(dimensions=2, small=4, annotate=bracket, seed=seed)
    moments = list(history(run(system, points, sessions)))
    for end in ends:
        assert check(moments[end - 1], SYSTEMS["raptor"].invariants) == []
        assert shape_of(moments[end - 1]) == shape_of(replay(run(system, points[:end])))


def test_nothing_is_built_inside_a_session():
    steps = run(Raptor(dimensions=1, small=2, annotate=bracket), TWO_HEAPS * 2, [0] * 6 + [1] * 6)
    assert [len(step.events) > 1 for step in steps] == [False] * 5 + [True] + [False] * 5 + [True]
    assert any(isinstance(event, Retire) for event in steps[11].events)


def test_an_unchanged_cluster_keeps_its_node():
    """The third session falls on the second heap alone."""
    points = [*TWO_HEAPS, (9.1, 9.1)]
    steps = run(Raptor(dimensions=1, small=2, annotate=bracket), points, [0] * 6 + [1])
    s = replay(steps)
    assert s.active[6]
    assert not s.active[7]
    assert [type(e) for e in steps[6].events].count(Add) == 2  # the leaf and one summary
    assert "taken away: 1, kept: 1, new: 1; layers: 1" in steps[6].note


def test_a_summary_is_asked_for_once():
    asked = Counter()

    def counted(texts):
        asked[tuple(texts)] += 1
        return bracket(texts)

    system = Raptor(dimensions=1, small=2, annotate=counted)
    steps = run(system, random_points(30, 1), sorted([0, 1, 2] * 10))
    assert max(asked.values()) == 1
    assert sum(step.cost.annotated for step in steps) >= len(asked)


@pytest.fixture(scope="module")
def memory():
    return common.build("raptor", talk(6, 8))


def test_a_node_may_have_several_parents_and_is_covered_once():
    """Two heaps that run into each other share the points between them."""
    line = [(round(x, 2), 0) for x in (*np.linspace(0, 1, 30), *np.linspace(3, 4, 30), 2.0, 1.9)]
    rng = np.random.default_rng(2)
    heaps = [*rng.normal(0, 1, (60, 2)), *rng.normal((3.2, 0), 1, (60, 2))]
    points = [(*np.round(p, 2),) for p in (*heaps, *line)]
    s = replay(run(Raptor(dimensions=2, threshold=0.05, annotate=bracket), points))
    assert max(len(parents) for parents in s.parents) > 1
    for node in range(len(s)):
        covered = s.coverage(node)
        assert len(set(covered)) == len(covered)
    hard = replay(run(Raptor(dimensions=2, threshold=0.5, annotate=bracket), points))
    assert max(len(parents) for parents in hard.parents) == 1


def test_own_retrieval_without_a_limit_is_the_collapsed_order(memory):
    question = "What did the red bicycle cost?"
    n = len(memory.structure)
    for relevance in ("dense", "hybrid", "lexical"):
        plain = memory.ask(question, policy="none", k=n, relevance=relevance, literal=True)
        own = Raptor(budget=100_000).retrieve(question, memory.view(relevance, n)).ranked
        assert set(own) == set(plain.after)
        # Equal scores differ in their last bits; there the older node comes first.
        in_order = plain.final[list(own)]
        assert (np.diff(in_order) <= 1e-9).all()


def test_the_budget_ends_at_the_first_node_that_does_not_fit(memory):
    view = memory.view("dense")
    everything = Raptor(budget=100_000).retrieve("bread", view).ranked
    for budget in (50, 77, 200, 1000):
        used, expected = 0, []
        for node in everything:
            used += estimated_tokens(memory.structure.text[node])
            if used > budget:
                break
            expected.append(node)
        assert Raptor(budget=budget).retrieve("bread", view).ranked == tuple(expected)
