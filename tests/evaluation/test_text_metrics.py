"""Comparing answers by their words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.evaluation import bleu1, token_f1
from segviz.evaluation.text_metrics import normalised

words = st.lists(st.sampled_from(["red", "bicycle", "luna", "utrecht", "3", "may", "the"]))
answers = words.map(" ".join)


def shared(found, wanted):
    """Tokens in common, one by one."""
    left, count = list(wanted), 0
    for word in found:
        if word in left:
            left.remove(word)
            count += 1
    return count


@given(answers, answers)
def test_f1_equals_the_literal_form(predicted, gold):
    found = [w for w in predicted.split() if w != "the"]
    wanted = [w for w in gold.split() if w != "the"]
    if not found and not wanted:
        expected = 1.0
    elif not shared(found, wanted):
        expected = 0.0
    else:
        p, r = shared(found, wanted) / len(found), shared(found, wanted) / len(wanted)
        expected = 2 * p * r / (p + r)
    assert token_f1(predicted, gold) == pytest.approx(expected)


@given(answers, answers)
def test_bleu1_equals_the_literal_form(predicted, gold):
    found = [w for w in predicted.split() if w != "the"]
    wanted = [w for w in gold.split() if w != "the"]
    if not found or not wanted:
        expected = 1.0 if found == wanted else 0.0
    else:
        penalty = 1.0 if len(found) > len(wanted) else math.exp(1 - len(wanted) / len(found))
        expected = penalty * shared(found, wanted) / len(found)
    assert bleu1(predicted, gold) == pytest.approx(expected)


@given(st.text(), st.text())
def test_bounds_and_identity_for_any_text(one, other):
    for score in (token_f1, bleu1):
        assert 0 <= score(one, other) <= 1
        assert score(one, one) == pytest.approx(1)
    assert token_f1(one, other) == token_f1(other, one)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat, an owl & a dog.", ["cat", "owl", "dog"]),
        ("$1,000 or 3.5", ["1000", "or", "35"]),
        ("«Größe» — ＡＢＣ…", ["größe", "abc"]),
        ("Cafe\N{COMBINING ACUTE ACCENT}", ["café"]),
        ("你好，世界。", ["你好", "好世", "世界"]),
        ("", []),
        ("?! the", []),
    ],
)
def test_normal_form(text, tokens):
    assert normalised(text) == tokens


@pytest.mark.parametrize(("predicted", "gold"), [("", "red"), ("red", ""), ("the", "red")])
def test_one_empty_answer_scores_nothing(predicted, gold):
    assert token_f1(predicted, gold) == bleu1(predicted, gold) == 0.0
