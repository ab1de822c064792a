"""The question atlas: order, marks, words."""

import pytest

from segviz.evaluation import Outcomes
from segviz.figures.compare import atlas, atlas_sentence, group_of, marks


def outcomes(*questions):
    """The outcomes of questions, each by its value and the fate of its gold turns."""
    values, fates = zip(*questions, strict=True)
    return Outcomes((1,) * len(questions), {"reached": values}, fates=fates)


FATE = (1, 0, 0, 2)
COLUMNS = {
    "none": outcomes(
        (0.5, FATE), (0.5, (0, 1, 0, 1)), (None, (0, 0, 0, 0)), (0.2, FATE), (1.0, FATE)
    ),
    "more": outcomes(
        (0.5, FATE), (0.0, (0, 0, 0, 1)), (None, (0, 0, 0, 0)), (0.3, FATE), (0.5, FATE)
    ),
    "else": outcomes(
        (0.9, FATE), (0.5, (0, 1, 0, 1)), (None, (0, 0, 0, 0)), (0.2, FATE), (1.0, FATE)
    ),
    "best": outcomes(
        (1.0, FATE), (0.5, (1, 0, 0, 1)), (None, (0, 0, 0, 0)), (0.2, FATE), (1.0, FATE)
    ),
}


def test_the_largest_change_of_the_measure_comes_first():
    rows = atlas(COLUMNS, "more", range(5), "reached")
    # Question 2 has no value; 0 changes elsewhere only. Equal changes keep their order.
    assert [row.place for row in rows] == [1, 4, 3, 0]
    assert [row.change for row in rows] == pytest.approx([-0.5, -0.5, 0.1, 0])
    assert rows[0].fates == ((0, 1, 0, 1), (0, 0, 0, 1), (0, 1, 0, 1), (1, 0, 0, 1))
    sentence = atlas_sentence(rows, "none", "more", "evidence reached")
    assert (
        "evidence reached, more gains on 1 of 4 questions and loses on 2 against none" in sentence
    )


def test_gains_come_before_losses_of_the_same_size():
    gained = {"base": COLUMNS["more"], "focus": COLUMNS["best"]}
    rows = atlas(gained, "focus", range(5), "reached")
    assert [row.place for row in rows] == [0, 1, 4, 3]
    assert [row.change for row in rows] == pytest.approx([0.5, 0.5, 0.5, -0.1])
    lost = atlas(
        {"base": outcomes((1, FATE), (0, FATE)), "b": outcomes((0, FATE), (1, FATE))},
        "b",
        range(2),
        "reached",
    )
    assert [row.change for row in lost] == [1, -1]


def test_rounding_neither_wins_nor_loses():
    pair = {"base": outcomes((0.3, FATE)), "b": outcomes((0.1 + 0.2, FATE))}
    (row,) = atlas(pair, "b", [0], "reached")
    assert row.change == 0


def test_a_mark_for_each_turn_and_counts_of_many():
    assert marks((2, 1, 1, 5)) == "●●◐◉○"
    assert marks((0, 3, 2, 9)) == "◐3 ◉2 ○4"


def test_without_a_measure_turns_in_evidence_count_alike():
    pair = {"base": outcomes((0, (1, 0, 0, 2))), "b": outcomes((0, (0, 1, 1, 2)))}
    (row,) = atlas(pair, "b", [0])
    assert (row.change, group_of(row)) == (1, "gains")
    (row,) = atlas({"base": pair["b"], "b": outcomes((0, (2, 0, 0, 2)))}, "b", [0])
    assert (row.change, group_of(row)) == (0, "in evidence as before")
