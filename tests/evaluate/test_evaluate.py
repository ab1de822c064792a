"""Evaluation against a slow literal restatement, and numbers worked by hand."""

from __future__ import annotations

import math
import random
import sys
from itertools import pairwise

import numpy as np
import pytest

import segviz
from segviz.conversation import Question
from segviz.embedding import HashingEmbedder
from segviz.evaluate import Mean, coverage, evaluate
from segviz.evaluate import measures as m
from segviz.evaluate.aggregate import categories, mean_ci
from segviz.evaluate.evaluation import MEASURES
from segviz.evaluate.scores import first_scores, gold_of
from segviz.figures.categories import category_bars, category_sentence
from segviz.retrieval import level_distribution, propagate, ranking
from tests.retrieval.test_selection import literal_ranking
from tests.trees import chat, small_chat, toy

WORDS = "red blue bicycle bread telescope saturn rye flour gears utrecht luna cat rain".split()


def random_memory(seed, unit="exchange"):
    """A small memory over random words with ten questions of all kinds."""
    rng = random.Random(seed)

    def words(n):
        return " ".join(rng.choices(WORDS, k=n))

    sessions = [
        [(rng.choice("AB"), words(rng.randrange(2, 9))) for _ in range(rng.randrange(2, 12))]
        for _ in range(rng.randrange(1, 5))
    ]
    ids = [f"D{s}:{t}" for s, turns in enumerate(sessions, 1) for t in range(1, len(turns) + 1)]
    questions = [
        Question(
            100 + i,
            words(3),
            rng.choice([None, "", words(2)]),
            rng.choice([None, 1, 2, 4]),
            tuple(rng.sample(ids, min(len(ids), rng.randrange(4)))),
        )
        for i in range(10)
    ]
    return segviz.build(
        chat(sessions, questions), unit=unit, embedder=HashingEmbedder(), compatibility="cosine"
    )


def literal(memory, questions, policy, alpha, horizon, relevance, distinct, k, budget):
    """Design §6, question by question; the scores come from one scorer call as in evaluate,
    because a matrix product of another size may round differently."""
    structure = memory.structure
    rows = []
    for question, initial in zip(
        questions, first_scores(memory, questions, relevance), strict=True
    ):
        final = propagate(initial, structure.edges, policy, alpha, horizon, structure).final
        leaves = literal_ranking(final, structure, (0,), distinct)
        mixed = literal_ranking(final, structure, None, distinct)
        gold = [
            leaf for leaf in structure.leaves if set(memory.turn_ids(leaf)) & set(question.evidence)
        ]
        row = {"gold": tuple(gold), "mixed": mixed[:k]}
        row["words"] = sum(len(structure.text[v].split()) for v in mixed[:k])
        row["coverage"] = coverage(question.answer or "", [structure.text[v] for v in mixed[:k]])
        row |= dict.fromkeys(("recall", "reciprocal_rank", "ndcg", "budget_recall"))
        if question.evidence:
            ranks = [leaves.index(leaf) + 1 for leaf in gold]
            gains = sum(1 / math.log2(r + 1) for r in ranks if r <= k)
            ideal = sum(1 / math.log2(r + 1) for r in range(1, min(len(gold), k) + 1))
            taken = set()
            for node in mixed:
                if len(taken | set(structure.coverage(node))) > budget:
                    break
                taken |= set(structure.coverage(node))
            wanted = {u for leaf in gold for u in structure.coverage(leaf)}
            row["recall"] = sum(r <= k for r in ranks) / len(gold) if gold else 0
            row["reciprocal_rank"] = 1 / min(ranks) if gold else 0
            row["ndcg"] = gains / ideal if gold else 0
            row["budget_recall"] = len(wanted & taken) / len(wanted) if gold else 0
        rows.append(row)
    return rows


CASES = [
    (0, "exchange", "none", 0.1, 2, "lexical", True, 3, 4),
    (1, "exchange", "top-down", 0.1, 2, "hybrid", True, 5, 6),
    (2, "turn", "bottom-up", 0.5, 3, "dense", False, 4, 8),
    (3, "turn", "both", 0.9, 2, "hybrid", True, 10, 20),
    (4, "exchange", "neighbours", 0.3, 1, "hybrid", False, 2, 3),
    (5, "paper", "both", 0.3, 2, "lexical", True, 3, 5),
    (6, "turn", "top-down", 0.7, 0, "dense", True, 1, 1),
]


@pytest.mark.parametrize("case", CASES)
def test_every_measure_equals_the_literal_form(case):
    seed, unit, policy, alpha, horizon, relevance, distinct, k, budget = case
    memory = random_memory(seed, unit)
    questions = memory.conversation.questions
    found = evaluate(
        memory,
        questions,
        policy=policy,
        alpha=alpha,
        horizon=horizon,
        relevance=relevance,
        literal=not distinct,
        k=k,
        units=budget,
    )
    expected = literal(memory, questions, policy, alpha, horizon, relevance, distinct, k, budget)
    counts = np.zeros(len(found.levels))
    for row, question, want in zip(found.rows, questions, expected, strict=True):
        assert (row.index, row.category) == (question.index, question.category)
        assert row.counted == bool(question.evidence)
        assert row.gold_leaves == want["gold"]
        for name in MEASURES:
            assert getattr(row, name) == pytest.approx(want[name]), name
        distribution = level_distribution(memory.structure, want["mixed"])
        counts += [distribution[level] for level in found.levels]
    assert list(found.levels.values()) == pytest.approx(list(counts / counts.sum()))
    for label, aggregate in [(..., found.overall), *found.by_category.items()]:
        chosen = [r for r in found.rows if label is ... or r.category == label]
        assert aggregate.questions == len(chosen)
        for name in MEASURES:
            values = [getattr(r, name) for r in chosen if getattr(r, name) is not None]
            mean = getattr(aggregate, name)
            assert mean.n == len(values)
            assert mean.value == pytest.approx(np.mean(values) if values else np.nan, nan_ok=True)


def test_the_top_is_what_ask_returns(memory):
    """Words are those of the evidence ``ask`` gives, question by question."""
    questions = memory.conversation.questions
    for settings in (
        {},
        {"policy": "both", "alpha": 0.5, "k": 4, "literal": True},
        {"budget": 40},
        {"budget": 1},
    ):
        measured = evaluate(memory, questions, **settings)
        row = measured.rows[0]
        asked = memory.ask(questions[0].text, **settings)
        count = max(len(asked.evidence), 1)
        assert measured.levels == {level: n / count for level, n in asked.levels("final").items()}
        assert row.coverage == coverage("red", [e.text for e in asked.evidence])
        assert row.words == sum(len(e.text.split()) for e in asked.evidence)
        leaves = memory.ask(
            questions[0].text, levels=[0], **{n: v for n, v in settings.items() if n != "budget"}
        ).after
        assert row.recall == (0 in leaves)


class TestHandWorked:
    relevant = np.array([[0, 1, 0, 1, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]], dtype=bool)

    def test_recall(self):
        assert m.recall(self.relevant, 3).tolist() == pytest.approx([0.5, 1, 0])
        assert m.recall(self.relevant, 2).tolist() == pytest.approx([0.5, 2 / 3, 0])
        assert m.recall(self.relevant, 99).tolist() == [1, 1, 0]

    def test_reciprocal_rank(self):
        assert m.reciprocal_rank(self.relevant).tolist() == [0.5, 1, 0]
        assert m.reciprocal_rank(np.zeros((2, 0), dtype=bool)).tolist() == [0, 0]

    def test_ndcg(self):
        # 1/log2(3) against 1 + 1/log2(3); with four ranks 1/log2(5) joins.
        at_3 = 0.6309297536 / 1.6309297536
        at_4 = (0.6309297536 + 0.4306765581) / 1.6309297536
        assert m.ndcg(self.relevant, 3).tolist() == pytest.approx([at_3, 1, 0])
        assert m.ndcg(self.relevant, 4).tolist() == pytest.approx([at_4, 1, 0])
        assert m.ndcg(self.relevant, 1).tolist() == [0, 1, 0]

    @pytest.mark.parametrize(
        ("ranked", "budget", "expected"),
        [
            ([3, 7, 0], 4, 0.5),  # 3, then 0-2: four units, 0 of gold {0, 5}
            ([3, 7, 9], 4, 0.5),  # 9 does not fit any more
            ([3, 7, 9], 7, 1.0),
            ([9, 5, 4, 0], 4, 1.0),  # 5 and 4 are not new
            ([9, 10, 0], 6, 0.5),  # the root ends the taking, although 0 would fit
            ([10], 6, 0.0),
            ([10], 7, 1.0),
        ],
    )
    def test_budget_recall_on_the_toy_tree(self, ranked, budget, expected):
        found = m.budget_recall(np.array([ranked]), toy().coverage, [{0, 5}], budget)
        assert found.tolist() == [expected]

    def test_budget_recall_without_gold(self):
        assert m.budget_recall(np.array([[0]]), toy().coverage, [set()], 5).tolist() == [0]

    def test_level_shares(self):
        assert m.level_shares([[0, 1, 2], [7]], toy().level) == {0: 0.75, 1: 0.25, 2: 0}
        assert m.level_shares([[], []], toy().level) == {0: 0, 1: 0, 2: 0}


@pytest.mark.parametrize("distinct", [True, False])
def test_rankings_of_many_equal_those_of_each(distinct):
    s = toy()
    scores = np.random.default_rng(0).integers(0, 4, (30, len(s))) / 3
    active = s.active.copy()
    active[[1, 7]] = False
    s = type(s)(s.level, s.start, s.stop, s.text, s.vector, active, s.edges)
    ranked = m.order(scores, np.flatnonzero(active))
    leaves = m.among(ranked, s.level == 0)
    mixed = m.best_of_groups(ranked, s.carrier) if distinct else ranked
    for i, row in enumerate(scores):
        assert leaves[i].tolist() == ranking(row, s, (0,), distinct).tolist()
        assert mixed[i].tolist() == ranking(row, s, None, distinct).tolist()


class TestCounting:
    def dropped(self):
        """The ``paper`` rule drops D1:3 and D1:4, turns of B after B."""
        turns = [("A", "red"), ("B", "blue"), ("B", "bread"), ("B", "rye")]
        questions = [
            Question(0, "bread", "x", 1, ("D1:3",)),
            Question(1, "red", "x", 1, ("D1:1", "D1:4")),
            Question(2, "red", "x", 1, ()),
            Question(3, "red", "x", 1, ("D9:9",)),
        ]
        return segviz.build(chat([turns], questions), unit="paper", embedder=HashingEmbedder())

    def test_dropped_evidence_counts_with_zero_and_unknown_ids_do_not(self):
        memory = self.dropped()
        assert memory.conversation.dropped("paper") == ("D1:3", "D1:4")
        found = evaluate(memory, memory.conversation.questions)
        assert [row.counted for row in found.rows] == [True, True, False, False]
        assert [row.recall for row in found.rows] == [0, 1, None, None]
        assert [row.gold_leaves for row in found.rows] == [(), (0,), (), ()]
        assert found.overall.recall.value == 0.5
        assert found.overall.recall.n == 2
        assert found.overall.questions == 4

    def test_one_leaf_holding_two_evidence_turns_is_one_gold_leaf(self):
        turns = [("A", "red"), ("B", "blue")]
        question = Question(0, "red", None, 1, ("D1:1", "D1:2"))
        memory = segviz.build(chat([turns], [question]), embedder=HashingEmbedder())
        gold = gold_of(memory, [question])
        assert gold.leaves.tolist() == [[True]]
        assert gold.units == (frozenset({0}),)

    def test_no_questions(self, memory):
        found = evaluate(memory, [])
        assert found.rows == ()
        assert found.by_category == {}
        assert found.overall.recall.n == 0
        assert math.isnan(found.overall.recall.value)

    def test_worst_first(self):
        memory = random_memory(8)
        worst = evaluate(memory, memory.conversation.questions, k=2).worst()
        assert worst
        assert [r.recall for r in worst] == sorted(r.recall for r in worst)
        assert all(r.counted and r.recall < 1 for r in worst)


class TestBootstrap:
    @pytest.mark.parametrize("seed", range(5))
    def test_equals_resampling_one_by_one(self, seed):
        values = np.random.default_rng(seed).random(23)
        rng = np.random.default_rng(seed)
        means = [
            np.mean([values[i] for i in rng.integers(23, size=23, dtype=np.int32)])
            for _ in range(1000)
        ]
        found = mean_ci(values, seed)
        assert found.value == pytest.approx(values.mean())
        # The stream may be drawn in another grouping: same distribution, not same draws.
        assert found.low == pytest.approx(np.percentile(means, 2.5), abs=0.02)
        assert found.high == pytest.approx(np.percentile(means, 97.5), abs=0.02)

    @pytest.mark.parametrize("n", [1, 2, 10, 200])
    def test_contains_the_mean_and_repeats(self, n):
        values = np.random.default_rng(n).random(n)
        found = mean_ci(values, 7)
        assert found.low <= found.value + 1e-12
        assert found.value <= found.high + 1e-12
        assert found == mean_ci(values, 7)
        assert n < 10 or found != mean_ci(values, 8)

    def test_shrinks_with_n(self):
        values = np.random.default_rng(0).random(1600)
        widths = [(c := mean_ci(values[:n])).high - c.low for n in (25, 100, 400, 1600)]
        for wide, narrow in pairwise(widths):
            assert 0.3 < narrow / wide < 0.75  # 1/2 in expectation

    def test_blocks_make_no_difference_to_what_is_measured(self, monkeypatch):
        values = np.random.default_rng(0).random(50)
        whole = mean_ci(values)
        monkeypatch.setattr(sys.modules["segviz.evaluate.aggregate"], "_BLOCK", 777)
        blocked = mean_ci(values)
        assert blocked.value == whole.value
        assert blocked.low == pytest.approx(whole.low, abs=0.02)

    def test_covers_the_truth_about_as_often_as_it_says(self):
        rng = np.random.default_rng(1)
        inside = [
            (c := mean_ci(rng.binomial(1, 0.7, 150).astype(float))).low <= 0.7 <= c.high
            for _ in range(200)
        ]
        assert 0.9 <= np.mean(inside) <= 0.99

    def test_nothing(self):
        assert mean_ci(np.zeros(0)).n == 0
        assert str(Mean(0.8, 0.7, 0.9, 12)) == "0.800 [0.700, 0.900], n = 12"

    def test_categories_in_order_without_last(self):
        found = categories([2, None, 1, 2])
        assert list(found) == [1, 2, None]
        assert found[2].tolist() == [0, 3]


def test_bad_settings_name_the_legal_ones(memory):
    for settings, message in [
        ({"policy": "up"}, "none, top-down, bottom-up, both, neighbours"),
        ({"relevance": "psychic"}, "hybrid, dense, lexical"),
        ({"alpha": 1.0}, "below 1"),
        ({"horizon": -1}, "0 or more"),
        ({"k": 0}, "k is 0"),
        ({"k": 2.5}, "whole number"),
        ({"budget": 0}, "budget is 0"),
        ({"units": 0}, "units is 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            evaluate(memory, memory.conversation.questions, **settings)


class TestCategoryBars:
    def test_bars_carry_means_and_intervals(self):
        memory = random_memory(9)
        found = evaluate(memory, memory.conversation.questions)
        bar = category_bars(found, accent="#c2410c", neutral="#888888").data[0]
        means = [a.recall for a in found.by_category.values() if a.recall.n]
        means.append(found.overall.recall)
        assert list(bar.x) == [mean.value for mean in means]
        assert bar.y[-1] == "all"
        assert list(bar.error_x.array) == pytest.approx([x.high - x.value for x in means])
        assert list(bar.error_x.arrayminus) == pytest.approx([x.value - x.low for x in means])
        assert bar.marker.color[-1] == "#c2410c"
        assert str(found.overall.recall) in category_sentence(found)

    def test_one_category_and_none(self):
        memory = segviz.build(small_chat(), embedder=HashingEmbedder())
        one = evaluate(memory, memory.conversation.questions)
        assert list(category_bars(one, accent="#c2410c", neutral="#888888").data[0].y) == [
            "4 single-hop",
            "all",
        ]
        assert category_sentence(one).startswith("Recall@10 over all")
        none = evaluate(memory, [])
        assert list(category_bars(none, accent="#c2410c", neutral="#888888").data[0].x) == []
        assert category_sentence(none).startswith("No question")
