"""What it takes for a text to state an answer, and a slow restatement of it."""

from __future__ import annotations

import random

import pytest

from segviz.text.answers import states
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
