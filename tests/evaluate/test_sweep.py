"""The grid of settings, cell by cell, and its figures."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from segviz.evaluate import evaluate, sweep
from segviz.figures.sweep import (
    cell_rows,
    curves,
    curves_sentence,
    heatmap,
    heatmap_sentence,
    level_bars,
    level_bars_sentence,
    level_rows,
)
from segviz.retrieval import POLICIES
from tests.evaluate.test_evaluate import random_memory

ALPHAS, HORIZONS = (0.1, 0.3, 0.95), (0, 1, 3)
RAMP = ("#f3f6fc", "#7d9fd9", "#1d3a7a")


@pytest.fixture(scope="module")
def grown():
    return random_memory(3, "turn")


@pytest.fixture(scope="module")
def found(grown):
    return sweep(
        grown,
        grown.conversation.questions,
        policies=tuple(POLICIES),
        alphas=ALPHAS,
        horizons=HORIZONS,
        k=4,
    )


class TestCells:
    def test_one_cell_per_setting_in_order(self, found):
        assert [(c.policy, c.alpha, c.horizon) for c in found.cells] == list(
            itertools.product(POLICIES, ALPHAS, HORIZONS)
        )
        assert found.complete

    @pytest.mark.parametrize("distinct", [True, False])
    @pytest.mark.parametrize(
        ("relevance", "budget"), [("hybrid", None), ("dense", None), ("lexical", 25)]
    )
    def test_each_equals_evaluate_exactly(self, grown, relevance, budget, distinct):
        questions = grown.conversation.questions
        settings = {"k": 4, "relevance": relevance, "literal": not distinct, "seed": 5}
        settings["budget"] = budget
        swept = sweep(
            grown,
            questions,
            policies=tuple(POLICIES),
            alphas=ALPHAS,
            horizons=HORIZONS,
            **settings,
        )
        for cell in (*swept.cells, swept.baseline):
            one = evaluate(
                grown,
                questions,
                policy=cell.policy,
                alpha=cell.alpha,
                horizon=cell.horizon,
                **settings,
            )
            assert cell.recall == one.overall.recall
            assert cell.levels == one.levels
            assert cell.by_category == {
                label: aggregate.recall
                for label, aggregate in one.by_category.items()
                if aggregate.recall.n
            }

    def test_settings_that_do_not_propagate_equal_none(self, grown, found):
        still = sweep(grown, grown.conversation.questions, alphas=(0, 0.5), k=4).cells
        for cell in (*found.cells, *still):
            if cell.policy == "none" or cell.horizon == 0 or cell.alpha == 0:
                assert cell.recall == found.baseline.recall
                assert cell.levels == found.baseline.levels
                assert cell.by_category == found.baseline.by_category

    def test_propagation_changes_something(self, found):
        assert len({tuple(c.levels.values()) for c in found.cells}) > 5

    def test_cell_by_setting(self, found):
        assert found.cell("both", 0.3, 1) is found.cells[3 * 9 + 1 * 3 + 1]
        assert found.cell("both", 0.4, 1) is None

    def test_repeated_values_are_swept_once(self, grown):
        found = sweep(
            grown, [], policies=["both", "both"], alphas=[0.1, 0.1], horizons=[1, 1.0, 2.0]
        )
        assert found.horizons == (1, 2)
        assert len(found.cells) == 2

    def test_the_same_twice(self, grown, found):
        again = sweep(
            grown,
            grown.conversation.questions,
            policies=tuple(POLICIES),
            alphas=ALPHAS,
            horizons=HORIZONS,
            k=4,
        )
        assert again == found


class TestBest:
    def test_is_the_highest_and_ties_go_to_the_simplest(self, found):
        for policies in (None, ("both",), ("none", "bottom-up")):
            cells = [c for c in found.cells if policies is None or c.policy in policies]
            top = max(c.recall.value for c in cells)
            tied = [c for c in cells if c.recall.value == top]
            simplest = min(tied, key=lambda c: (c.horizon, c.alpha))
            best = found.best(policies)
            assert best.recall.value == top
            assert (best.horizon, best.alpha) == (simplest.horizon, simplest.alpha)

    def test_without_a_measured_cell_it_is_the_baseline(self, grown, found):
        assert found.best(["unswept"]) is found.baseline
        empty = sweep(grown, [])
        assert empty.best() is empty.baseline
        assert math.isnan(empty.baseline.recall.value)


class TestCancelling:
    @pytest.mark.parametrize("after", [0, 1, 7])
    def test_returns_what_is_done(self, grown, found, after):
        seen = []
        part = sweep(
            grown,
            grown.conversation.questions,
            policies=tuple(POLICIES),
            alphas=ALPHAS,
            horizons=HORIZONS,
            k=4,
            progress=lambda *now: seen.append(now),
            cancelled=lambda: len(seen) >= after,
        )
        assert part.cells == found.cells[:after]
        assert part.baseline == found.baseline
        assert not part.complete
        assert seen == [(i + 1, 9 * len(POLICIES)) for i in range(after)]


def test_what_is_known_is_not_measured_again(grown, found, monkeypatch):
    """A sweep cut short and taken up again equals one that ran through."""
    kept = []
    count = itertools.count()
    setting = {"policies": POLICIES, "alphas": ALPHAS, "horizons": HORIZONS, "k": 4}
    questions = grown.conversation.questions
    sweep(grown, questions, **setting, cancelled=lambda: next(count) >= 20, keep=kept.append)
    assert len(kept) == 20
    marked = [replace(cell, levels={0: 0.125}) for cell in kept]
    again = sweep(grown, questions, **setting, known=marked, keep=kept.append)
    assert list(again.cells[:20]) == marked
    assert again.cells[20:] == found.cells[20:]
    assert len(kept) == 20 + len(found.cells)
    assert sweep(grown, questions, **setting, known=found.cells[:7]) == found


def test_bad_settings_name_the_legal_ones(grown):
    for settings, message in [
        ({"policies": ["up"]}, "none, top-down, bottom-up, both, neighbours"),
        ({"relevance": "psychic"}, "hybrid, dense, lexical"),
        ({"alphas": [0.1, 1.0]}, "below 1"),
        ({"horizons": [0, -1]}, "0 or more"),
        ({"horizons": [1.5]}, "whole number"),
        ({"k": 0}, "k is 0"),
        ({"policies": []}, "policies is empty"),
        ({"alphas": []}, "alphas is empty"),
        ({"horizons": []}, "horizons is empty"),
    ]:
        with pytest.raises(ValueError, match=message):
            sweep(grown, grown.conversation.questions, **settings)


class TestHeatmap:
    def test_cells_values_and_settings(self, found):
        figure = heatmap(found, "both", ramp=RAMP, accent="#c2410c")
        grid, points = figure.data
        for y, horizon in enumerate(HORIZONS):
            for x, alpha in enumerate(ALPHAS):
                value = found.cell("both", alpha, horizon).recall.value
                assert grid.z[y][x] == value
                at = y * len(ALPHAS) + x
                assert tuple(grid.customdata[y][x]) == ("both", alpha, horizon)
                assert tuple(points.customdata[at]) == ("both", alpha, horizon)
                assert (points.x[at], points.y[at]) == (x, y)
                assert points.text[at] == (f"{value:.3f}"[1:] if value < 1 else "1.00")
        assert list(figure.layout.xaxis.ticktext) == ["0.1", "0.3", "0.95"]
        assert list(figure.layout.yaxis.ticktext) == ["0", "1", "3"]

    def test_text_is_dark_on_light_and_light_on_dark(self, found):
        points = heatmap(found, "both", ramp=RAMP, accent="#c2410c").data[1]
        values = [float(text) for text in points.text]
        low = min(c.recall.value for c in found.cells)
        high = max(c.recall.value for c in found.cells)
        for value, colour in zip(values, points.textfont.color, strict=True):
            if value == pytest.approx(low, abs=1e-3):
                assert colour == "#000000"
            if value == pytest.approx(high, abs=1e-3):
                assert colour == "#ffffff"

    def test_the_best_cell_is_outlined_where_it_gains(self, found):
        assert not heatmap(found, "both", ramp=RAMP, accent="#c2410c").layout.shapes
        assert heatmap_sentence(found, "both").startswith("No setting of both finds more")
        high = replace(found.baseline.recall, value=found.baseline.recall.value + 0.1)
        cells = [
            replace(c, recall=high) if (c.policy, c.alpha, c.horizon) == ("both", 0.3, 1) else c
            for c in found.cells
        ]
        gaining = replace(found, cells=tuple(cells))
        (shape,) = heatmap(gaining, "both", ramp=RAMP, accent="#c2410c").layout.shapes
        assert (shape.x0 + shape.x1) / 2 == pytest.approx(ALPHAS.index(0.3))
        assert (shape.y0 + shape.y1) / 2 == pytest.approx(HORIZONS.index(1))
        assert "α 0.3 and H 1" in heatmap_sentence(gaining, "both")
        assert not heatmap(gaining, "top-down", ramp=RAMP, accent="#c2410c").layout.shapes

    def test_the_table_twin_holds_every_cell(self, found):
        rows = cell_rows(found, ["both", "top-down"])
        assert len(rows) == 2 * len(ALPHAS) * len(HORIZONS)
        for row in rows:
            value = found.cell(row["policy"], row["α"], row["H"]).recall.value
            assert row["recall@4"] == pytest.approx(value, abs=1e-4)

    def test_a_cancelled_sweep_leaves_cells_empty(self, grown):
        count = itertools.count()
        part = sweep(grown, grown.conversation.questions, cancelled=lambda: next(count) >= 2)
        grid, points = heatmap(part, "top-down", ramp=RAMP, accent="#c2410c").data
        assert [math.isnan(v) for v in grid.z[0][:2]] == [False, True]
        assert len(points.x) == 2
        assert len(heatmap(part, "both", ramp=RAMP, accent="#c2410c").data[1].x) == 0
        assert heatmap_sentence(part, "both").startswith("No setting of both")


class TestCurves:
    def test_a_line_per_policy_and_horizon_and_a_dashed_one(self, found):
        *lines, dashed = curves(found, colours=RAMP, neutral="#888888").data
        expected = [(p, h) for p in POLICIES if p != "none" for h in (1, 3)]
        assert [line.name for line in lines] == [policy for policy, _ in expected]
        # One entry of the legend for each policy; which mark is which H the sentence says.
        assert [line.showlegend for line in lines] == [horizon == 1 for _, horizon in expected]
        assert len({line.marker.symbol for line in lines}) == 2
        for line, (policy, horizon) in zip(lines, expected, strict=True):
            assert list(line.x) == list(ALPHAS)
            cells = [found.cell(policy, alpha, horizon) for alpha in ALPHAS]
            assert list(line.y) == [cell.recall.value for cell in cells]
            assert [tuple(c) for c in line.customdata] == [(policy, a, horizon) for a in ALPHAS]
        assert dashed.line.dash == "dash"
        assert set(dashed.y) == {found.baseline.recall.value}

    def test_sentence(self, found):
        better = sum(c.recall.value > found.baseline.recall.value for c in found.cells)
        assert curves_sentence(found).startswith(f"{better} of {6 * (len(POLICIES) - 1)} settings")


class TestLevelBars:
    def test_shares_stack_to_one_beside_the_recall(self, found):
        *bars, line = level_bars(found, 3, "both", level_colours=RAMP, accent="#c2410c").data
        cells = [found.baseline, *(found.cell("both", a, 3) for a in ALPHAS)]
        assert [bar.name for bar in bars][:2] == ["leaf", "level 1"]
        assert [sum(column) for column in zip(*(b.y for b in bars), strict=True)] == (
            pytest.approx([1] * 4)
        )
        assert list(bars[0].y) == [cell.levels[0] for cell in cells]
        assert list(line.y) == [cell.recall.value for cell in cells]
        assert line.yaxis == "y2"
        assert list(line.x) == ["none", "0.1", "0.3", "0.95"]
        assert tuple(line.customdata[1]) == ("both", 0.1, 3)

    def test_the_table_twin_holds_the_same(self, found):
        rows = level_rows(found, 3, "both", ["tiny"])
        assert [row["α"] for row in rows] == ["none", "0.1", "0.3", "0.95"]
        assert rows[2]["tiny"] == pytest.approx(found.cell("both", 0.3, 3).levels[0], abs=1e-4)

    def test_sentence(self, found):
        last = found.cell("both", 0.95, 3).levels[0]
        assert level_bars_sentence(found, 3, "both").endswith(f"{last:.0%} at α 0.95.")
        assert "none" in level_bars_sentence(found, 3)  # the first policy of this sweep
        assert level_bars_sentence(found, 9) == "Nothing was measured for H 9."
