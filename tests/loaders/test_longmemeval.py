"""LongMemEval: every quirk of oracle and S, on inputs made up here; then the real files."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

import segviz
from segviz.conversation import Finding, Question, Turn
from segviz.loaders import LoadError, load
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
        "answer_session_ids": ["answer_x"],
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


def test_question_ids() -> None:
    corpus = read([instance(), instance(), instance(question_id=7), instance(question_id=None)])
    assert corpus.ids == ("q1", "q1#2", "7", "file")
    assert [(f.where, f.what) for f in corpus.report.findings] == [
        ("[1].question_id", "'q1' is taken by another conversation; called 'q1#2'"),
        ("[3].question_id", "expected a name, found null; named 'file' after the file"),
    ]


def test_broken_instances_in_a_good_list_are_skipped_with_their_path() -> None:
    document = [
        5,
        {"x": 1},
        instance(haystack_sessions="gone"),
        instance([], None, question_id="e"),
        instance(),
    ]
    assert read(document).ids == ("q1",)
    assert findings(document) == [
        ("skipped", "[0]", "expected an instance with haystack_sessions, found a number"),
        (
            "skipped",
            "[1]",
            "expected an instance with haystack_sessions, found an object with key x",
        ),
        ("skipped", "[2].haystack_sessions", "expected a list of sessions, found a text"),
        (
            "skipped",
            "[3].haystack_sessions",
            "2 sessions without turns (session_1, session_2)",
        ),
        ("skipped", "[3].haystack_sessions", "no usable turns; the conversation is left out"),
    ]


def test_nothing_usable_is_an_error() -> None:
    error = failure(instance([], []))
    assert error.what == "The file was read, but it has no messages (2 sessions, all empty)"
    assert error.expected == "turns such as {role, content} in haystack_sessions"
    error = failure([instance([user(None)])])
    assert error.what.startswith(
        "The file was read, but it has no usable messages (1 session); the first problem is at "
        "[0].haystack_sessions[0][0].content: expected a text, found null"
    )


@pytest.mark.parametrize("document", [{"notes": ["one two"]}, {"a": ["x"], "b": 1}, {"a": []}])
def test_other_lists_of_texts_are_not_version_2(document: object) -> None:
    assert failure(document).what.startswith("no known conversation format")


# --- parallel lists ------------------------------------------------------------------


def test_sessions_are_told_apart_by_position() -> None:
    conversation = only(instance([user("same")], [user("same")]))
    assert [session.id for session in conversation.sessions] == ["session_1", "session_2"]
    assert [turn.id for turn in conversation.turns] == ["S1:1", "S2:1"]
    assert "answer_x" not in repr(conversation)


def test_lists_of_different_length() -> None:
    document = instance(
        [user()], [user()], [user()], haystack_dates=[DATE], haystack_session_ids=list("abcd")
    )
    assert [session.raw_date for session in only(document).sessions] == [DATE, "", ""]
    assert [session.start is None for session in only(document).sessions] == [False, True, True]
    assert findings(document) == [
        ("repaired", "haystack_dates", "1 entry for 3 sessions; joined by position"),
        ("repaired", "haystack_session_ids", "4 entries for 3 sessions; joined by position"),
    ]


def test_more_dates_than_sessions() -> None:
    document = instance(haystack_dates=[DATE, "nonsense"])
    assert only(document).sessions[0].raw_date == DATE
    assert findings(document) == [
        ("repaired", "haystack_dates", "2 entries for 1 session; joined by position")
    ]


@pytest.mark.parametrize(("value", "found"), [(None, "null"), (DATE, "a text")])
def test_no_list_of_dates(value: object, found: str) -> None:
    what = f"expected a list of dates, found {found}; sessions kept without date"
    assert findings(instance(haystack_dates=value)) == [("repaired", "haystack_dates", what)]


def test_dates_that_cannot_be_read() -> None:
    document = instance([user()], [user()], haystack_dates=["yesterday", 5])
    assert [s.raw_date for s in only(document).sessions] == ["yesterday", ""]
    expected = 'expected a date like "2023/05/28 (Sun) 19:47", found'
    assert findings(document) == [
        ("repaired", "haystack_dates[0]", f"{expected} 'yesterday'; kept without date"),
        ("repaired", "haystack_dates[1]", f"{expected} a number; kept without date"),
    ]


def test_empty_sessions_keep_their_number() -> None:
    document = instance([user("a")], [], [user("c", has_answer=True)], "text")
    conversation = only(document)
    assert [turn.id for turn in conversation.turns] == ["S1:1", "S3:1"]
    assert conversation.questions[0].evidence == ("S3:1",)
    assert findings(document) == [
        ("skipped", "haystack_sessions", "1 session without turns (session_2)"),
        ("skipped", "haystack_sessions[3]", "expected a list of messages, found a text"),
    ]


def test_sessions_out_of_date_order_are_one_finding_and_stay() -> None:
    dates = ["2023/05/03 (Wed) 10:00", "2023/05/01 (Mon) 10:00", "x", "2023/04/01 (Sat) 10:00"]
    document = instance(*[[user(str(n))] for n in range(4)], haystack_dates=dates)
    assert [turn.text for turn in only(document).turns] == ["0", "1", "2", "3"]
    what = "2 sessions dated before the previous one (session_2, session_4); kept in file order"
    assert findings(document)[0] == ("repaired", "haystack_dates", what)
    assert len(findings(document)) == 2
    assert findings(instance([user()], [user()])) == []


# --- turns ---------------------------------------------------------------------------


def test_empty_messages_stay_in_the_transcript_but_are_no_leaf() -> None:
    conversation = only(instance([user(""), bot("  "), user("x")]))
    assert [turn.text for turn in conversation.turns] == ["", "  ", "x"]
    assert [unit.turn_ids for unit in conversation.units()] == [("S1:3",)]


def test_malformed_turns_as_in_locomo() -> None:
    session = [
        user(5),
        user(["a", {"type": "text", "text": "b"}]),
        user(None),
        {"role": "user"},
        {"content": "who"},
        7,
        user({"a": 1}),
        {"role": "user", "content": "kept", "text": "ignored", "dia_id": "D9:9"},
    ]
    document = instance(session)
    assert [(t.id, t.speaker, t.text) for t in only(document).turns] == [
        ("S1:1", "user", "5"),
        ("S1:2", "user", "a\nb"),
        ("S1:5", "Unknown", "who"),
        ("S1:8", "user", "kept"),
    ]
    nothing = "expected a text, found null; the message is left out"
    assert findings(document) == [
        ("repaired", "haystack_sessions[0][0].content", "a number was read as text"),
        (
            "skipped",
            "haystack_sessions[0][2].content",
            nothing,
        ),
        (
            "skipped",
            "haystack_sessions[0][3].content",
            nothing,
        ),
        (
            "repaired",
            "haystack_sessions[0][4].role",
            "expected a speaker's name, found null; called Unknown",
        ),
        ("skipped", "haystack_sessions[0][5]", "expected a message (an object), found a number"),
        (
            "skipped",
            "haystack_sessions[0][6].content",
            "expected a text, found an object with key a; the message is left out",
        ),
    ]


# --- the question --------------------------------------------------------------------


def test_evidence_is_what_is_marked_true() -> None:
    document = instance(
        [user(has_answer=False), bot(), user(has_answer=None)],
        [user(has_answer=True), bot(has_answer=1), user(None, has_answer=True)],
    )
    (question,) = only(document).questions
    assert (question.evidence, question.unresolved) == (("S2:1",), ("S2:3",))
    assert findings(document)[0] == (
        "repaired",
        "haystack_sessions[1][1].has_answer",
        "expected true or false, found a number; read as false",
    )


def test_an_abstention_has_no_answer() -> None:
    document = instance(question_id="q1_abs", answer="You did not mention this.")
    assert only(document).id == "q1_abs"
    assert only(document).questions == (Question(0, "How many?", None, "abstention", ()),)
    assert is_adversarial(only(document).questions[0])
    assert findings(document) == []


def test_an_unusable_question_leaves_the_conversation() -> None:
    document = [instance(question=None)]
    assert only(document).questions == ()
    assert findings(document) == [
        ("skipped", "[0].question", "expected the text of a question, found null")
    ]
    assert only(instance(answer=None)).questions[0].answer is None
    assert only(instance(answer=["a", 2])).questions[0].answer == "a, 2"
    # The kind of a question is its type; LoCoMo's key means nothing here.
    assert only(instance(category=4)).questions[0].category == "multi-session"


# --- any damage ----------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, True, 5, "x", [], {}, [None], [[None]], {"a": [1]}])
def test_any_value_anywhere_loads_or_is_refused_politely(value: object) -> None:
    whole = instance([user(has_answer=True), bot()])
    for key in whole:
        survives({**whole, key: value})
        survives([whole, {**whole, key: value}])
    for key in ("role", "content", "has_answer"):
        survives(
            instance([user(**{key: value}) if key == "has_answer" else {**user(), key: value}])
        )


def survives(document: object) -> None:
    """A Corpus or a LoadError on one line."""
    try:
        corpus = read(document)
    except LoadError as error:
        message = str(error)
        assert "\n" not in message
    else:
        assert corpus.report.kept > 0


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
    assert [c.id for c in corpus if not c.questions[0].evidence] == [
        "f685340e_abs",
        "f4f1d8a4_abs",
    ]
    assert sum(c.id.endswith("_abs") for c in corpus) == 4
    what = "1 session dated before the previous one (session_2); kept in file order"
    assert corpus.report.findings == (Finding("repaired", "[42].haystack_dates", what),)


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
        Finding("repaired", "[0].haystack_dates", f"{what}; kept in file order"),
    )


@pytest.mark.parametrize("name", ["oracle_sample.json", "s_gpt4_4edbafa2.json"])
def test_a_sound_tree_of_the_first_instance(name: str) -> None:
    memory = segviz.build(load(shared(name))[0])
    assert memory.check() == []
    assert len(memory.structure.leaves) == {"o": 12, "s": 230}[name[0]]
