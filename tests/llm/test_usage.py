"""Counts of models in words: the pace of work that waits for a model."""

from collections import Counter

from segviz.llm.usage import Pace


class Counting:
    """A chat model by its counters."""

    def __init__(self, **counts):
        self.now = Counter(counts)

    def counts(self):
        return self.now


def test_the_pace_of_a_model_goes_by_its_new_replies_and_counts_down():
    chat = Counting(answered=40, from_cache=40, calls=3)
    pace = Pace(chat, expected=16)
    assert pace.phrase(0, 9, 0.0) == ", 0 of about 16 replies"
    chat.now.update(answered=6, from_cache=5, calls=2, tokens_in=1_200, tokens_out=80)
    known = ", 6 of about 16 replies (5 from the cache), 2 calls, 1,280 tokens, about {} left"
    assert pace.phrase(4, 9, 5.0) == known.format("50 seconds")
    assert pace.phrase(4, 9, 30.0) == known.format("25 seconds"), "a slow reply adds no time"
    assert "left" not in pace.phrase(4, 9, 60.0)
    chat.now.update(answered=1)
    assert pace.phrase(4, 9, 64.0).endswith(", about 5 minutes left")
    chat.now.update(answered=10)
    assert pace.phrase(8, 9, 130.0).startswith(", 17 replies (5 from the cache)")


def test_the_pace_of_a_call_under_way_is_measured_from_the_first_look():
    chat = Counting()
    pace = Pace(chat, expected=2)
    chat.now.update(calls=1)
    assert "left" not in pace.phrase(1, 9, 100_000.0)
    chat.now.update(answered=1)
    assert pace.phrase(1, 9, 100_007.0).endswith(", about 7 seconds left")


def test_the_pace_without_a_model_goes_by_the_finished_parts():
    pace = Pace()
    assert [pace.phrase(done, 31, 10.0 * done) for done in range(3)] == [
        "",
        "",
        ", about 5 minutes left",
    ]
    assert pace.phrase(2, 31, 305.0) == ", about 5 seconds left"
    assert pace.phrase(31, 31, 306.0) == ""


def test_the_pace_of_a_model_names_no_unknown_number_of_replies():
    chat = Counting()
    pace = Pace(chat)
    chat.now.update(answered=1, calls=1, tokens_in=5)
    assert pace.phrase(1, 4, 1.0) == ", 1 reply, 1 call, 5 tokens"
