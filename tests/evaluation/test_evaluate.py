"""Evaluation against a slow literal restatement, and numbers worked by hand."""

import math
import random
from collections import Counter

import numpy as np
import pytest

import segviz
from segviz.conversation import TITLES, Question
from segviz.embedding import HashingEmbedder
from segviz.evaluation import MEASURES, Mean, evaluate
from segviz.evaluation.aggregate import mean_ci, means_together
from segviz.evaluation.evaluation import budget_rows, rescue
from segviz.evaluation.measures import BUDGETS, CHOICES, sees
from segviz.evaluation.question_batch import Limits, QuestionBatch
from segviz.retrieval import POLICIES, RetrievalSettings, ranking
from segviz.retrieval.gold import ANSWERED, FOUND, QUOTED
from segviz.text.words import count_words
from tests.evaluation import restated
from tests.memories import built, sample
from tests.trees import chat, toy

LITERAL = RetrievalSettings(literal=True)
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
            rng.choice([None, "", words(2), words(3).replace(" ", rng.choice([", ", " and "]))]),
            rng.choice([None, 1, 2, 4]),
            tuple(rng.sample(ids, min(len(ids), rng.randrange(4)))),
        )
        for i in range(10)
    ]
    return segviz.build(
        chat(sessions, questions), unit=unit, embedder=HashingEmbedder(), compatibility="cosine"
    )


CASES = [
    (1, "exchange", "top-down", 0.1, 2, "hybrid", False, {"k": 5, "units": 6}),
    (2, "turn", "bottom-up", 0.5, 3, "dense", True, {"k": 4, "units": 8, "tokens": 5}),
    (5, "paper", "both", 0.3, 2, "lexical", False, {"k": 3, "budget": 40, "tokens": 60}),
    (6, "turn", "top-down", 0.7, 0, "dense", False, {"k": 1, "units": 1, "tokens": 1}),
    (7, "turn", "none", 0.1, 2, "hybrid", False, {"k": 4, "budget": 1}),
    (8, "exchange", "both", 0.7, 2, "hybrid", False, {"k": 3, "levels": (0,)}),
    (10, "exchange", "both", 0.2, 2, "hybrid", False, {"k": 4, "expand": 2}),
    (11, "turn", "top-down", 0.3, 1, "dense", True, {"k": 3, "expand": 1, "budget": 50}),
    (14, "turn", "both", 0.3, 2, "hybrid", False, {"k": 5, "expand": 3, "levels": (1,)}),
    (9, "turn", "bottom-up", 0.3, 2, "dense", True, {"k": 3, "levels": (1, 2), "budget": 60}),
]


@pytest.mark.parametrize("case", CASES)
def test_every_measure_equals_the_literal_form(case):
    seed, unit, policy, alpha, horizon, relevance, literally, limits = case
    memory = random_memory(seed, unit)
    settings = {"policy": policy, "alpha": alpha, "horizon": horizon, "relevance": relevance}
    agrees(memory, settings, literally, limits)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_sample_question_equals_the_literal_form(policy):
    for name in TITLES:
        memory = built(name=name, sessions=4)
        settings = {"policy": policy, "alpha": 0.5, "horizon": 2, "relevance": "hybrid"}
        agrees(memory, settings, False, {"k": 10})


def agrees(memory, settings, literally, limits):
    questions = memory.conversation.questions
    found = evaluate(memory, questions, **settings, literal=literally, **limits)
    shown = restated.Shown(memory.structure, literally)
    ranked = restated.rankings(memory, shown, questions, settings, literally)
    expected = [
        restated.measured(memory, shown, question, mixed, **limits)
        for question, mixed in zip(questions, ranked, strict=True)
    ]
    values, labels = found.outcomes.values, found.outcomes.categories
    assert labels == tuple(question.category for question in questions)
    for name in MEASURES:
        for value, want in zip(values[name], expected, strict=True):
            wanted = None if want[name] is None else float(want[name])
            assert value == pytest.approx(wanted, abs=1e-6), name
    tops = {name: limits[name] for name in ("k", "budget", "levels", "expand") if name in limits}
    counts = Counter()
    for fate, question in zip(found.outcomes.fates, questions, strict=True):
        result = memory.ask(question, **settings, literal=literally, **tops)
        counts.update(result.levels("final"))
        gold = memory.gold(question, result.structure)
        status = list(gold.fate(result.evidence).values())
        assert fate == (*map(status.count, (FOUND, QUOTED, ANSWERED)), len(status))
        read = [(item.node, item.text) for item in result.evidence]
        cut = {item.node for item in result.evidence if item.cut}
        slow = restated.fates(memory, shown, question, read, cut)
        assert fate == (*map(slow.count, (FOUND, QUOTED, ANSWERED)), len(slow))
    shares = {level: n / max(counts.total(), 1) for level, n in counts.items()}
    assert found.outcomes.levels == pytest.approx(shares)
    for how in ({}, {"adversarial": False}, *({"category": label} for label in set(labels))):
        places = [
            place
            for place, label in enumerate(labels)
            if how.get("category", label) == label and (label != 5 or how.get("adversarial", True))
        ]
        assert found.outcomes.keep(**how) == places
        for name in MEASURES:
            known = [v for place in places if (v := values[name][place]) is not None]
            mean = found.outcomes.mean(name, **how)
            assert mean.n == len(known)
            assert mean.value == pytest.approx(np.mean(known) if known else np.nan, nan_ok=True)


def test_skipped_repeats_are_neither_read_nor_counted_and_leaves_stay_as_they_are():
    memory = built(sessions=6)
    asked, how = memory.conversation.questions, {"policy": "both", "alpha": 0.3, "k": 8}
    plain, found = (
        evaluate(memory, asked, **how, deduplicate=skips).outcomes for skips in (False, True)
    )
    assert found.values["recall"] == plain.values["recall"]
    assert found.values["reached"] == plain.values["reached"]  # the better node has their units
    assert found.values["words"] != plain.values["words"]
    for place, question in enumerate(asked):
        result = memory.ask(question, **how, deduplicate=True)
        status = [*memory.gold(question, result.structure).fate(result.evidence).values()]
        assert found.fates[place] == (*map(status.count, (FOUND, QUOTED, ANSWERED)), len(status))
        if found.values["words"][place] is not None:
            words = sum(count_words(item.text) for item in result.evidence)
            assert found.values["words"][place] == words
        order = ranking(result.final, result.structure).tolist()
        assert [item.rank_after for item in result.evidence] == [
            order.index(node) + 1 for node in result.after
        ]


class TestHandWorked:
    """The toy tree: leaves 0 to 6, inner nodes 7 (0-2), 9 (4-6) and the root; 8 repeats 3."""

    @pytest.mark.parametrize("values", [1, 2, 9, 10**9])
    def test_a_tie_goes_to_the_older_node(self, values):
        memory = segviz.build(chat([[("A", w) for w in WORDS[:7]]]), unit="turn")
        batch = QuestionBatch(memory, {}, toy(), None, Limits(LITERAL))
        scores = np.random.default_rng(values).integers(values, size=(5, len(batch.structure)))
        nodes = np.flatnonzero(batch.structure.active).tolist()
        for row, found in zip(scores, batch.ranked(scores / values), strict=True):
            assert found.tolist() == sorted(nodes, key=lambda node: (-row[node], node))

    @pytest.mark.parametrize(
        ("ranked", "units", "expected"),
        [
            ([3, 7, 0], 4, 0.5),  # 3, then 0-2: four units, 0 of gold {0, 5}
            ([3, 9, 0], 3, 0.5),  # 3, 4, 5: the third unit is gold
            ([3, 9, 0], 2, 0.0),  # 3, 4
            ([10], 1, 0.5),  # the root is read from its first unit
            ([10], 6, 1.0),
            ([9, 5, 4, 0], 4, 1.0),  # 5 and 4 are not new
        ],
    )
    def test_reached_on_the_toy_tree(self, ranked, units, expected):
        memory = segviz.build(chat([[("A", w) for w in WORDS[:7]]]), unit="turn")
        question = Question(0, "x", None, 1, ("D1:1", "D1:6"))
        batch = QuestionBatch(memory, {0: question}, toy(), None, Limits(LITERAL, units))
        assert batch.measure(np.array([ranked]))["reached"].tolist() == [expected]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_measure_over_leaves_sees_a_policy_or_is_constant(policy):
    memory = built()
    usual, questions = {"policy": policy, "relevance": "hybrid"}, memory.conversation.questions
    found = [
        evaluate(memory, questions, **usual, alpha=alpha, horizon=horizon).outcomes.values
        for alpha, horizon in ((0.1, 1), (0.5, 2), (0.95, 3))
    ]
    for name in CHOICES:
        seen = {values[name] for values in found}
        if not sees(name, policy):
            assert len(seen) == 1, name
        elif policy != "none":
            assert len(seen) > 1, name


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
        found = evaluate(memory, memory.conversation.questions).outcomes
        assert found.values["recall"] == (0, 1, None, None)
        assert found.mean("recall").value == 0.5
        assert found.mean("recall").n == 2
        assert len(found) == 4

    def test_no_questions(self, memory):
        found = evaluate(memory, []).outcomes
        assert len(found) == 0
        assert found.known_categories == ()
        assert found.mean("recall").n == 0
        assert math.isnan(found.mean("recall").value)


def test_the_chance_level_of_a_text_depends_on_its_length_and_on_the_leaves():
    """A word of every leaf is always expected, one of none never; a leaf of mean length is one
    draw."""
    said = [("A", "boat red two"), ("B", "boat blue four"), ("A", "boat green six")]
    asked = [Question(i, "?", word, 1, ()) for i, word in enumerate(("boat", "zebra", "blue"))]
    memory = segviz.build(chat([said], asked), unit="turn", embedder=HashingEmbedder())
    s = memory.structure.collapsed
    batch = QuestionBatch(memory, dict(enumerate(asked)), s, None, Limits(LITERAL))
    first, second, _ = s.leaves
    for ranked, lift in (
        ([second], 1 - 1 / 3),
        ([first], -1 / 3),
        ([first, second], 1 - (1 - (2 / 3) ** 2)),
    ):
        found = batch.measure(np.array([ranked] * 3))["answer_words_lift"]
        assert found.tolist() == pytest.approx([0, 0, lift])


class TestBootstrap:
    def test_one_question_has_no_interval(self):
        found = mean_ci(np.array([0.5]))
        assert (found.value, found.n) == (0.5, 1)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert str(found) == "0.500, n = 1"

    def test_conversations_are_resampled_and_questions_within_them(self):
        """Against draws one by one; conversations that differ widen the interval."""
        rng = np.random.default_rng(0)
        sizes, shifts = (12, 30, 7, 20), (0.0, 0.4, 0.1, 0.6)
        parts = [shift + 0.2 * rng.random(size) for size, shift in zip(sizes, shifts, strict=True)]
        means = []
        for _ in range(2000):
            drawn = (parts[i] for i in rng.integers(4, size=4))
            chosen = [part[rng.integers(len(part), size=len(part))] for part in drawn]
            means.append(np.concatenate(chosen).mean())
        values = np.concatenate(parts)
        groups = [name for name, size in zip("abcd", sizes, strict=True) for _ in range(size)]
        found = mean_ci(values, 3, groups)
        assert found.value == pytest.approx(values.mean())
        assert found.low == pytest.approx(np.percentile(means, 2.5), abs=0.03)
        assert found.high == pytest.approx(np.percentile(means, 97.5), abs=0.03)
        alone = mean_ci(values, 3)
        assert found.high - found.low > 2 * (alone.high - alone.low)
        assert found == mean_ci(values, 3, groups) != mean_ci(values, 4, groups)

    @pytest.mark.parametrize("tables", [1, 5])
    def test_together_intervals_are_those_of_the_largest_deviation(self, tables):
        """Against the definition, column by column and resample by resample."""
        rng = np.random.default_rng(5)
        values = rng.normal([0.0, 0.5, 2.0], [1.0, 0.1, 3.0], size=(40, 3))
        draws = np.array([mean_ci(values[:, c], 2).value for c in range(3)])
        found = means_together(values, 2, tables=tables)
        width = [one.high - one.value for one in found]
        assert [one.value for one in found] == pytest.approx(draws.tolist())
        resampled = np.array([values[rng.integers(40, size=40)].mean(axis=0) for _ in range(4000)])
        away = np.abs(resampled - values.mean(axis=0))
        error = np.sqrt((away**2).mean(axis=0))
        factor = np.quantile((away / error).max(axis=1), 1 - 0.05 / tables)
        assert width == pytest.approx((factor * error).tolist(), rel=0.08)
        for column, one in enumerate(found):  # wider than alone
            alone = mean_ci(values[:, column], 2)
            assert one.high - one.low > alone.high - alone.low

    def test_nothing(self):
        assert mean_ci(np.zeros(0)).n == 0
        assert str(Mean(0.8, 0.7, 0.9, 12)) == "0.800 [0.700, 0.900], n = 12"


def test_bad_settings_name_the_legal_ones(memory):
    for settings, message in [
        ({"policy": "up"}, "none, top-down, bottom-up, both, neighbours"),
        ({"units": 0}, "units is 0"),
        ({"tokens": 0}, "tokens is 0"),
        ({"levels": "0"}, "must be a collection"),
        ({"expand": 0}, "expand is 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            evaluate(memory, memory.conversation.questions, **settings)


def test_the_rescue_brings_most_gold_turns_in_evidence():
    memory, questions = built(), sample().questions
    found = rescue(memory, questions)
    after = evaluate(memory, questions, found.settings).outcomes.fates
    before = evaluate(memory, questions, found.settings, policy="none").outcomes.fates
    gains = [sum(now[:3]) - sum(was[:3]) for was, now in zip(before, after, strict=True)]
    assert gains[found.place] == max(gains) > 0
    assert rescue(memory, ()) is None


def test_a_curve_over_tokens_has_what_a_budget_of_so_many_reads():
    memory, how = built(sessions=6), {"policy": "both", "alpha": 0.3, "relevance": "hybrid"}
    asked = memory.conversation.questions
    rows = budget_rows({"a": evaluate(memory, asked, **how).outcomes}, adversarial=False)
    assert [(row["setting"], row["tokens"]) for row in rows] == [("a", T) for T in BUDGETS]
    for row in rows:
        limited = evaluate(
            memory, asked, **how, budget=row["tokens"], tokens=row["tokens"]
        ).outcomes
        assert row["in evidence"] == limited.mean("in_evidence", adversarial=False)
        assert row["answer words"] == limited.mean("answer_words", adversarial=False)
        turns = [
            (fate[0] + fate[1]) / fate[3]
            for fate, category in zip(limited.fates, limited.categories, strict=True)
            if fate[3] and category != 5
        ]
        assert row["gold turns"].value == pytest.approx(np.mean(turns))
    values = [row["in evidence"].value for row in rows]
    assert values == sorted(values)
