"""Disputed questions count in means, or are left out as if they had not been asked."""

import csv
import io
from dataclasses import replace

import pytest

import segviz
from segviz.conversation import Dispute
from segviz.evaluation import MEASURES, evaluate
from segviz.evaluation.compare import compare
from segviz.evaluation.evaluation import pooled, summary
from segviz.export import sweep_csv
from segviz.figures.compare import atlas
from tests.memories import built

GRID = {"policies": ("both",), "alphas": (0.3, 0.5), "horizons": (2,)}


@pytest.fixture(scope="module")
def memory():
    return built(sessions=6, embedder="hashing")


@pytest.fixture(scope="module")
def questions(memory):
    """The questions of the memory, every third of them disputed."""
    return [
        replace(one, disputed=Dispute("wrong citation")) if row % 3 == 0 else one
        for row, one in enumerate(memory.conversation.questions)
    ]


@pytest.fixture(scope="module")
def others(questions):
    return [one for one in questions if one.disputed is None]


def test_means_without_disputed_are_those_of_the_other_questions(memory, questions, others):
    every = evaluate(memory, questions).outcomes
    assert every.mean("recall").n == len(questions) > len(others)
    fewer, alone = every.counting(disputed=False), evaluate(memory, others).outcomes
    for name in MEASURES:
        for counts in (True, False):
            assert repr(fewer.mean(name, adversarial=counts)) == repr(
                alone.mean(name, adversarial=counts)
            )
        for category in alone.known_categories:
            assert repr(fewer.value(name, category=category)) == repr(
                alone.value(name, category=category)
            )
    assert fewer.counting(disputed=True) == every


def test_a_sweep_without_disputed_is_that_of_the_other_questions(memory, questions, others):
    fewer = segviz.sweep(memory, questions, **GRID).counting(disputed=False)
    alone = segviz.sweep(memory, others, **GRID)
    assert fewer.gains("recall") == alone.gains("recall")
    best, expected = fewer.best("reached"), alone.best("reached")
    assert (best.alpha, best.horizon) == (expected.alpha, expected.horizon)


def test_reports_have_both_numbers(memory, questions, others):
    every = evaluate(memory, questions).outcomes
    fewer = every.counting(disputed=False)
    assert every.recounted("recall") == {"without disputed": fewer.mean("recall")}
    assert fewer.recounted("recall") == {"with disputed": every.mean("recall")}
    before = evaluate(memory, questions, policy="none").outcomes
    for outcomes in (every, fewer):  # whatever is counted now
        means = summary(outcomes, before, ["recall"])["recall"]
        assert (means["all"].n, means["without_disputed"].n) == (len(questions), len(others))
        assert (means["gain"].n, means["gain_without_disputed"].n) == (len(questions), len(others))
    (row, *_) = segviz.sweep(memory, questions, **GRID).table("recall")
    assert row["without disputed"].n == len(others)
    (row, *_) = compare({"tree": memory}, questions).counting(disputed=False).table()
    assert row["with disputed"].n == len(questions)


def test_without_disputed_questions_nothing_is_said_of_them(memory, others):
    outcomes = evaluate(memory, others).outcomes
    assert outcomes.recounted("recall") == {}
    assert "without_disputed" not in summary(outcomes)["recall"]
    assert "disputed" not in outcomes.frame().columns


def test_a_csv_of_a_sweep_has_both_numbers_whatever_is_counted(memory, questions, others):
    swept = segviz.sweep(memory, questions, **GRID)
    text = sweep_csv(swept)
    assert sweep_csv(swept.counting(disputed=False)) == text
    found = [
        (row["disputed"], int(row["n"]))
        for row in csv.DictReader(io.StringIO(text))
        if (row["measure"], row["category"], row["adversarial"]) == ("recall", "all", "1")
    ]
    assert dict(found) == {"1": len(questions), "0": len(others)}


def test_disputed_questions_stay_marked_when_outcomes_are_pooled(memory, questions):
    outcomes = evaluate(memory, questions).outcomes
    both = pooled({"a": outcomes, "b": outcomes.counting(disputed=False)})
    assert both.disputed == outcomes.disputed * 2
    assert both.frame()["disputed"].sum() == 2 * sum(outcomes.disputed)


def test_the_atlas_leaves_out_what_does_not_count(memory, questions, others):
    outcomes = evaluate(memory, questions).outcomes.counting(disputed=False)
    rows = atlas({"now": outcomes}, "now", outcomes.keep(), "recall")
    assert {questions[row.place].text for row in rows} == {one.text for one in others}


def test_corrected_evidence_is_measured_like_gold(memory):
    (question,) = memory.conversation.questions[:1]
    result = memory.ask(question.text)
    first = next(item.turn_ids[0] for item in result.evidence if item.level == 0)
    disputed = replace(question, disputed=Dispute("wrong citation", evidence=(first,)))
    assert evaluate(memory, [disputed.corrected]).outcomes.values["recall"] == (1.0,)
    assert evaluate(memory, [disputed]).outcomes == replace(
        evaluate(memory, [question]).outcomes, disputed=(True,)
    )
