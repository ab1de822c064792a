"""The question atlas: order, marks, words."""

from __future__ import annotations

from segviz.evaluation import Outcomes
from segviz.figures.compare import atlas, atlas_sentence, marks


def fates(*found):
    return Outcomes((1,) * len(found), {}, fates=tuple(found))


COLUMNS = {
    "none": fates((0, 0, 2), (1, 0, 1), (0, 0, 0), (0, 1, 1), (1, 0, 2), (0, 0, 1)),
    "more": fates((0, 0, 2), (0, 0, 1), (0, 0, 0), (1, 0, 1), (2, 0, 2), (0, 0, 1)),
    "else": fates((2, 0, 2), (1, 0, 1), (0, 0, 0), (0, 1, 1), (1, 0, 2), (0, 0, 1)),
}


def test_the_largest_change_comes_first_and_gains_before_losses():
    rows = atlas(COLUMNS, "more", range(6))
    # Question 2 has no gold evidence; 0 changes elsewhere only, 5 nowhere.
    assert [row.place for row in rows] == [4, 1, 3, 0, 5]
    assert [row.change for row in rows] == [2, -2, 1, 0, 0]
    assert rows[2].fates == ((0, 1, 1), (1, 0, 1), (0, 1, 1))
    assert atlas_sentence(rows, "none", "more") == (
        "Of 5 questions with gold evidence 2 are won and 1 lost by more against none; the others "
        "do not change."
    )


def test_a_mark_for_each_turn_and_counts_of_many():
    assert marks((2, 1, 4)) == "●●◐○"
    assert marks((0, 3, 9)) == "◐3 ○6"
