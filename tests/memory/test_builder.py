"""Building and asking, against a slow restatement of Algorithm 2."""

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pytest

import segviz
from segviz.construct import Declared
from segviz.embedding import HashingEmbedder
from segviz.retrieval import Retrieval
from segviz.tree import Add, Cost, Step
from tests.retrieval.test_propagate import literal
from tests.retrieval.test_selection import literal_ranking
from tests.trees import chat, shown_as, small_chat

QUESTION = "How much did the red bicycle cost?"


def literal_ask(memory, question, policy, alpha, horizon, k, levels, literally):
    """Algorithm 2 with loops: relevance, normalisation, dense propagation, sorting; over the
    nodes of the tree, or over its same-text chains."""
    structure = memory.structure
    shown = list(range(len(structure))) if literally else shown_as(structure)
    pairs = [(shown[parent], shown[child]) for parent, child in structure.edges.tolist()]
    edges = list(dict.fromkeys((a, b) for a, b in pairs if a != b))
    query = memory.embedder.embed([question])[0]
    raw = [
        max(0.0, float(np.dot(vector, query))) if shown[node] == node else 0.0
        for node, vector in enumerate(structure.vector)
    ]
    total = sum(raw)
    initial = np.array([value / total for value in raw])
    policy, hops = (policy, horizon) if policy != "none" else ("top-down", 0)
    final = literal(initial, edges, policy, alpha, hops)
    order = [node for node in literal_ranking(final, structure, levels) if shown[node] == node]
    return initial, final, order[:k]


class TestAsk:
    @pytest.mark.parametrize("policy", ["none", "top-down", "bottom-up"])
    @pytest.mark.parametrize("levels", [None, (0, 1)])
    @pytest.mark.parametrize("literally", [True, False])
    @pytest.mark.parametrize(("alpha", "horizon"), [(0.1, 2), (0.9, 1), (0.7, 0)])
    def test_equals_the_literal_algorithm(self, memory, policy, levels, literally, alpha, horizon):
        result = memory.ask(
            QUESTION,
            policy=policy,
            alpha=alpha,
            horizon=horizon,
            k=5,
            levels=levels,
            literal=literally,
            relevance="dense",
        )
        initial, final, order = literal_ask(
            memory, QUESTION, policy, alpha, horizon, 5, levels, literally
        )
        np.testing.assert_allclose(result.initial, initial, rtol=0, atol=1e-7)
        np.testing.assert_allclose(result.final, final, rtol=0, atol=1e-7)
        assert list(result.after) == order

    def test_evidence_carries_place_scores_and_ranks(self, memory):
        result = memory.ask(QUESTION, k=4, alpha=0.9, horizon=2)
        assert [e.rank_after for e in result.evidence] == [1, 2, 3, 4]
        by_initial = memory.ask(QUESTION, policy="none", k=len(result.structure)).after
        for item in result.evidence:
            assert item.final == result.final[item.node]
            assert item.initial == result.initial[item.node]
            assert item.rank_before == by_initial.index(item.node) + 1
            start, stop = item.span
            assert item.turn_ids == tuple(
                t for unit in memory.units[start:stop] for t in unit.turn_ids
            )

    def test_level_distributions_count_the_top(self, memory):
        result = memory.ask(QUESTION, k=5)
        for which, nodes in (("initial", result.before), ("final", result.after)):
            counts = result.levels(which)
            assert sum(counts.values()) == 5
            assert counts[0] == sum(result.structure.level[n] == 0 for n in nodes)
        with pytest.raises(ValueError, match="'initial' or 'final'"):
            result.levels("middle")

    def test_a_memory_of_nothing_answers_with_nothing(self, memory):
        for policy in ("none", "top-down", "both", "neighbours"):
            assert memory.ask(QUESTION, step=0, policy=policy).evidence == ()

    def test_an_empty_question_scores_uniformly(self, memory):
        result = memory.ask("", policy="none", k=3, relevance="dense")
        assert np.ptp(result.initial[result.structure.active]) == 0
        assert list(result.after) == [0, 1, 2]


class TestBuild:
    def test_progress_counts_every_step(self):
        seen = []
        segviz.build(
            small_chat(), embedder=HashingEmbedder(), progress=lambda *now: seen.append(now)
        )
        total = len(small_chat().units())
        assert seen == [(i + 1, total) for i in range(total)]

    def test_every_step_has_a_unit_note_and_cost(self):
        built = segviz.build(small_chat(), embedder=HashingEmbedder())
        assert [s.unit for s in built.steps] == list(small_chat().units())
        assert all(s.note for s in built.steps)
        assert all(s.cost.seconds > 0 for s in built.steps)
        assert all(s.cost.inspected == len(s.decision.candidates) for s in built.steps[1:])

    def test_at_is_the_replay_of_a_prefix(self, memory):
        assert len(memory.at(0)) == 0
        assert len(memory.at(1)) == 1
        assert memory.at(len(memory.steps)) is memory.structure
        with pytest.raises(ValueError, match="steps 0 to 9"):
            memory.at(10)

    def test_one_turn_and_identical_turns(self):
        one = segviz.build(chat([[("A", "hi")]]), embedder=HashingEmbedder())
        assert len(one.structure) == 1
        assert one.check() == []
        assert one.ask("hi").after == (0,)
        same = segviz.build(
            chat([[("A", "hi"), ("B", "hi")] * 6]), unit="turn", embedder=HashingEmbedder()
        )
        assert same.check() == []
        assert len(same.ask("hi", k=20, levels=[0]).after) == 12

    def test_components_by_name_mapping_or_object(self):
        for value in (
            "cosine",
            {"name": "cosine", "threshold": 0.175},
            segviz.Cosine(threshold=0.175),
        ):
            built = segviz.build(small_chat(), embedder=HashingEmbedder(), compatibility=value)
            assert built.settings["compatibility"] == {"name": "cosine", "threshold": 0.175}

    def test_an_instance_may_be_given(self):
        system = segviz.SegmentTree(compatibility=segviz.Cosine(0.9), annotate=" / ".join)
        built = segviz.build(small_chat(), system, embedder=HashingEmbedder())
        assert " / " in built.structure.text[built.structure.roots[0]]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"system": "forest"}, "segment-tree"),
            ({"unit": "word"}, "exchange, turn, paper, session"),
            ({"embedder": "none"}, "wordllama, hashing"),
            ({"threshold": 1}, "it has compatibility, annotate, refresh"),
            ({"compatibility": "psychic"}, "calibrated, cosine, pointwise, batch"),
            ({"compatibility": {"name": "cosine", "tau": 1}}, "it has threshold"),
            ({"compatibility": {"name": "cosine", "threshold": 7}}, "between -1 and 1"),
        ],
    )
    def test_unknown_names_list_the_legal_ones(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            segviz.build(small_chat(), **{"embedder": "hashing", **arguments})


class Own:
    """A system by somebody else, with the faults a first try has."""

    name, label, invariants = "own", "own", ()

    def steps(self, arriving, services):
        yield from islice(segviz.SYSTEMS["dense"]().steps(arriving, services), 3)


class Bare:
    name = "bare"


@pytest.mark.parametrize(
    ("system", "problem"),
    [
        (Own, "Own is a class; give an instance: Own\\(\\)"),
        (Bare(), "Bare has no invariants and no steps"),
        (Own(), "gave 3 steps for 9 units"),
    ],
)
def test_what_is_no_system_is_refused(system, problem):
    conversation = small_chat()
    assert len(conversation.units("turn")) == 9
    with pytest.raises(ValueError, match=problem):
        segviz.build(conversation, system, "turn", embedder=HashingEmbedder())


def test_a_relevance_is_given_by_name(memory):
    with pytest.raises(ValueError, match="expected a name"):
        memory.ask(QUESTION, relevance=object())


@dataclass(frozen=True)
class Backwards(Declared):
    """Leaves alone, retrieved from the last to the first."""

    name, relevance, invariants = "backwards", "dense", (lambda structure: iter(()),)

    def steps(self, arrivals, services):
        for i, each in enumerate(arrivals):
            add = Add(i, 0, (i, i + 1), each.text, each.vector)
            yield Step(each.unit, "", None, (add,), Cost())

    def retrieve(self, question, view):
        n = len(view.structure)
        return Retrieval(np.arange(1.0, n + 1), tuple(range(n))[::-1])

    def tables(self, structure, steps):
        return {"Leaves": [{"leaves": len(structure)}]}


def test_a_system_that_no_registry_has_keeps_its_instance():
    system = Backwards()
    memory = segviz.build(small_chat(), system, embedder=HashingEmbedder())
    assert memory.model is system
    assert memory.invariants is Backwards.invariants
    asked = memory.ask("Who?", method="native", k=2)
    assert asked.after == (len(memory.units) - 1, len(memory.units) - 2)
    assert memory.model.tables(memory.structure, memory.steps)
    assert replace(memory, settings={"other": 1}).model is None
