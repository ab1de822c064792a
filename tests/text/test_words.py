"""Words of texts in every script, as relevance, annotation, labels and measures compare them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.text.words import (
    all_tokens,
    content_tokens,
    count_words,
    other_script,
    quotes,
    spans,
    tokens,
)


# As text.test.js has them for the browser.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I've a 3.5 m_x", ["i", "ve", "a", "3", "5", "m_x"]),
        ("打印机 坏", ["打印", "印机", "坏"]),
        ("猫はプリンター", ["猫", "は", "プリ", "リン", "ンタ", "ター"]),
        ("고양이, 배", ["고양", "양이", "배"]),
        ("ที่นี่", ["ที่นี่"]),
        ("किताब cafe\u0301", ["किताब", "cafe\u0301"]),
        (f"see {'aB+/' * 100_000}= in", ["see", *["ab"] * 64, "in"]),
        ("中" * 300, ["中中"] * 299),
        ("5\ufe0f\u20e3 \U0001f469\u200d\U0001f467", ["5"]),
    ],
    ids=range(9),
)
def test_words_in_scripts_without_blanks_are_pairs_of_signs(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("办公室的打印机又坏了。", "打印机坏了"),
        ("会社のプリンターがまた壊れました。", "プリンターが壊れました"),
        ("เครื่องพิมพ์ที่สำนักงานเสียอีกแล้ว", "เครื่องพิมพ์เสีย"),
        ("The printer in the office broke again.", "the printer broke"),
    ],
)
def test_an_answer_is_found_in_a_text_of_its_language_and_not_in_another(text, quoted):
    assert quotes(text, quoted)
    assert not content_tokens(quoted) & all_tokens("我的猫叫米洛 うちの猫 my cat")


def test_numbers_are_whole_where_they_are_asked_for_whole():
    assert all_tokens("1,000 at 10:30") == {"1000", "at", "10:30"}
    assert tokens("1,000", numbers=True) == ["1,000"]


def test_function_words_are_content_where_there_are_no_others():
    assert content_tokens("Luna is a cat—black.") == {"luna", "cat", "black"}
    assert content_tokens("he did") == {"he", "did"}
    assert content_tokens("…") == set()


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("I’ve two – boats", 4), ("打印机 坏了。", 3), ("ok 猫", 2)]
)
def test_words_that_are_read(text, count):
    assert count_words(text) == count


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", ""),
        ("hello 你好", ""),
        ("hi 我的猫叫米洛", "CJK"),
        ("ok, привет всем", "CYRILLIC"),
        ("123 🙂", ""),
    ],
)
def test_the_script_of_most_letters_outside_of_known_ones(text, script):
    assert other_script(text, {"LATIN"}) == script


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_spans_go_forward_and_hold_the_words(text):
    found = list(spans(text))
    assert found == sorted(found)
    assert all(text[start:stop].strip() for start, stop in found)
    assert content_tokens(text) <= all_tokens(text)
    assert tokens(text) == [text.lower()[start:stop] for start, stop in spans(text.lower())]
