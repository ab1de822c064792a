"""LongMemEval: its shapes, and the real files. Its quirks are ``cases/longmemeval_mended.json``."""

from collections import Counter
from datetime import datetime

import pytest

from segviz.conversation import Finding, Question, Turn
from segviz.loaders import load
from segviz.memory.answer import is_adversarial
from tests.data import real_data
from tests.loaders.reading import failure, only, read

DATE = "2023/05/28 (Sun) 19:47"


def instance(*sessions: object, **extra: object) -> dict[str, object]:
    """An instance of these sessions, or of one with two turns."""
    turns = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    return {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "How many?",
        "answer": 3,
        "question_date": DATE,
        "haystack_dates": [DATE] * max(1, len(sessions)),
        "haystack_session_ids": ["answer_x"] * max(1, len(sessions)),
        "haystack_sessions": list(sessions or (turns,)),
        "answer_session_ids": [],
        **extra,
    }


@pytest.mark.parametrize("document", [[instance()], instance(), dict(reversed(instance().items()))])
def test_a_list_and_a_single_instance_agree_in_any_order_of_keys(document: object) -> None:
    corpus = read(document)
    conversation = corpus[0]
    assert corpus.ids == ("q1",)
    assert (corpus.report.kept, corpus.report.findings) == (2, ())
    assert conversation.speakers == ("user", "assistant")
    assert conversation.turns == (Turn("S1:1", "user", "hello"), Turn("S1:2", "assistant", "hi"))
    (session,) = conversation.sessions
    assert (session.id, session.raw_date) == ("session_1", DATE)
    assert session.start == datetime(2023, 5, 28, 19, 47)
    assert conversation.questions == (Question(0, "How many?", "3", "multi-session", ()),)
    assert "answer_x" not in repr(conversation)  # the name of a session gives the evidence away


def test_a_session_opened_by_the_assistant_leaves_the_user_first_speaker() -> None:
    turns = [{"role": role, "content": "x"} for role in ("assistant", "user", "assistant")]
    conversation = only(instance(turns))
    assert conversation.speakers == ("user", "assistant")
    assert [unit.turn_ids for unit in conversation.units("paper")] == [("S1:2", "S1:3")]


def test_an_abstention_is_adversarial() -> None:
    (question,) = only(instance(question_id="q1_abs", answer="Not mentioned.")).questions
    assert is_adversarial(question)


def test_nothing_usable_is_an_error() -> None:
    error = failure(instance([], []))
    assert "2 sessions without turns" in error.what
    assert "haystack_sessions" in error.expected
    silent = instance([{"role": "user", "content": None}])
    assert "[0].haystack_sessions[0][0].content" in failure([silent]).what


def test_oracle_counts() -> None:
    corpus = load(real_data("longmemeval", "oracle_sample.json"))
    assert len(corpus) == 44
    assert corpus.report.kept == 784
    assert sum(len(c.sessions) for c in corpus) == 70
    assert all(s.start for c in corpus for s in c.sessions)
    questions = [question for c in corpus for question in c.questions]
    assert Counter(type(q.answer) for q in questions) == {str: 40, type(None): 4}
    assert sum(len(q.evidence) for q in questions) == 70
    kinds = Counter(q.category for q in questions)
    assert (len(kinds), kinds["abstention"]) == (7, 4)
    # Two of the four abstentions have no marked turn; every other question has one.
    assert [c.id for c in corpus if not c.questions[0].evidence] == ["f685340e_abs", "f4f1d8a4_abs"]
    assert sum(c.id.endswith("_abs") for c in corpus) == 4
    what = "1 session dated before the previous one (session_2); not moved"
    assert corpus.report.findings == (Finding("repaired", "[42].haystack_sessions", what),)


def test_s_counts() -> None:
    corpus = load(real_data("longmemeval", "s_gpt4_4edbafa2.json"))
    (conversation,) = corpus
    assert conversation.id == "gpt4_4edbafa2"
    assert (len(conversation.sessions), len(conversation.turns)) == (41, 460)
    assert len(conversation.units("exchange")) == 230
    assert Counter(t.speaker for t in conversation.turns) == {"assistant": 231, "user": 229}
    assert sum(not turn.content for turn in conversation.turns) == 1
    assert any("<script" in turn.text for turn in conversation.turns)
    assert conversation.questions == (
        Question(
            0,
            "What was the date on which I attended the first BBQ event in June?",
            "June 3rd",
            "temporal-reasoning",
            ("S33:1", "S41:1"),
        ),
    )
    what = "14 sessions dated before the previous one (session_5 … session_39)"
    assert corpus.report.findings == (
        Finding("repaired", "[0].haystack_sessions", f"{what}; not moved"),
    )
