import sys
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from segviz.construct.annotate import (
    _DATED,
    _NAME,
    _NUMBER,
    Extractive,
    _clip,
    _sentence,
    _sentences,
)


def words(text):
    return text.replace("…", "").split()


SENTENCES = st.lists(
    st.sampled_from("boat rye Kim harbour 2022 the you Sunday sail flour".split()), max_size=9
).map(lambda said: " ".join(said).capitalize() + ".")


def plainly(annotate, texts):
    """The same choice by counting every word and comparing every pair in every round."""
    sentences = list(dict.fromkeys(s for text in texts for s in _sentences(text)))
    counts = Counter(word for s in sentences for word in s.words)
    raw = [sum(counts[word] for word in s.words) / s.room for s in sentences]
    score = [
        value / (max(raw) or 1.0) + annotate.fact_bonus * s.facts
        for value, s in zip(raw, sentences, strict=True)
    ]
    left = sorted(range(len(sentences)), key=lambda i: (-score[i], i))[: annotate._shortlist]
    chosen, room = [], annotate.max_words

    def worth(i):
        mine, all_theirs = sentences[i].words, [sentences[j].words for j in chosen]
        overlap = max((len(mine & t) / (len(mine | t) or 1) for t in all_theirs), default=0.0)
        return (1 - annotate.diversity) * score[i] - annotate.diversity * overlap

    while left and room > 0:
        best = max(left, key=lambda i: (worth(i), -i))
        chosen.append(best)
        room -= sentences[best].length
        left = [i for i in left if i != best and sentences[i].length <= room]
    cut = [(sentences[i].text, sentences[i].said) for i in sorted(chosen)]
    most = annotate.max_words
    return "\n".join(_clip(t, most) if said > most else t for t, said in cut)


def interrupted(text):
    yield from _sentences(text)
    raise KeyboardInterrupt


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

    @given(
        st.lists(st.lists(SENTENCES, max_size=12).map(" ".join), min_size=2, max_size=12),
        st.integers(10, 60),
        st.sampled_from([0.0, 0.3, 0.9, 1.0]),
        st.sampled_from([0.0, 0.15]),
    )
    def test_as_plain_words_and_counts_have_it_while_texts_are_added(
        self, texts, limit, diversity, bonus
    ):
        annotate = Extractive(limit, diversity, bonus)
        for count in range(2, len(texts) + 1):
            for last in (texts[count - 1], "Ada: Something else for a while."):
                given_now = [*texts[: count - 1], last]
                assert annotate(given_now) == plainly(annotate, given_now)

    @given(st.lists(st.lists(SENTENCES, max_size=4).map(" ".join), min_size=2, max_size=6))
    def test_as_plain_words_have_it_whatever_the_texts_before(self, texts):
        for order in (texts, texts[:1] + texts[:0:-1], texts[:-1], texts):
            for annotate in (Extractive(14), Extractive(30)):
                if len(order) > 1:
                    assert annotate(order) == plainly(annotate, order)

    @given(
        st.lists(
            st.sampled_from(
                ["May", "next week", "This \u017fummer", "\u017funday", "june,", "12 a"]
            )
            | st.text(max_size=9)
        ).map(" ".join)
    )
    @example("We met on Monday, last week and last month.")
    @example("On \u017funday")
    def test_names_dates_and_numbers_are_those_found_one_by_one(self, said):
        sentence = _sentence("", said)
        found = (len(cue.findall(said)[:2]) for cue in (_NUMBER, _NAME, _DATED))
        assert sentence is None or sentence.facts == sum(found)

    def test_who_watches_the_choice_does_not_disturb_it(self):
        texts = [f"Ada: Boat {i} sails in May {i}. Dogs bark at boat {i}." for i in range(40)]
        watched = []

        def watch(frame, event, _):
            if event == "call" and frame.f_globals["__name__"] == "segviz.construct.annotate":
                watched.append(frame)  # and all that it holds, as a profiler does

        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            found = [Extractive()(texts[:count]) for count in range(20, 41)]
        finally:
            sys.setprofile(before)
        assert any(frame.f_code.co_name == "weights" for frame in watched)
        assert found == [plainly(Extractive(), texts[:count]) for count in range(20, 41)]

    def test_an_interrupted_choice_leaves_nothing_behind(self, monkeypatch):
        texts = ["Ada: First boat sails.", "Ben: Second boat sinks.", "Ben: Third."]
        Extractive()(texts[:2])
        with monkeypatch.context() as broken:
            broken.setattr("segviz.construct.annotate._sentences", interrupted)
            with pytest.raises(KeyboardInterrupt):
                Extractive()(texts)
        assert Extractive()(texts) == "\n".join(texts)

    def test_ranges_are_checked(self):
        with pytest.raises(ValueError, match="max_words is 3; it must lie between 10 and 400"):
            Extractive(max_words=3)
