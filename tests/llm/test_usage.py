"""Counts of models in words: the pace of work that waits for a model."""

from __future__ import annotations

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
    known = ", 6 of about 16 replies (5 from the cache), 2 calls, 1,280 tokens"
    assert pace.phrase(4, 9, 50.0) == known, "the first reply is no measure"
    chat.now.update(answered=2, calls=2)
    after = ", 8 of about 16 replies (5 from the cache), 4 calls, 1,280 tokens, about {} left"
    assert pace.phrase(4, 9, 60.0) == after.format("40 seconds")
    assert pace.phrase(4, 9, 75.0) == after.format("25 seconds"), "a slow reply adds no time"
    assert "left" not in pace.phrase(4, 9, 120.0)
    chat.now.update(answered=9)
    assert pace.phrase(8, 9, 130.0).startswith(", 17 replies (5 from the cache)")


def test_the_pace_without_a_model_goes_by_the_finished_parts():
    pace = Pace()
    assert [pace.phrase(done, 31, 10.0 * done) for done in range(3)] == [
        "",
        "",
        ", about 5 minutes left",
    ]
    assert pace.phrase(2, 31, 305.0) == ", about 5 seconds left"
    assert pace.phrase(31, 31, 306.0) == ""
