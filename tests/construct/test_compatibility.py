import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.construct import Arrival, Candidate, Verdict
from segviz.construct.compatibility import Calibrated, Cosine, cosines, judge
from segviz.tree import Judgement, told_apart
from tests.memories import sample


def unit(vector, opens_session=False):
    vector = np.array(vector, dtype=np.float32)
    return Arrival(5, ("D1:6",), 0, "x", vector=vector, opens_session=opens_session)


def candidate(level, vector, children=1):
    vector = np.array(vector, dtype=np.float32)
    return Candidate(10 + level, level, (0, 5), "text", vector, children)


def at(similarity):
    """A unit vector with this cosine to (1, 0)."""
    return [similarity, math.sqrt(1 - similarity**2)]


def test_cosines_of_zero_vectors_are_zero():
    rows = np.array([[0, 0], [1, 0]], dtype=np.float32)
    assert cosines(np.array([3, 0], dtype=np.float32), rows).tolist() == [0, 1]
    assert cosines(np.zeros(2, dtype=np.float32), rows).tolist() == [0, 0]


def test_equal_rows_have_equal_cosines_however_many_there_are():
    rng = np.random.default_rng(0)
    for rows in range(2, 12):
        for _ in range(50):
            vector, row = rng.standard_normal((2, 256)).astype(np.float32)
            found = cosines(vector, np.tile(row, (rows, 1)))
            assert len(set(found.tolist())) == 1
            assert Cosine(-1.0).choose(unit(vector), [candidate(1, row)] * rows) == 0


@pytest.mark.parametrize(
    ("score", "threshold", "told"),
    [
        (0.41, 0.38, ("0.41", "0.38")),
        (0.178, 0.182, ("0.178", "0.182")),
        (0.3799999, 0.38, ("0.3799999", "0.3800000")),
        (0.38, 0.38, ("0.38", "0.38")),
        (0.086, -0.001, ("0.09", "0.00")),
        (-0.021, -0.024, ("−0.021", "−0.024")),
        (-0.0001, 0.0, ("−0.0001", "0.0000")),
    ],
)
def test_a_score_and_its_threshold_are_told_apart(score, threshold, told):
    assert told_apart(score, threshold) == Judgement(0, score, threshold).numbers == told


@given(st.floats(-1, 1), st.sampled_from([-1, 1]), st.integers(0, 11))
def test_what_is_told_stands_to_each_other_as_the_numbers_do(score, side, digits):
    threshold = score + side * 10.0**-digits
    one, other = (float(text.replace("−", "-")) for text in told_apart(score, threshold))
    assert (one < other) == (score < threshold)
    assert one != other


def test_a_close_decision_says_how_close():
    verdict = Cosine(0.9001).judge(unit([1, 0]), [candidate(1, at(0.9))])
    assert verdict.why.endswith("at 0.9000, stays below 0.9001.")
    near = Calibrated(0.9001, crowding=0.0).judge(unit([1, 0]), [candidate(1, at(0.9))])
    assert near.why.endswith("similarity 0.9000, needed 0.9001.")


class TestCosine:
    @pytest.mark.parametrize(
        ("threshold", "similarities", "chosen"),
        [
            (0.3, [0.5, 0.9, 0.7], 1),  # the most similar
            (1.0, [1.0], 0),  # reaching the threshold is enough
            (0.3, [1.0, 1.0], 0),  # a tie goes to the lower level
            (0.3, [], None),
        ],
    )
    def test_takes_the_most_similar(self, threshold, similarities, chosen):
        found = [candidate(level, at(s)) for level, s in enumerate(similarities, start=1)]
        assert Cosine(threshold).choose(unit([1, 0]), found) == chosen

    def test_none_below_the_threshold_and_every_candidate_is_judged(self):
        verdict = Cosine(0.95).judge(unit([1, 0]), [candidate(1, at(0.5)), candidate(2, at(0.9))])
        assert verdict.chosen is None
        assert "level 2 (units 0–4) at 0.90, stays below 0.95." in verdict.why
        assert [j.node for j in verdict.judgements] == [11, 12]
        assert [j.score for j in verdict.judgements] == pytest.approx([0.5, 0.9])
        assert {j.threshold for j in verdict.judgements} == {0.95}


def scores(model, arrival, found):
    return [j.score for j in model.judge(arrival, found).judgements]


class TestCalibrated:
    model = Calibrated(0.4, 0.3, 0.2, 0.1, crowding=0.0, session_break=0.2)

    def test_takes_the_lowest_sufficient_not_the_best(self):
        found = [candidate(1, at(0.35)), candidate(2, at(0.5)), candidate(3, at(0.9))]
        assert self.model.choose(unit([1, 0]), found) == 1

    def test_levels_above_four_share_the_last_threshold(self):
        found = [candidate(level, at(0.15)) for level in range(1, 7)]
        verdict = self.model.judge(unit([1, 0]), found)
        assert [j.threshold for j in verdict.judgements] == [0.4, 0.3, 0.2, 0.1, 0.1, 0.1]
        assert verdict.chosen == 3

    def test_a_new_session_makes_only_the_lowest_harder(self):
        found = [candidate(1, at(0.5)), candidate(2, at(0.5))]
        assert self.model.choose(unit([1, 0]), found) == 0
        assert self.model.choose(unit([1, 0], opens_session=True), found) == 1

    def test_chapters_begin_with_sessions_only(self):
        chapters = replace(self.model, session_break=0.0, session_chapters=0.2)
        found = [candidate(level, at(near)) for level, near in ((1, 0), (2, 0), (3, 0.3), (4, 0.9))]
        assert self.model.choose(unit([1, 0]), found) == 2
        assert chapters.choose(unit([1, 0], opens_session=True), found) == 3
        low = [*found[:2], candidate(3, at(-0.9))]
        assert self.model.choose(unit([1, 0]), low) is None
        assert chapters.choose(unit([1, 0]), low) == 2
        assert chapters.choose(unit([1, 0], opens_session=True), low) is None
        assert chapters.choose(unit([1, 0]), low[:2]) is None  # no level 3 yet

    def test_with_chapters_every_node_of_level_3_begins_with_a_session(self):
        model = Calibrated(session_chapters=0.2)
        memory = segviz.build(sample(), segviz.SegmentTree(compatibility=model))
        assert not memory.check()
        s, session = memory.structure, [each.session for each in memory.units]
        first = [s.start[n] for n in s.nodes.tolist() if s.level[n] == 3]
        assert len(first) > 2
        assert all(at == 0 or session[at] != session[at - 1] for at in first)

    def test_crowding_raises_the_threshold_by_the_logarithm_of_children(self):
        crowded = Calibrated(0.4, 0.3, 0.2, 0.1, crowding=0.1, session_break=0.0)
        limits = crowded.thresholds(
            unit([1, 0]), [candidate(1, [1, 0], 3), candidate(2, [1, 0], 9)]
        )
        assert limits == pytest.approx([0.4 + 0.1 * math.log(2), 0.3 + 0.1 * math.log(4)])

    def test_background_is_subtracted_from_both_sides(self):
        background = np.array([0.0, 0.5], dtype=np.float32)
        model = Calibrated(0.4, 0.3, 0.2, 0.1, 0.0, background=background)
        score = model.judge(unit([1, 0]), [candidate(1, [0, 1])]).judgements[0].score
        # (1, -.5) against (0, .5): cosine -.25 / (sqrt(1.25) * .5)
        assert score == pytest.approx(-0.25 / (math.sqrt(1.25) * 0.5))

    def test_level_1_is_asked_by_the_unit_before_less_the_mean_of_the_window(self):
        random = np.random.default_rng(3)
        before, new, background = (
            random.normal(size=size).astype(np.float32) for size in ((9, 4), 4, 4)
        )
        found = [candidate(level, random.normal(size=4)) for level in (1, 2)]
        model = Calibrated(window=5, background=background)
        told = replace(unit(new), before=before)
        centre = (before[4:].sum(axis=0) + 10 * background) / 15
        expected = []
        for other in (before[8], found[1].vector):
            a, b = new - centre, other - centre
            expected.append(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
        assert scores(model, told, found) == pytest.approx(expected, abs=1e-5)
        # Units outside the window do not count, nor does anything with a window of 0.
        altered = np.vstack([before[:4] + 1, before[4:]])
        assert scores(model, replace(told, before=altered), found) == scores(model, told, found)
        blind = replace(model, window=0)
        assert scores(blind, told, found) == scores(blind, unit(new), found)

    def test_none_names_the_nearest_miss(self):
        found = [candidate(1, at(0.35)), candidate(2, at(0.0))]
        verdict = self.model.judge(unit([1, 0]), found)
        assert verdict.chosen is None
        assert "nearest is on level 1 (units 0–4): similarity 0.35, needed 0.40" in verdict.why


@dataclass
class Bare:
    answer: object

    def choose(self, unit, candidates):
        return self.answer


@dataclass
class Explaining:
    answer: object

    def judge(self, unit, candidates):
        return self.answer


class TestJudge:
    """Any model may be plugged in, so its answer is checked before it is used."""

    found = (candidate(1, [1, 0]), candidate(2, [1, 0]))

    def ask(self, model, found=found):
        return judge(model, unit([1, 0]), found)

    @pytest.mark.parametrize("answer", [None, 0, 1, np.int64(1)])
    def test_a_legal_position(self, answer):
        judged = (Judgement(11, 0.5), Judgement(12))
        assert self.ask(Bare(answer)).chosen == answer
        verdict = self.ask(Explaining(Verdict(answer, judged, "Because.")))
        assert verdict == Verdict(answer, judged, "Because.")
        assert type(verdict.chosen) in (int, type(None))

    @pytest.mark.parametrize(
        ("answer", "shown"),
        [
            *((-1, "-1"), (2, "2"), (True, "True"), (False, "False")),
            *((np.True_, r"(np\.)?True_?"), (1.0, "1.0"), ("1", "'1'"), ([], r"\[\]")),
        ],
    )
    def test_any_other_answer_is_refused_with_the_range(self, answer, shown):
        expected = rf"{shown}; expected None or a position in 0\.\.1 \(2 candidates\)"
        with pytest.raises(ValueError, match=rf"Bare\.choose chose {expected}"):
            self.ask(Bare(answer))
        with pytest.raises(ValueError, match=rf"Explaining\.judge chose {expected}"):
            self.ask(Explaining(Verdict(answer, (), "")))

    def test_without_candidates_only_none_is_legal(self):
        assert self.ask(Bare(None), ()).chosen is None
        with pytest.raises(ValueError, match=r"chose 0; expected None \(0 candidates\)"):
            self.ask(Bare(0), ())

    @pytest.mark.parametrize("answer", [None, 1, (0, (), "why"), "first"])
    def test_a_judge_method_that_is_another_one(self, answer):
        message = r"Explaining\.judge returned .*; expected a segviz\.construct\.Verdict\(chosen"
        with pytest.raises(ValueError, match=message):
            self.ask(Explaining(answer))
