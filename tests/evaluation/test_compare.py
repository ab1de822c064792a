"""Comparing systems: numbers against evaluate and against counting by hand."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import segviz
from segviz.conversation import Question
from segviz.embedding import HashingEmbedder
from segviz.evaluation import evaluate
from segviz.evaluation.audit import audit
from segviz.evaluation.compare import RETRIEVED_BY, compare, construction_sweep, first_alike
from segviz.retrieval import Retriever
from segviz.tree.shape import shape
from tests.evaluation import restated
from tests.evaluation.test_permutation import talk
from tests.trees import small_chat


def build(name, conversation=None, unit="turn"):
    return segviz.build(conversation or talk(), name, unit=unit, embedder=HashingEmbedder())


@pytest.fixture(scope="module")
def memories():
    return {name: build(name) for name in ("segment-tree", "memtree", "clustering", "bm25")}


@pytest.fixture(scope="module")
def questions(memories):
    return memories["bm25"].conversation.questions


def test_a_frame_has_a_row_for_each_memory_and_retrieval(memories, questions):
    found = segviz.compare(memories, questions, k=4)
    frame = found.frame()
    places = [(row.name, row.method) for row in found.rows]
    assert places == [(name, how) for name in memories for how in ("native", "collapsed", "leaves")]
    said = [(name, RETRIEVED_BY[how]) for name, how in places]
    assert list(zip(frame["name"], frame["retrieved by"], strict=True)) == said
    assert frame["leaf recall"].tolist() == [row.outcomes.value("recall") for row in found.rows]
    assert frame["mean depth"].tolist() == [row.shape.mean_depth for row in found.rows]


def test_a_memory_without_leaves_of_its_own_is_not_asked_for_leaves(memories, questions):
    facts = [{"id": "a", "text": "A note", "turns": [memories["bm25"].units[0].turn_ids[0]]}]
    memory = segviz.memory_from(facts, conversation=talk(), embedder=HashingEmbedder())
    assert [row.method for row in compare({"facts": memory}, questions).rows] == ["collapsed"]


def test_systems_are_grouped_by_the_retrieval_they_are_asked_by(memories, questions):
    found = compare({name: memories[name] for name in ("segment-tree", "bm25")}, questions)
    own, same, leaves = found.ways()
    assert (own, same, leaves) == tuple(found.rows[start::3] for start in range(3))
    assert found.ways("collapsed") == [same, own, leaves]
    # A system without its own retrieval is asked by relevance alone in its place.
    fewer = replace(found, rows=found.rows[:3] + found.rows[4:])
    assert fewer.ways() == [(own[0], same[1]), same, leaves]
    assert replace(found, rows=same).ways() == [same]


@pytest.mark.parametrize(
    ("rows", "firsts"),
    [
        ("a native, a collapsed, b native, b collapsed", [0, 1, 0, 1]),
        ("a collapsed, b native, b collapsed, c native", [0, 0, 0, 0]),
        ("a native, b collapsed", [0, 0]),
        ("a native, b native, b collapsed, b collapsed", [0, 0, 0, 0]),
        ("a native, a collapsed, b collapsed, c native", [0, 1, 1, 0]),
        ("a native, a collapsed, a collapsed", [0, 0, 0]),
    ],
)
def test_a_difference_is_to_the_first_row_that_is_asked_alike(rows, firsts):
    assert first_alike([tuple(row.split()) for row in rows.split(", ")]) == firsts


def test_collapsed_rows_are_those_of_evaluate(memories, questions):
    relevance = "hybrid"
    table = compare(memories, questions, k=4, units=5, relevance=relevance)
    for row in (row for row in table.rows if row.method == "collapsed"):
        memory = memories[row.name]
        other = evaluate(memory, questions, policy="none", k=4, units=5, relevance=relevance)
        assert row.outcomes == other.outcomes
        assert row.shape == shape(memory.structure)
        assert row.relevance == relevance
        assert row.outcomes.value("short") == 0
        assert (row.build_seconds, row.query_seconds) == (None, None)


def test_without_a_relevance_each_retrieval_has_its_usual_one(memories, questions):
    table = compare(memories, questions, k=4)
    assert table.settings.relevance is None
    own = {r.name: r for r in table.rows if r.method == "native"}
    assert own
    for name, row in own.items():
        usual = getattr(memories[name].model, "relevance", "dense")
        assert usual != "contextual"
        named = compare({name: memories[name]}, questions, k=4, relevance=usual).rows
        assert [r for r in named if r.method == "native"] == [row]
    collapsed = [r for r in table.rows if r.method == "collapsed"]
    named = compare(memories, questions, k=4, relevance="contextual").rows
    assert [r for r in named if r.method == "collapsed"] == collapsed


def test_own_rows_are_counted_from_ask(memories, questions):
    ticks = itertools.count()
    table = compare(memories, questions, k=4, units=5, tokens=70, clock=lambda: 2.0 * next(ticks))
    for row in table.rows:
        memory = memories[row.name]
        if row.method != "native":
            continue
        if not isinstance(memory.model, Retriever):  # its paper propagates cosines
            how = {"policy": "top-down", "alpha": 0.1, "horizon": 2, "relevance": "dense"}
            how["literal"] = True
            asked = evaluate(memory, questions, k=4, units=5, tokens=70, **how)
            assert row.outcomes == asked.outcomes
            continue
        shown = restated.Shown(memory.structure)
        for i, question in enumerate(questions):
            limits = {"k": 4, "units": 5, "tokens": 70}
            asked = memory.view(row.relevance, 4)
            found = memory.model.retrieve(question.text, asked).ranked
            ranked = list(dict.fromkeys(shown.chain[node] for node in found))
            expected = restated.measured(memory, shown, question, ranked, **limits)
            for name, values in row.outcomes.values.items():
                value = expected[name] if expected[name] is None else float(expected[name])
                assert values[i] == pytest.approx(value, abs=1e-6), (row.name, name)
        assert row.build_seconds == sum(step.cost.seconds for step in memory.steps)
        assert row.query_seconds == 2 / min(5, len(questions))


def test_leaves_are_re_ranked_in_every_system(memories, questions):
    table = compare(memories, questions, k=4)
    how = {"policy": "both", "alpha": 0.7, "horizon": 2, "relevance": "hybrid", "levels": (0,)}
    rows = [row for row in table.rows if row.method == "leaves"]
    assert [row.name for row in rows] == [*memories]
    for row in rows:
        assert row.outcomes == evaluate(memories[row.name], questions, k=4, **how).outcomes
        assert row.outcomes.levels[0] == 1


def test_too_few_leaves_are_reported(memories):
    nothing = [Question(0, "zzz", None, 1, ("D1:1",))]
    (row,) = [r for r in compare({"bm25": memories["bm25"]}, nothing).rows if r.method == "native"]
    assert row.outcomes.value("short") == 1
    assert row.outcomes.value("recall") == 0


def test_memories_of_other_units_do_not_compare(memories, questions):
    other = build("bm25", small_chat())
    with pytest.raises(ValueError, match="other does not have the units of bm25"):
        compare({"bm25": memories["bm25"], "other": other}, questions)


def test_no_questions_and_bad_counts(memories):
    for row in compare(memories, []).rows:
        assert row.outcomes.mean("recall").n == 0
    with pytest.raises(ValueError, match="k is 0"):
        compare(memories, [], k=0)


class TestConstruction:
    def test_is_a_comparison_of_memories_built_one_by_one(self, questions):
        how, bases = {"unit": "turn", "embedder": HashingEmbedder()}, (0.2, 0.6)
        found = construction_sweep(talk(), "memtree", "base", bases, **how, k=4)
        built = {str(base): segviz.build(talk(), "memtree", base=base, **how) for base in bases}
        assert found == compare(built, questions, k=4)
        for row, told in zip(found.rows, found.table(("recall",)), strict=True):
            memory = built[row.name]
            steps = memory.steps
            assert told["name"] == row.name
            assert told["leaf recall"] == row.outcomes.mean("recall")
            assert told["greatest depth"] == shape(memory.structure).max_depth
            written = np.mean([step.cost.annotated for step in steps])
            compared = np.mean([step.cost.inspected for step in steps])
            assert told["texts written per leaf"] == pytest.approx(written)
            assert told["nodes compared per leaf"] == pytest.approx(compared)
        assert found.rows[0].shape != found.rows[-1].shape

    def test_a_part_of_a_system_has_a_dot_and_others_stay_fixed(self):
        seen = []
        found = construction_sweep(
            talk(),
            "segment-tree",
            "compatibility.threshold",
            (-1.0, 1.0),
            fixed={"compatibility": "cosine", "refresh": "lazy"},
            unit="turn",
            embedder=HashingEmbedder(),
            progress=lambda done, total: seen.append((done, total)),
        )
        one, many = (row for row in found.rows if row.method == "collapsed")
        assert one.shape.max_depth < many.shape.max_depth
        total = 2 * len(talk().units("turn"))
        assert seen == [(done, total) for done in range(1, total + 1)]

    @pytest.mark.parametrize(
        ("parameter", "values", "said"),
        [
            ("bass", (1,), "memtree has no parameter 'bass'; it has base, rate"),
            ("base", (0.4, 7), "base is 7; it must lie between -1 and 2"),
            ("base", (), "values is empty"),
        ],
    )
    def test_what_cannot_be_set_is_said_before_anything_is_built(self, parameter, values, said):
        def built(done, total):
            raise AssertionError("something was built")

        with pytest.raises(ValueError, match=said):
            construction_sweep(talk(), "memtree", parameter, values, progress=built)


def test_results_print_as_one_short_line(memories, questions):
    memory = memories["bm25"]
    results = (
        evaluate(memory, questions),
        segviz.compare(memories, questions),
        segviz.sweep(memory, questions, alphas=[0.1], horizons=[1]),
        audit(memory),
        memory.conversation,
        memory.structure,
        memory,
        memory.ask(questions[0]),
    )
    for each in results:
        assert repr(each).startswith(type(each).__name__)
        assert len(repr(each)) < 250
        assert "\n" not in repr(each)


@pytest.mark.parametrize(
    ("changes", "method"), [({}, "native"), ({"k": 4}, "native"), ({"policy": "none"}, "propagate")]
)
def test_evaluate_asks_a_system_by_its_own_retrieval_unless_told_how(
    memories, questions, changes, method
):
    found = evaluate(memories["bm25"], questions, **changes)
    named = evaluate(memories["bm25"], questions, method=method, **changes)
    assert found.settings == named.settings
    assert found.outcomes == named.outcomes
    assert evaluate(memories["segment-tree"], questions).settings.method == "propagate"
