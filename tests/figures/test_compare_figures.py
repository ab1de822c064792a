"""Systems beside each other: what became of every gold turn, and who can be told apart."""

import math
import random

import pytest

from segviz.evaluation import MEASURES, Mean, Outcomes
from segviz.evaluation.compare import COLLAPSED, NATIVE, Standing
from segviz.figures.compare import (
    DIFFERENCE,
    asked_sentence,
    gold_sentence,
    overlap_sentence,
    short_names,
    standing_plot,
    standing_sentence,
    turn_matrix,
    turn_rows,
)
from segviz.figures.significance import number

ORDER = [f"D1:{i}" for i in range(1, 21)]
GOLD = ["D1:2", "D1:5", "D1:9"]
RETURNED = {"Tree": {"D1:2", "D1:3", "D1:7"}, "Flat": {"D1:3", "D1:5", "D1:12"}}
FATES = {
    "Tree": {"D1:2": "found", "D1:5": "quoted", "D1:9": "missed"},
    "Flat": {"D1:2": "answered", "D1:5": "found", "D1:9": "not in any leaf"},
}
WORDS = {turn: f"Ann: what is said in {turn} " + "and more " * 20 for turn in ORDER}


def matrix(gold=GOLD):
    return turn_matrix(RETURNED, ORDER, gold, FATES)


def test_every_gold_turn_is_a_column_also_what_no_system_returned():
    found = matrix()
    assert found.gold == tuple(GOLD)
    assert found.others == ("D1:3", "D1:7", "D1:12")
    for name, row in zip(found.names, found.states, strict=True):
        for turn, state in zip(found.turns, row, strict=True):
            if turn in GOLD:
                expected = FATES[name][turn]
            else:
                expected = "returned" if turn in RETURNED[name] else ""
            assert state == expected
    assert gold_sentence(found) == (
        "Of 3 gold turns found: Tree 1 and 1 quoted, Flat 1 and 1 answered. No system has D1:9."
    )


TONES = {"better": "#00f", "worse": "#f00", "neutral": "#888"}


def test_systems_are_named_in_short_where_that_tells_them_apart():
    def shown(*names):
        none = Mean(0.5, 0.4, 0.6, 9)
        plot = standing_plot(
            [{"system": n, "recall": none, DIFFERENCE: none} for n in names],
            "recall",
            **TONES,
        )
        return list(plot.layout.yaxis.ticktext)

    assert shown("A tree (first, of two) · own, dense", "B") == ["A tree<br>own, dense", "B"]
    assert shown("A (first) · own, dense", "B · own, dense") == ["A", "B"]
    assert shown("A (first)", "A (second)") == ["A (first)", "A (second)"]
    assert short_names(
        ["A (first, x) · segviz's relevance, dense", "A (first, x) · own, dense"]
    ) == ["A", "A · own"]
    assert short_names(["A (first)", "A (second)"]) == ["A (first)", "A (second)"]


def test_a_row_for_each_turn_has_its_words_and_a_mark_for_each_system():
    rows = turn_rows(matrix(), WORDS)
    marks = [(row["turn"], row["Tree"], row["Flat"]) for row in rows]
    assert marks == [
        ("◆ D1:2", "●", "◉"),
        ("◆ D1:5", "◐", "●"),
        ("◆ D1:9", "○", "○"),
        ("D1:3", "✓", "✓"),
        ("D1:7", "✓", ""),
        ("D1:12", "", "✓"),
    ]
    assert all(row["words"].startswith("Ann: what is said in D1:") for row in rows)
    assert all(90 < len(row["words"]) <= 100 for row in rows)


def test_without_gold_or_without_anything_returned():
    plain = matrix(gold=[])
    assert gold_sentence(plain) == ""
    assert {row["turn"] for row in turn_rows(plain, WORDS)} == RETURNED["Tree"] | RETURNED["Flat"]
    nothing = turn_matrix({"Tree": set()}, ORDER, GOLD, {"Tree": dict.fromkeys(GOLD, "missed")})
    assert gold_sentence(nothing) == (
        "Of 3 gold turns found: Tree 0. No system has D1:2, D1:5, D1:9."
    )
    assert overlap_sentence(matrix()) == ("5 turns were returned by at least one system, 1 by all.")


def stands():
    rng = random.Random(5)
    values = [[rng.random() * 0.1 + shift for _ in range(40)] for shift in (0.5, 0.7, 0.3, 0.5)]
    found = [Outcomes((4,) * 40, {name: tuple(row) for name in MEASURES}) for row in values]
    names = ("Tree", "Better", "Worse", "Alike")
    return values, [
        {"system": name, "recall": one.mean("recall"), DIFFERENCE: one.gain(found[0], "recall")}
        for name, one in zip(names, found, strict=True)
    ]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([(NATIVE, "dense"), (NATIVE, "dense")], "its own retrieval (relevance dense)."),
        ([(NATIVE, "dense"), (NATIVE, "lexical")], "(relevance dense for A, lexical for B)."),
        ([(COLLAPSED, "hybrid")] * 2, "segviz's relevance (hybrid) ranks all their nodes."),
        ([(NATIVE, "dense"), (COLLAPSED, "hybrid")], "Not alike: B, which has none, "),
    ],
)
def test_a_sentence_says_how_the_systems_were_asked_and_if_not_alike(asked, said):
    none = Outcomes((), {})
    group = [Standing(name, name, *how, none) for name, how in zip("ab", asked, strict=True)]
    names = [f"{row.name.upper()} (some) · {row.how}" for row in group]
    assert said in asked_sentence(group, names)


def test_dots_are_means_and_paired_differences():
    values, rows = stands()
    figure = standing_plot(rows, "recall", **TONES)
    left, right, *told = figure.data
    means = [sum(row) / len(row) for row in values]
    assert [t.text for t in figure.layout.annotations] == ["recall", "difference to<br>the first"]
    assert list(figure.layout.yaxis.ticktext) == ["Tree", "Better", "Worse", "Alike"]
    assert list(left.y) == list(right.y) == [0, 1, 2, 3]
    assert list(left.x) == pytest.approx(means)
    assert list(right.x) == pytest.approx([mean - means[0] for mean in means], abs=1e-8)
    assert list(right.error_x.array) == pytest.approx(
        [row[DIFFERENCE].high - row[DIFFERENCE].value for row in rows]
    )
    assert not any(each.cliponaxis for each in figure.data)  # a mean of 0 or 1 is drawn whole
    # What differs significantly has the colour of its sign, all else has none.
    assert {left.marker.color, right.marker.color} == {"#888"}
    assert [(each.marker.color, list(each.x)) for each in told] == [
        ("#00f", [right.x[1]]),
        ("#f00", [right.x[2]]),
    ]
    assert [list(each.error_x.array) for each in told] == [
        [right.error_x.array[place]] for place in (1, 2)
    ]


def test_the_sentence_names_the_highest_and_sorts_the_others_by_what_can_be_told():
    _, (tree, better, worse, alike) = stands()
    said = standing_sentence([tree, better, worse, alike], "recall")
    assert said.startswith("Better ")
    assert f"+{better[DIFFERENCE].value:.3f} [{number(better[DIFFERENCE].low)}" in said
    assert said.index("Worse") < said.index("Alike")
    tied = standing_sentence([tree, better, {**better, "system": "Good"}, alike], "recall")
    assert tied.startswith("Better and Good ")
    undecided = standing_sentence([tree, alike], "recall")
    assert f"Tree (recall {tree['recall'].value:.3f}" in undecided


def test_a_mean_of_one_question_is_named_without_an_interval():
    one, same = Mean(1.0, math.nan, math.nan, 1), Mean(0.0, math.nan, math.nan, 1)
    rows = [{"system": "Tree", "recall": one}, {"system": "Flat", "recall": one, DIFFERENCE: same}]
    said = standing_sentence(rows, "recall")
    assert "Tree (recall 1.000)" in said
    assert "Flat, +0.000;" in said
