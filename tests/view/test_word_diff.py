from hypothesis import given
from hypothesis import strategies as st

from segviz.view.word_diff import repeats, word_diff

words = st.lists(st.sampled_from(["boat", "dog", " ", "\n", ",", "Ünï", "12"])).map("".join)


@given(words, words)
def test_pieces_rebuild_both_texts(before, after):
    pieces = word_diff(before, after)
    assert "".join(text for kind, text in pieces if kind != "new") == before
    assert "".join(text for kind, text in pieces if kind != "gone") == after


def test_a_changed_word_is_one_change():
    assert word_diff("the boat sank", "the ship sank") == [
        ("same", "the "),
        ("gone", "boat"),
        ("new", "ship"),
        ("same", " sank"),
    ]


def test_equal_texts_have_no_change():
    assert word_diff("a b", "a b") == [("same", "a b")]
    assert word_diff("", "") == []


def test_different_sentences_are_not_mixed_word_by_word():
    before = "A: The boat left.\nB: Nobody saw the big dog."
    after = "A: The boat left.\nA: Forty loaves were baked today!"
    assert word_diff(before, after) == [
        ("same", "A: The boat left.\n"),
        ("gone", "B: Nobody saw the big dog."),
        ("new", "A: Forty loaves were baked today!"),
    ]


def test_a_line_that_was_the_last_is_the_same_line():
    assert word_diff("A: one.\nB: two.", "A: one.\nB: two.\nA: three.") == [
        ("same", "A: one.\nB: two."),
        ("new", "\nA: three."),
    ]


def test_long_repetitive_texts_are_replaced_whole():
    before, after = "x\n" * 50_000, "x\ny\n" * 50_000
    assert word_diff(before, after) == [("gone", before), ("new", after)]
    assert word_diff(before, before) == [("same", before)]


def test_sentences_of_a_text_before_are_marked_and_nothing_is_lost():
    texts = [
        "Ann: The boat leaks every night. Thanks!\nBo: We should caulk it soon.",
        "Bo: Thanks! The boat leaks every night.\nBo: We should sell it soon.",
        "We should sell it soon. We should sell it soon.",
    ]
    found = repeats(texts)
    assert ["".join(text for _, text in pieces) for pieces in found] == texts
    marked = [[text.strip() for kind, text in pieces if kind == "gone"] for pieces in found]
    assert marked == [[], ["The boat leaks every night."], ["We should sell it soon."] * 2]
