"""Comparing answers by their words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.evaluation import bleu1, token_f1
from segviz.evaluation.text_metrics import normalised
from segviz.text.words import all_tokens, content_tokens

words = st.lists(st.sampled_from(["red", "bicycle", "luna", "utrecht", "3", "may", "the"]))
answers = words.map(" ".join)


def coverage(answer, texts):
    """Share of the answer's content words in the texts, None for an answer without words."""
    wanted = content_tokens(answer)
    held = frozenset().union(*map(all_tokens, texts))
    return len(wanted & held) / len(wanted) if wanted else None


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


def test_hand_worked():
    # found: red red bicycle; wanted: red bicycle utrecht may -> 2 shared
    assert token_f1("Red, red bicycle!", "the red bicycle (Utrecht, May)") == pytest.approx(4 / 7)
    assert bleu1("Red, red bicycle!", "the red bicycle (Utrecht, May)") == pytest.approx(
        2 / 3 * math.exp(1 - 4 / 3)
    )


@given(st.text(), st.text())
def test_bounds_and_identity_for_any_text(one, other):
    for score in (token_f1, bleu1):
        assert 0 <= score(one, other) <= 1
        assert score(one, one) == pytest.approx(1)
    assert token_f1(one, other) == token_f1(other, one)
    found = coverage(one, [other])
    assert found is None or 0 <= found <= 1
    assert coverage(one, [other, one]) in (None, 1.0)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat, an owl & a dog.", ["cat", "owl", "dog"]),
        ("$1,000 or 3.5", ["1000", "or", "35"]),
        ("«Größe» — ＡＢＣ…", ["größe", "abc"]),
        ("Cafe\N{COMBINING ACUTE ACCENT}", ["café"]),
        ("你好，世界。", ["你好世界"]),
        ("", []),
        ("?! the", []),
    ],
)
def test_normal_form(text, tokens):
    assert normalised(text) == tokens


@pytest.mark.parametrize(("predicted", "gold"), [("", "red"), ("red", ""), ("the", "red")])
def test_one_empty_answer_scores_nothing(predicted, gold):
    assert token_f1(predicted, gold) == bleu1(predicted, gold) == 0.0


class TestCoverage:
    def test_share_of_distinct_content_tokens_over_all_texts(self):
        texts = ["Luna is a cat—black.", "They live in Utrecht."]
        assert coverage("Luna, the black cat of Utrecht", texts) == 1.0
        assert coverage("Luna and Luna and Oscar", texts) == 0.5

    def test_numbers_are_whole(self):
        assert coverage("1,000 euros", ["it cost 1000 euros"]) == 1.0
        assert coverage("3.5", ["3 of 5"]) == 0.0
        assert coverage("7:30", ["at 7:30."]) == 1.0

    def test_a_part_of_a_word_does_not_count(self):
        assert coverage("art", ["the party started"]) == 0.0

    def test_function_words_count_only_alone(self):
        assert content_tokens("in the park") == {"park"}
        assert content_tokens("he did") == {"he", "did"}
        assert coverage("he did", ["did he go?"]) == 1.0

    def test_nothing_to_find(self):
        assert coverage("", ["anything"]) is None
        assert coverage("…", ["anything"]) is None
        assert coverage("red", []) == 0.0
