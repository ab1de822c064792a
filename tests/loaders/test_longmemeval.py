"""LongMemEval: every quirk of oracle and S, on inputs made up here; then the real files."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

import segviz
from segviz.conversation import Finding, Question, Turn
from segviz.loaders import load
from segviz.memory.answer import is_adversarial
from tests.data import real_data
from tests.loaders.reading import failure, findings, only, read

DATE = "2023/05/28 (Sun) 19:47"


def user(content: object = "hello", **extra: object) -> dict[str, object]:
    """A message of the user's."""
    return {"role": "user", "content": content, **extra}


def bot(content: object = "hi", **extra: object) -> dict[str, object]:
    """A message of the assistant's."""
    return {"role": "assistant", "content": content, **extra}


def instance(*sessions: object, **extra: object) -> dict[str, object]:
    """An instance; its parallel lists fit unless ``extra`` says otherwise."""
    sessions = sessions or ([user(), bot()],)
    return {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "How many?",
        "answer": 3,
        "question_date": DATE,
        "haystack_dates": [DATE] * len(sessions),
        "haystack_session_ids": ["answer_x"] * len(sessions),
        "haystack_sessions": list(sessions),
        "answer_session_ids": [],
        **extra,
    }


# --- shapes --------------------------------------------------------------------------


@pytest.mark.parametrize("document", [[instance()], instance()])
def test_a_list_and_a_single_instance_agree(document: object) -> None:
    corpus = read(document)
    conversation = corpus[0]
    assert corpus.ids == ("q1",)
    assert (corpus.report.kept, corpus.report.findings) == (2, ())
    assert corpus.report.source_format == conversation.source_format == "LongMemEval"
    assert conversation.speakers == ("user", "assistant")
    assert conversation.turns == (Turn("S1:1", "user", "hello"), Turn("S1:2", "assistant", "hi"))
    (session,) = conversation.sessions
    assert (session.id, session.start, session.raw_date) == (
        "session_1",
        datetime(2023, 5, 28, 19, 47),
        DATE,
    )
    assert conversation.questions == (Question(0, "How many?", "3", "multi-session", ()),)


def test_the_order_of_keys_does_not_matter() -> None:
    backwards = dict(reversed(instance().items()))
    assert only(backwards) == only(instance())


def test_a_session_opened_by_the_assistant_leaves_the_user_first_speaker() -> None:
    conversation = only(instance([bot(), user(), bot()]))
    assert conversation.speakers == ("user", "assistant")
    assert [unit.turn_ids for unit in conversation.units("paper")] == [("S1:2", "S1:3")]
    assert only(instance([user()])).speakers == ("user",)
    other = {"role": "tool", "content": "x"}
    assert only(instance([other, bot(), user()])).speakers == ("user", "assistant", "tool")


@pytest.mark.parametrize(
    ("document", "ids", "found"),
    [
        (
            [instance(), instance(), instance(question_id=7), instance(question_id=None)],
            ("q1", "q1#2", "7", "file"),
            [("repaired", "[1].haystack_sessions"), ("repaired", "[3].question_id")],
        ),
        (
            [5, {"x": 1}, instance(haystack_sessions="gone"), instance([], None), instance()],
            ("q1",),
            [
                ("skipped", "[0]"),
                ("skipped", "[1]"),
                ("skipped", "[2].haystack_sessions"),
                *[("skipped", "[3].haystack_sessions")] * 2,
            ],
        ),
        (
            instance([user()], [user()], haystack_dates=[DATE], haystack_session_ids=["a"]),
            ("q1",),
            [("repaired", "haystack_dates")],
        ),
        (instance(haystack_dates=[DATE, "x"]), ("q1",), [("repaired", "haystack_dates")]),
        (instance(haystack_dates=None), ("q1",), [("repaired", "haystack_dates")]),
        (instance(haystack_dates=DATE), ("q1",), [("repaired", "haystack_dates")]),
        (instance(haystack_dates=["yesterday"]), ("q1",), [("repaired", "haystack_dates[0]")]),
        (instance(question=None), ("q1",), [("skipped", "question")]),
        (
            instance([{"content": 5}]),
            ("q1",),
            [("repaired", f"haystack_sessions[0][0].{key}") for key in ("content", "role")],
        ),
        (instance([user()], [user()]), ("q1",), []),
    ],
)
def test_what_is_left_out_or_mended_is_told_by_its_place(
    document: object, ids: tuple[str, ...], found: list[tuple[str, str]]
) -> None:
    assert read(document).ids == ids
    assert findings(document) == found


def test_nothing_usable_is_an_error() -> None:
    error = failure(instance([], []))
    assert "2 sessions without turns" in error.what
    assert error.expected == "turns such as {role, content} in haystack_sessions"
    assert "[0].haystack_sessions[0][0].content" in failure([instance([user(None)])]).what


def test_sessions_are_told_apart_by_position() -> None:
    conversation = only(instance([user("same")], [user("same")]))
    assert [session.id for session in conversation.sessions] == ["session_1", "session_2"]
    assert [turn.id for turn in conversation.turns] == ["S1:1", "S2:1"]
    assert "answer_x" not in repr(conversation)


def test_empty_sessions_keep_their_number() -> None:
    document = instance([user("a")], [], [user("c", has_answer=True)], "text")
    conversation = only(document)
    assert [turn.id for turn in conversation.turns] == ["S1:1", "S3:1"]
    assert conversation.questions[0].evidence == ("S3:1",)
    places = ("haystack_sessions", "haystack_sessions[3]")
    assert findings(document) == [("skipped", place) for place in places]


def test_sessions_out_of_date_order_are_one_finding_and_stay() -> None:
    dates = ["2023/05/03 (Wed) 10:00", "2023/05/01 (Mon) 10:00", "x", "2023/04/01 (Sat) 10:00"]
    document = instance(*[[user(str(n))] for n in range(4)], haystack_dates=dates)
    assert [turn.text for turn in only(document).turns] == ["0", "1", "2", "3"]
    places = ("haystack_dates[2]", "haystack_sessions")
    assert findings(document) == [("repaired", place) for place in places]


# --- the question --------------------------------------------------------------------


def test_evidence_is_what_is_marked_true() -> None:
    document = instance(
        [user(has_answer=False), bot(), user(has_answer=None)],
        [user(has_answer=True), bot(has_answer=1), user(None, has_answer=True)],
    )
    (question,) = only(document).questions
    assert (question.evidence, question.unresolved) == (("S2:1",), ("S2:3",))


def test_an_abstention_has_no_answer() -> None:
    document = instance(question_id="q1_abs", answer="You did not mention this.")
    assert only(document).questions == (Question(0, "How many?", None, "abstention", ()),)
    assert is_adversarial(only(document).questions[0])
    assert findings(document) == []


# --- the real files ------------------------------------------------------------------


def shared(name: str) -> Path:
    """A real file of LongMemEval."""
    return real_data("longmemeval", name)


def test_oracle_counts() -> None:
    corpus = load(shared("oracle_sample.json"))
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
    corpus = load(shared("s_gpt4_4edbafa2.json"))
    (conversation,) = corpus
    assert conversation.id == "gpt4_4edbafa2"
    assert (len(conversation.sessions), len(conversation.turns)) == (41, 460)
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


@pytest.mark.parametrize("name", ["oracle_sample.json", "s_gpt4_4edbafa2.json"])
def test_a_sound_tree_of_the_first_instance(name: str) -> None:
    memory = segviz.build(load(shared(name))[0])
    assert memory.check() == []
    assert len(memory.structure.leaves) == {"o": 12, "s": 230}[name[0]]
