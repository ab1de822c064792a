"""What it takes for a text to state an answer, and a slow restatement of it."""

from __future__ import annotations

import random

import pytest

from segviz.text.answers import answer_parts, parts_given, states
from tests.evaluation import restated

DAY = ["1 May 2023", "May 1, 2023", "1st of May 2023", "2023-05-01", "May 1st 2023", "2023/5/1"]


@pytest.mark.parametrize("written", DAY)
@pytest.mark.parametrize("answer", DAY)
def test_a_day_is_stated_in_any_form(answer, written):
    assert states(f"On {written} she watched a film.", answer)
    assert states(f"On {written} she watched a film.", "May 1")
    assert states("On 1 May she watched it.", answer)  # the year is left out
    assert not states("On 11 May 2023, and on 1 May 2022.", answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("In Sept. 2022 she moved.", "September 2022"),
        ("She moved on 2022-09-04.", "in September 2022"),
        ("They met on 21 May 2023.", "The Sunday before 25 May 2023"),
        ("The Sunday before 25 May they met.", "The sunday before 25 May 2023"),
        ("Twenty-six dogs and three hundred cats.", "300 cats, 26 dogs"),
        ("She has 3 dogs.", "three dogs"),
        ("The 3rd dog.", "3"),
        ("A trip to Zürich costs 1,500 francs.", "1500 francs, Zürich"),
        ("他买了打印机", "打印机"),
    ],
)
def test_numbers_months_and_words_are_stated_in_any_form(text, answer):
    assert states(text, answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Twenty-six dogs.", "six dogs"),
        ("She moved in 2022.", "September 2022"),
        ("She has a dog.", "a cat and a dog"),
        ("Anything.", ""),
        ("On 1 May they sailed.", "On 2 May"),
    ],
)
def test_an_answer_is_not_stated_unless_all_of_it_is(text, answer):
    assert not states(text, answer)


def test_texts_of_words_numbers_and_dates_equal_the_slow_restatement():
    rng, stated = random.Random(3), 0
    pieces = [
        *"red the dog 3 three twenty-six 26 on 2023 May".split(),
        *DAY[:4],
        "2 June",
        "June 2",
    ]
    for _ in range(600):
        text, answer = (
            " and ".join(rng.choices(pieces, k=k)) for k in (rng.randrange(7), rng.randrange(1, 3))
        )
        found = states(text, answer)
        assert found == restated.states(text, answer), (text, answer)
        stated += found
    assert 60 < stated < 540


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("Miss Pamela, Storm Petrel, Alzira", ["Miss Pamela", "Storm Petrel", "Alzira"]),
        ("a dog and two cats; a horse\n& a cow", ["dog", "2 cats", "horse", "cow"]),
        ("The Faroes, then, and Skagen", ["Faroes", "Skagen"]),
        ("May 1, 2023, and 2023-06-02", ["1 May 2023", "2 June 2023"]),
        ("1,500 francs, 3", ["1500 francs", "3"]),
        ("A brand of band", ["A brand of band"]),
        ("she and he", ["she and he"]),
        (" and, ", ["and"]),
        ("", []),
    ],
)
def test_a_list_has_parts(answer, parts):
    assert answer_parts(answer) == tuple(answer_parts(part)[0] for part in parts)


BOAT = "Miss Pamela, Storm Petrel, Alzira"


@pytest.mark.parametrize(
    ("turns", "given"),
    [
        # A turn that repeats an earlier part gives its own part only.
        (["Miss Pamela", "a Storm Petrel", "no Storm Petrel, but Alzira"], [[0], [1], [2]]),
        (["Alzira!", "Alzira, as I said, not Miss Pamela", "Alzira"], [[2, 1], [0, 1], [1]]),
        # A part in other words is of the turns that state none.
        (["Miss Pamela", "a sea bird", "Alzira"], [[0], [1], [2]]),
        (["a lady", "a sea bird", "Alzira"], [[0, 1], [0, 1], [2]]),
        # A single turn gives the whole answer, and so does one that is left without a part.
        (["Alzira"], [[0, 1, 2]]),
        (["a boat"], [[0, 1, 2]]),
        ([BOAT, "yes"], [[0, 1, 2], [0, 1, 2]]),
    ],
)
def test_each_gold_turn_gives_parts_of_the_answer(turns, given):
    parts = answer_parts(BOAT)
    assert [set(mine) for mine in parts_given(BOAT, turns)] == [
        {parts[part] for part in mine} for mine in given
    ]


def test_parts_and_what_turns_give_equal_the_slow_restatement():
    rng = random.Random(4)
    names = [*"red blue boat cat horse".split(), "26", "the", "2 June", "May 1, 2023", "1,500"]
    shares = set()
    for _ in range(300):
        answer = "".join(
            rng.choice(names) + rng.choice([", ", " and ", "; ", "\n", " or ", " & ", ", then "])
            for _ in range(rng.randrange(1, 5))
        )
        turns = [" or ".join(rng.choices(names, k=rng.randrange(4))) for _ in range(3)]
        slow = restated.gives(answer, turns)
        fast = parts_given(answer, turns)
        assert [
            {answer_parts(part)[0] for part in mine if answer_parts(part)} for mine in slow
        ] == [{*mine} for mine in fast], (answer, turns)
        shares.update(len(mine) for mine in fast)
    assert shares >= {1, 2, 3}
