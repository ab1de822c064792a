"""Sweeps by every measure as figures, tables and sentences, against a slow count."""

import itertools
import math
import random
from dataclasses import replace
from functools import partial

import pytest

from segviz.evaluation import Cell, Mean, Outcomes, Sweep
from segviz.evaluation.measures import CHOICES, MEASURES, sees
from segviz.figures import sweep as figures
from segviz.figures.significance import judge, number, sign_of
from segviz.figures.sweep import (
    category_figure,
    category_rows,
    category_sentence,
    cell_rows,
    heatmap_sentence,
    level_bars,
    level_bars_sentence,
    level_rows,
    map_sentence,
    reason_sentence,
    relevance_map,
    relevances_sentence,
    verdict_sentence,
)
from segviz.retrieval import POLICIES, RetrievalSettings

ALPHAS, HORIZONS = (0.1, 0.3, 0.95), (0, 1, 3)
RAMP = ("#5a4a00", "#b0a060", "#f3f3f3", "#7d9fd9", "#1d3a7a")
QUESTIONS = 30
MOVED = [policy for policy in POLICIES if policy != "none"]


def outcomes(seed: int, shift: float = 0.0) -> Outcomes:
    """Values of 30 questions, a third without any, a sixth of category 5; ``shift`` is added."""
    rng, gaps, values = random.Random(seed), random.Random(1), {}
    for name in MEASURES:  # which questions have a value does not depend on the setting
        blanks = [gaps.random() < 0.3 for _ in range(QUESTIONS)]
        values[name] = tuple(None if blank else rng.random() * 0.2 + shift for blank in blanks)
    leaves = rng.random()
    return Outcomes(tuple(1 + i % 6 for i in range(QUESTIONS)), values, {0: leaves, 1: 1 - leaves})


@pytest.fixture(scope="module")
def found() -> Sweep:
    """A grid in which α 0.3 with H 1 is far better and α 0.95 with H 3 far worse."""
    baseline = Cell("none", 0.0, 0, outcomes(0, 0.5))
    shifts = {(0.3, 1): 0.7, (0.95, 3): 0.3}
    cells = []
    for place, (policy, alpha, horizon) in enumerate(itertools.product(POLICIES, ALPHAS, HORIZONS)):
        cell = Cell(policy, alpha, horizon, baseline.outcomes)
        if cell.moves:
            shift = shifts.get((alpha, horizon), 0.5)
            cell = replace(cell, outcomes=outcomes(place + 1, shift))
        cells.append(cell)
    settings = RetrievalSettings(k=4)
    return Sweep(settings, 20, 1000, tuple(POLICIES), ALPHAS, HORIZONS, baseline, tuple(cells))


heatmap = partial(figures.heatmap, ramp=RAMP, ink="#000", accent="#c2410c")


def slow_mean(found: Outcomes, measure: str, adversarial: bool) -> float:
    kept = [
        value
        for value, category in zip(found.values[measure], found.categories, strict=True)
        if value is not None and (adversarial or category != 5)
    ]
    return sum(kept) / len(kept)


@pytest.mark.parametrize("adversarial", [True, False])
@pytest.mark.parametrize("measure", ["recall", "answer_words"])
def test_means_and_gains_equal_a_slow_count(found, measure, adversarial):
    judged = judge(found, measure, adversarial=adversarial)
    base = slow_mean(found.baseline.outcomes, measure, adversarial)
    assert judged.base.value == pytest.approx(base)
    for one in judged.verdicts.values():
        mean = slow_mean(one.cell.outcomes, measure, adversarial)
        assert one.mean.value == pytest.approx(mean)
        assert one.gain.value == pytest.approx(mean - base, abs=1e-12)
        # With differences of .2 between settings and noise of .06 intervals are clear.
        sign = {(0.3, 1): 1, (0.95, 3): -1}.get((one.cell.alpha, one.cell.horizon))
        if one.cell.moves and sign:
            assert one.sign == sign
        assert one.cell.moves or one.sign == 0


@pytest.mark.parametrize("policy", MOVED)
@pytest.mark.parametrize("measure", {sees(one, "bottom-up"): one for one in CHOICES}.values())
def test_a_measure_never_appears_for_a_policy_it_cannot_see(found, measure, policy):
    judged = judge(found, measure)
    seen = sees(measure, policy)
    assert (policy in judged.blind) == (not seen)
    assert any(setting[0] == policy for setting in judged.verdicts) == seen
    assert any(row["policy"] == policy for row in cell_rows(judged, found.policies)) == seen
    assert bool(len(heatmap(judged, policy).data[1].x)) == seen
    bars = level_bars(judged, 3, policy, level_colours=RAMP, accent="#c00")
    assert (MEASURES[measure].label in {trace.name for trace in bars.data}) == seen
    assert all((MEASURES[measure].label in row) == seen for row in level_rows(judged, 3, policy))
    told = f"{policy.capitalize()} cannot change {MEASURES[measure].label}: "
    for sentence in (heatmap_sentence(judged, policy), level_bars_sentence(judged, 3, policy)):
        assert (told in sentence) == (not seen)
    assert judged.best().cell.policy not in judged.blind
    assert judged.best([policy]) is None or seen


class TestHeatmap:
    def test_cells_have_the_colour_of_their_gain_and_the_chosen_one_its_numbers(self, found):
        judged, chosen = judge(found, "reached"), ("both", 0.3, 1)
        figure = heatmap(judged, "both", chosen=chosen)
        grid, points = figure.data
        texts = {(note.x, note.y): note.text for note in figure.layout.annotations}
        assert list(figure.layout.xaxis.ticktext) == ["0.1", "0.3", "0.95"]
        assert (grid.zmin, grid.zmax) == (-1, 1)
        assert list(figure.layout.yaxis.ticktext) == ["1", "3"]  # H 0 is no propagation
        places = itertools.product(enumerate(HORIZONS[1:]), enumerate(ALPHAS))
        for (y, horizon), (x, alpha) in places:
            one = judged.verdicts["both", alpha, horizon]
            at = y * len(ALPHAS) + x
            assert list(points.customdata[at][:3]) == ["both", alpha, horizon]
            assert points.customdata[at][3] == one.words
            # The colour says the gain, whatever else the sweep holds; full from .25 on.
            share = min(1, abs(one.gain.value) / 0.25)
            assert grid.z[y][x] == pytest.approx(math.copysign(math.sqrt(share), one.gain.value))
            framed = [
                s for s in figure.layout.shapes if (s.x0 + s.x1, s.y0 + s.y1) == (2 * x, 2 * y)
            ]
            assert len(framed) == (one.sign != 0) + (one.setting == chosen)
        one = judged.verdicts[chosen]
        mean, gain = f"{one.mean.value:.3f}"[1:], f"{one.gain.value:+.3f}".replace("0.", ".", 1)
        assert texts == {(1, 0): f"{mean}<br><b>{gain}</b>"}

    def chosen(self, figure):
        return [each for each in figure.layout.shapes if each.line.color == "#c2410c"]

    def test_a_frame_marks_the_chosen(self, found):
        judged, chosen = judge(found, "reached"), ("both", 0.1, 3)
        (frame,) = self.chosen(heatmap(judged, "both", chosen=chosen))
        assert ((frame.x0 + frame.x1) / 2, (frame.y0 + frame.y1) / 2) == pytest.approx((0, 1))
        assert not self.chosen(heatmap(judged, "top-down", chosen=chosen))
        assert not self.chosen(heatmap(judged, "both"))

    def test_a_cancelled_sweep_leaves_cells_empty(self, found):
        part = replace(found, cells=found.cells[9:11])  # top-down, α 0.1, H 0 and 1
        grid, points = heatmap(judge(part, "recall"), "top-down").data
        assert [math.isnan(row[0]) for row in grid.z] == [False, True]
        assert len(points.x) == 1
        assert heatmap_sentence(judge(part, "recall"), "both").startswith("No setting of both was")

    def test_without_a_value_nothing_is_said_in_numbers(self, found):
        empty = dict.fromkeys(MEASURES, (None,) * QUESTIONS)
        cells = [replace(c, outcomes=replace(c.outcomes, values=empty)) for c in found.cells]
        none = replace(found, baseline=cells[0], cells=tuple(cells))
        judged = judge(none, "reached")
        assert judged.best() is None
        assert len(heatmap(judged, "both").data[1].x) == 0
        assert heatmap_sentence(judged, "both").startswith("No setting of both was measured")

    def test_the_table_twin_holds_every_cell(self, found):
        judged = judge(found, "quoted")
        rows = cell_rows(judged, ["both", "top-down"])
        assert len(rows) == 2 * len(ALPHAS) * len(HORIZONS)
        for row in rows:
            one = judged.verdicts[row["policy"], row["α"], row["H"]]
            assert row["gold turns quoted"] == pytest.approx(one.mean.value, abs=1e-4)
            assert row["gain from"] == pytest.approx(one.gain.low, abs=1e-4)
            assert (row["against no propagation"] == "better") == (one.gain.low > 0)
            assert (row["against no propagation"] == "worse") == (one.gain.high < 0)


class TestVerdict:
    def told(self, found, *settings):
        """The verdict on a sweep whose other settings change nothing."""
        same = [
            cell
            if (cell.alpha, cell.horizon) in settings
            else replace(cell, outcomes=found.baseline.outcomes)
            for cell in found.cells
        ]
        judged = judge(replace(found, cells=tuple(same)), "reached")
        return judged, verdict_sentence(judged)

    def test_it_names_the_best_that_is_told_and_the_worst(self, found):
        judged, sentence = self.told(found, (0.3, 1), (0.95, 3))
        best, worst = judged.best(), min(judged.moved(), key=lambda one: one.gain.value)
        assert sentence.startswith("**Propagation raises evidence reached** under contextual")
        assert f"the best of 24 settings, {best.setting[0]}, α 0.3, H 1, takes it from" in sentence
        why = reason_sentence(judged)
        assert f"α 0.95, H 3 lowers it most, to {number(worst.mean.value)}, " in why

    def test_without_a_gain_no_setting_wins(self, found):
        judged, sentence = self.told(found)
        assert sentence.startswith("**Propagation does not significantly raise evidence reached**")
        assert reason_sentence(judged).endswith("No setting lowers it significantly.")
        assert judged.best().setting[1:] == (0.1, 1)  # of equal ones fewest hops, smallest α

    def test_the_best_is_one_that_is_told_even_below_a_higher_mean(self, found):
        """An undecided setting may have the highest mean; what the verdict names is framed."""
        noise = replace(found.cell("both", 0.1, 3), outcomes=outcomes(3, 0.5))
        wild = [3.0 if i % 3 else -3.5 for i in range(QUESTIONS)]
        values = [
            None if old is None else old + more
            for old, more in zip(found.baseline.outcomes.values["reached"], wild, strict=True)
        ]
        noise = replace(noise, outcomes=replace(noise.outcomes, values={"reached": tuple(values)}))
        judged = judge(replace(found, cells=(*found.cells[:18], noise)), "reached")
        assert judged.sweep.best("reached") is noise
        assert judged.verdicts["both", 0.1, 3].sign == 0
        best = judged.best()
        assert best.sign > 0
        assert best.setting[1:] == (0.3, 1)
        assert f"{best.setting[0]}, α 0.3, H 1, takes it from" in verdict_sentence(judged)
        assert judged.best(["both"]).cell is noise

    @pytest.mark.parametrize("adversarial", [True, False])
    @pytest.mark.parametrize("settings", [((0.3, 1), (0.95, 3)), ((0.95, 3),)])
    def test_the_reason_counts_what_is_won_and_lost_by_the_measure(
        self, found, adversarial, settings
    ):
        judged, _ = self.told(found, *settings)
        judged = judge(judged.sweep, M, adversarial=adversarial)
        best, base = judged.best().cell.outcomes, found.baseline.outcomes
        pairs = [
            (after, before)
            for after, before, category in zip(
                best.values[M], base.values[M], base.categories, strict=True
            )
            if before is not None and (adversarial or category != 5)
        ]
        won = sum(after > before for after, before in pairs)
        lost = sum(after < before for after, before in pairs)
        assert judged.won_lost(judged.best().cell) == (won, lost)
        assert f"gains on {won} question" in reason_sentence(judged)
        assert f"loses on {lost}" in reason_sentence(judged)


M = "reached"


class TestRelevances:
    def one(self, found, relevance, shift, sweeps=3):
        """A sweep of a relevance in which α 0.3 with H 1 gains so much, and nothing else does."""
        base = found.baseline.outcomes
        noise = random.Random(9)
        more = tuple(
            None if value is None else value + shift + noise.gauss(0, 0.01)
            for value in base.values[M]
        )
        cells = [
            replace(
                cell,
                outcomes=replace(base, values={**base.values, M: more})
                if (cell.alpha, cell.horizon) == (0.3, 1) and cell.moves
                else base,
            )
            for cell in found.cells
        ]
        settings = replace(found.settings, relevance=relevance)
        return judge(replace(found, cells=tuple(cells), settings=settings), M, sweeps=sweeps)

    def test_the_sentence_says_which_others_are_helped(self, found):
        hybrid = self.one(found, "hybrid", -0.1)
        dense, lexical = self.one(found, "dense", 0.2), self.one(found, "lexical", 0.0001)
        told = relevances_sentence(hybrid, {"dense": dense, "lexical": lexical})
        assert "dense (top-down, α 0.3, H 1: +0." in told
        assert f"{dense.best().mean.value:.3f}" in told
        assert "lexical" not in told
        told = relevances_sentence(hybrid, {"lexical": lexical})
        assert f"lexical: {number(lexical.best().gain.value, plus=True)} [" in told
        assert relevances_sentence(hybrid, {}) == ""

    def test_more_relevances_make_wider_intervals(self, found):
        alone, among = (self.one(found, "dense", 0.003, sweeps).best() for sweeps in (1, 5))
        assert among.gain.value == alone.gain.value
        assert among.gain.low < alone.gain.low < alone.gain.high < among.gain.high

    @pytest.mark.parametrize("measure", ["reached", "recall"])
    def test_a_small_map_has_the_colours_of_the_large_ones_and_frames_the_best(
        self, found, measure
    ):
        judged = judge(found, measure)
        small = relevance_map(judged, ramp=RAMP, ink="#000", accent="#c2410c")
        grid, points = small.data
        seen = [policy for policy in found.policies if policy not in judged.blind]
        for block, policy in enumerate(seen):
            large = heatmap(judged, policy).data[0].z
            left = block * (len(ALPHAS) + 1)
            for row, line in zip(large, grid.z, strict=True):
                assert list(line[left : left + len(ALPHAS)]) == list(row)
        at = {tuple(one[:3]): at for at, one in enumerate(points.customdata)}
        (frame,) = (each for each in small.layout.shapes if each.line.color == "#c2410c")
        place = at[judged.best().setting]
        assert (frame.x0 + frame.x1) / 2 == pytest.approx(points.x[place])
        assert (frame.y0 + frame.y1) / 2 == pytest.approx(points.y[place])
        base, top = (f"{one.value:.3f}"[1:] for one in (judged.base, judged.best().mean))
        assert map_sentence(judged) == f"{base} → {top}, better"


class TestLevelBars:
    def test_shares_stack_to_one_below_the_measure(self, found):
        judged = judge(found, "reached")
        figure = level_bars(judged, 3, "both", level_colours=RAMP, accent="#c2410c")
        *bars, line = figure.data
        cells = [found.baseline, *(found.cell("both", a, 3) for a in ALPHAS)]
        assert [bar.name for bar in bars] == ["leaf", "level 1"]
        assert [sum(column) for column in zip(*(b.y for b in bars), strict=True)] == (
            pytest.approx([1] * 4)
        )
        assert list(bars[0].y) == pytest.approx([cell.outcomes.levels[0] for cell in cells])
        assert line.y[0] == pytest.approx(judged.base.value)
        assert line.error_y.array[0] == pytest.approx(judged.base.high - judged.base.value)
        assert list(line.x) == ["none", "0.1", "0.3", "0.95"]
        # Each has an axis of its own, and neither lies over the other.
        low, high = figure.layout[f"yaxis{bars[0].yaxis[1:]}"], figure.layout.yaxis
        assert line.yaxis in (None, "y")
        assert low.domain[1] < high.domain[0]
        assert low.overlaying is None

    def test_the_table_twin_holds_the_same(self, found):
        rows = level_rows(judge(found, "reached"), 3, "both", ["tiny"])
        assert [row["α"] for row in rows] == ["none", "0.1", "0.3", "0.95"]
        share = found.cell("both", 0.95, 3).outcomes.levels[0]
        assert rows[3]["tiny"] == pytest.approx(share, abs=1e-4)


class TestCategories:
    @pytest.mark.parametrize("adversarial", [True, False])
    def test_dots_carry_means_and_intervals(self, found, adversarial):
        judged = judge(found, "quoted", adversarial=adversarial)
        setting = ("both", 0.3, 1)
        one, base = found.cell(*setting).outcomes, found.baseline.outcomes
        dots, rings = category_figure(judged, setting, colours=["#c2410c"], neutral="#888888").data
        means = [one.mean("quoted", category=c) for c in one.known_categories]
        means.append(one.mean("quoted", adversarial=adversarial))
        assert dots.x[-1] == pytest.approx(slow_mean(one, "quoted", adversarial))
        assert list(dots.x) == pytest.approx([mean.value for mean in means])
        assert list(dots.error_x.array) == pytest.approx([x.high - x.value for x in means])
        assert rings.marker.symbol == "circle-open"
        assert rings.name == "no propagation"
        assert rings.x[-1] == pytest.approx(slow_mean(base, "quoted", adversarial))
        assert len(rings.x) == len(dots.x)
        last = category_rows(judged, setting)[-1]
        assert last["questions"] == ("all" if adversarial else "all but 5")
        assert str(means[-1]) in category_sentence(judged, setting)


def test_rounding_is_no_difference():
    assert sign_of(Mean(0.1, 1e-17, 0.2, 10)) == 0
    assert sign_of(Mean(0.1, 0.01, 0.2, 10)) == 1
    assert sign_of(Mean(-0.1, -0.2, -0.01, 10)) == -1
    assert sign_of(Mean(0.1, 0.01, 0.2, 9)) == 0  # so few questions tell nothing
    assert sign_of(Mean(math.nan, math.nan, math.nan, 0)) == 0
