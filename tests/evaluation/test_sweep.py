"""The grid of settings, cell by cell; its best, its differences, its pooling."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from segviz.evaluation import MEASURES, Outcomes, evaluate, pooled
from segviz.evaluation.aggregate import mean_ci
from segviz.evaluation.measures import CHOICES, sees
from segviz.evaluation.sweep import sweep
from segviz.retrieval import POLICIES
from tests.evaluation.test_evaluate import random_memory

ALPHAS, HORIZONS = (0.1, 0.3, 0.95), (0, 1, 3)


@pytest.fixture(scope="module")
def grown():
    return random_memory(3, "turn")


GRID = {"policies": tuple(POLICIES), "alphas": ALPHAS, "horizons": HORIZONS}


def swept(memory, **more):
    return sweep(memory, memory.conversation.questions, **GRID, k=4, **more)


@pytest.fixture(scope="module")
def found(grown):
    return swept(grown)


class TestCells:
    @pytest.mark.parametrize(
        ("relevance", "budget", "literal"), [("hybrid", None, False), ("lexical", 25, True)]
    )
    def test_each_equals_evaluate_exactly(self, grown, relevance, budget, literal):
        questions = grown.conversation.questions
        settings = {"k": 4, "relevance": relevance, "literal": literal, "budget": budget}
        settings["seed"] = 5
        table = sweep(grown, questions, **GRID, **settings)
        places = [(c.policy, c.alpha, c.horizon) for c in table.cells]
        assert places == list(itertools.product(POLICIES, ALPHAS, HORIZONS))
        for cell in (*table.cells, table.baseline):
            how = {"policy": cell.policy, "alpha": cell.alpha, "horizon": cell.horizon}
            assert cell.outcomes == evaluate(grown, questions, **how, **settings).outcomes

    def test_repeated_values_are_swept_once(self, grown):
        twice = {"policies": ["both", "both"], "alphas": [0.1, 0.1], "horizons": [1, 1.0, 2.0]}
        found = sweep(grown, [], **twice)
        assert found.horizons == (1, 2)
        assert len(found.cells) == 2


class TestBest:
    @pytest.mark.parametrize("measure", CHOICES)
    def test_is_the_highest_and_ties_go_to_the_simplest(self, found, measure):
        blind = [policy for policy in POLICIES if not sees(measure, policy)]
        assert tuple(p for p in found.policies if sees(measure, p)) == tuple(
            p for p in POLICIES if p not in blind
        )
        for policies in (None, ("both",), ("none", "bottom-up"), blind or ("none",)):
            legal = [p for p in policies or POLICIES if sees(measure, p)]
            cells = [c for c in found.cells if c.policy in legal and c.moves]
            if not cells:
                assert found.best(measure, policies) is found.baseline
                continue
            top = max(c.outcomes.value(measure) for c in cells)
            tied = [c for c in cells if c.outcomes.value(measure) == top]
            simplest = min(tied, key=lambda c: (c.horizon, c.alpha))
            best = found.best(measure, policies)
            assert best.outcomes.value(measure) == top
            assert (best.horizon, best.alpha) == (simplest.horizon, simplest.alpha)

    def test_without_a_measured_cell_it_is_the_baseline(self, grown, found):
        assert found.best(policies=["unswept"]) is found.baseline
        empty = sweep(grown, [])
        assert empty.best() is empty.baseline
        assert math.isnan(empty.baseline.outcomes.mean("recall").value)

    def test_an_unknown_measure_is_refused(self, found):
        with pytest.raises(ValueError, match="unknown measure 'luck'"):
            found.best("luck")


class TestGain:
    def test_is_the_mean_of_paired_differences(self, found):
        cell, base = found.cell("both", 0.3, 1).outcomes, found.baseline.outcomes
        for measure in CHOICES:
            pairs = zip(cell.values[measure], base.values[measure], strict=True)
            differences = [a - b for a, b in pairs if a is not None]
            gain = found.gain(found.cell("both", 0.3, 1), measure)
            assert gain.value == pytest.approx(np.mean(differences))
            assert gain == mean_ci(np.array(differences))
            together = found.gains(measure)["both", 0.3, 1]
            assert together.value == pytest.approx(gain.value)
            assert together.high - together.low >= gain.high - gain.low
        nothing = found.gain(found.baseline, "recall")
        assert (nothing.value, nothing.low, nothing.high) == (0, 0, 0)

    def test_other_questions_do_not_pair(self, found):
        mine = found.baseline.outcomes
        asked_otherwise = replace(mine, asked=tuple(f"{text}?" for text in mine.asked))
        for other in (asked_otherwise, pooled({"a": mine})):
            with pytest.raises(ValueError, match="needs the same questions"):
                mine.gain(other, "recall")

    def test_category_5_can_be_left_out(self):
        found = Outcomes((1, 5, 2, None), {"recall": (1.0, 0.0, None, 0.5)})
        assert found.mean("recall").value == 0.5
        assert found.mean("recall", adversarial=False).value == 0.75
        assert found.mean("recall", category=5).value == 0
        assert found.keep(adversarial=False) == [0, 2, 3]
        assert found.known_categories == (1, 2, 5, None)

    def test_pooling_keeps_every_question_and_knows_its_conversation(self, found):
        base = found.baseline.outcomes
        both = pooled({"a": base, "b": base})
        assert len(both) == 2 * len(base)
        assert both.groups == ("a",) * len(base) + ("b",) * len(base)
        for measure in MEASURES:
            assert both.value(measure) == pytest.approx(base.value(measure), nan_ok=True)
        assert both.levels == pytest.approx(base.levels)
        with pytest.raises(ValueError, match="no outcomes"):
            pooled({})


def test_what_is_known_is_not_measured_again(grown, found):
    kept, seen = [], []
    marked = [replace(cell, outcomes=replace(cell.outcomes, seed=9)) for cell in found.cells[:20]]
    again = swept(grown, known=marked, keep=kept.append, progress=lambda *now: seen.append(now))
    assert kept == list(again.cells)
    assert kept[:20] == marked
    assert again.cells[20:] == found.cells[20:]
    assert seen == [(i + 1, len(kept)) for i in range(len(kept))]


def test_bad_settings_name_the_legal_ones(grown):
    for settings, message in [
        ({"policies": ["up"]}, "none, top-down, bottom-up, both, neighbours"),
        ({"horizons": [0, -1]}, "0 or more"),
        ({"horizons": []}, "horizons is empty"),
    ]:
        with pytest.raises(ValueError, match=message):
            sweep(grown, grown.conversation.questions, **settings)
