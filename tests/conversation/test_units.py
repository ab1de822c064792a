from dataclasses import replace
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.conversation import Conversation, Session, Turn
from tests.trees import chat


def texts(conversation, rule):
    return [unit.turn_ids for unit in conversation.units(rule)]


def talk(*sessions):
    return chat([[(who, f"{who}{i}") for i, who in enumerate(s)] for s in sessions])


class TestExchange:
    def test_runs_of_one_speaker_merge_first(self):
        assert texts(talk("AABBBA"), "exchange") == [
            ("D1:1", "D1:2", "D1:3", "D1:4", "D1:5"),
            ("D1:6",),
        ]


class TestPaper:
    def test_dropped_turns_are_counted(self):
        # speaker a is Ada: a leading b, a trailing a and the first of two a's are dropped.
        conversation = Conversation(
            "x",
            ("A", "B"),
            (
                Session(
                    "s", None, "", tuple(Turn(f"t{i}", w, "hi") for i, w in enumerate("BABAABA"))
                ),
            ),
        )
        assert texts(conversation, "paper") == [("t1", "t2"), ("t4", "t5")]
        assert conversation.dropped("paper") == ("t0", "t3", "t6")
        assert conversation.dropped("exchange") == conversation.dropped("turn") == ()


class TestContent:
    def test_turns_without_content_are_never_a_leaf(self):
        session = Session(
            "s", None, "", (Turn("a", "A", "  "), Turn("b", "B", "hi"), Turn("c", "A", "", "a cat"))
        )
        conversation = Conversation("x", ("A", "B"), (session,))
        assert texts(conversation, "turn") == [("b",), ("c",)]
        assert conversation.units("turn")[1].text == "A: [image: a cat]"
        assert conversation.dropped("turn") == ()

    def test_units_are_dense_and_know_their_session(self):
        units = talk("AB", "AB", "AB").units("turn")
        assert [u.index for u in units] == list(range(6))
        assert [u.session for u in units] == [0, 0, 1, 1, 2, 2]
        assert units[0].time.year == 2024

    def test_unknown_rule_lists_the_legal_ones(self):
        with pytest.raises(ValueError, match="exchange, turn, paper, session"):
            talk("AB").units("sentence")


@given(st.lists(st.lists(st.sampled_from("ABC"), max_size=9), max_size=5), st.permutations("ABC"))
def test_rules_against_grouping_turn_by_turn(sessions, speakers):
    talked = replace(talk(*sessions), speakers=tuple(speakers))
    expected = {"exchange": [], "paper": []}
    for session in talked.sessions:
        runs = [list(run) for _, run in groupby(session.turns, key=lambda turn: turn.speaker)]
        pairs = [[t for run in runs[i : i + 2] for t in run] for i in range(0, len(runs), 2)]
        expected["exchange"] += pairs
        expected["paper"] += [
            [a, b]
            for a, b in pairwise(session.turns)
            if (a.speaker, b.speaker) == tuple(speakers[:2])
        ]
    for rule, groups in expected.items():
        assert texts(talked, rule) == [tuple(turn.id for turn in group) for group in groups]
