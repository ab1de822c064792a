import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.construct.annotate import Extractive


def words(text):
    return text.replace("…", "").split()


class TestExtractive:
    def test_a_single_child_passes_through(self):
        assert Extractive()(["Anything. At all!\nEven this"]) == "Anything. At all!\nEven this"

    def test_keeps_the_sentence_with_name_date_and_number(self):
        children = [
            "Ada: Oh that sounds really nice, I think so too. How lovely!",
            "Ben: I resumed playing drums in February 2022 with Kim. It is fun.",
            "Ada: Sounds good to me. That is really great, you know.",
        ]
        summary = Extractive(max_words=14)(children)
        assert "Ben: I resumed playing drums in February 2022 with Kim." in summary

    def test_sentences_stay_in_their_order_with_their_speaker(self):
        children = ["Ada: First boat sails. Second boat sinks.", "Ben: Third boat floats."]
        summary = Extractive(max_words=60)(children)
        assert summary.split("\n") == [
            "Ada: First boat sails.",
            "Ada: Second boat sinks.",
            "Ben: Third boat floats.",
        ]

    def test_repeated_sentences_are_said_once(self):
        assert Extractive()(["Ada: Hello boat.", "Ada: Hello boat."]) == "Ada: Hello boat."

    def test_prefers_different_sentences_over_paraphrases(self):
        children = [
            "The boat engine broke near Bristol harbour.",
            "The boat engine broke near Bristol harbour again.",
            "Sourdough starters need rye flour.",
        ]
        summary = Extractive(max_words=13, fact_bonus=0)(children)
        assert "Sourdough" in summary

    def test_one_sentence_longer_than_the_limit_is_cut(self):
        summary = Extractive(max_words=10)(["word " * 50, ""])
        assert summary == "word " * 9 + "word …"

    def test_nothing_to_say(self):
        assert Extractive()(["", "  "]) == ""

    @given(st.lists(st.text(max_size=200), min_size=2, max_size=6), st.integers(10, 40))
    def test_bounded_and_deterministic(self, texts, limit):
        annotate = Extractive(max_words=limit)
        summary = annotate(texts)
        assert summary == Extractive(max_words=limit)(texts)
        import re

        # Speakers' names, repeated in front of sentences, are not counted as words.
        bodies = [re.sub(r"^[^\n:]{1,60}: (?=\S)", "", line) for line in summary.split("\n")]
        assert sum(len(re.findall(r"\w+", body)) for body in bodies) <= limit

    def test_ranges_are_checked(self):
        with pytest.raises(ValueError, match="max_words is 3; it must lie between 10 and 400"):
            Extractive(max_words=3)
