"""RealMem: sessions, queries and where their evidence comes from."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import pytest

from segviz.conversation import Question, Turn
from segviz.loaders import load
from tests.data import real_data
from tests.loaders.reading import failure, findings, only, read

DATE = "2025-12-19 (Friday)"


def user(content: object = "hello", **extra: object) -> dict[str, object]:
    """A turn of the user's."""
    return {"speaker": "User", "is_query": False, "content": content, "query_id": None, **extra}


def bot(content: object = "hi", **extra: object) -> dict[str, object]:
    """A turn of the assistant's."""
    return {"speaker": "Assistant", "is_query": False, "content": content, **extra}


def dialogue(*turns: object, uuid: object = "u1", **extra: object) -> dict[str, object]:
    """One session."""
    return {
        "session_identifier": "Travel_1:S1_01",
        "session_uuid": uuid,
        "current_time": DATE,
        "dialogue_turns": list(turns or (user(), bot())),
        "extracted_memory": [],
        **extra,
    }


def memory(words: str, snapshot: object, uuid: str = "u1") -> dict[str, object]:
    """An extracted memory with a misleading ``source_turn``."""
    return {
        "content": words,
        "session_uuid": uuid,
        "source_turn": 9,
        "source_content_snapshot": snapshot,
    }


def persona(*dialogues: object) -> dict[str, object]:
    """A whole file."""
    return {"_metadata": {"person_name": "Ann"}, "dialogues": list(dialogues or (dialogue(),))}


def asked(*used: object, **extra: object) -> dict[str, object]:
    """A later session with a query, whose answer used these memories."""
    answer = bot("in Oslo", memory_used=list(used), **extra)
    return dialogue(user("Where?", is_query=True, query_id="Q-1"), answer, uuid="u2")


def used(words: object, uuid: object = "u1") -> dict[str, object]:
    """An entry of ``memory_used``."""
    return {"session_uuid": uuid, "content": words}


# --- sessions ------------------------------------------------------------------------


def test_one_file_is_one_conversation() -> None:
    corpus = read(persona(), "Ann.json")
    conversation = corpus[0]
    assert corpus.ids == ("Ann",)
    assert (corpus.report.kept, corpus.report.findings) == (2, ())
    assert corpus.report.source_format == conversation.source_format == "RealMem"
    assert conversation.speakers == ("User", "Assistant")
    assert conversation.turns == (Turn("S1:1", "User", "hello"), Turn("S1:2", "Assistant", "hi"))
    (session,) = conversation.sessions
    assert (session.id, session.start, session.raw_date) == (
        "session_1",
        datetime(2025, 12, 19),
        DATE,
    )
    assert conversation.questions == ()


def test_sessions_without_turns_or_date_or_in_the_wrong_order() -> None:
    document = persona(
        dialogue(current_time="2026-01-02 (Friday)"),
        dialogue(dialogue_turns=[]),
        dialogue(user(""), current_time=DATE),
        dialogue(current_time="soon"),
        dialogue(current_time=None),
        dialogue(dialogue_turns="x"),
        5,
    )
    names = [session.id for session in only(document).sessions]
    assert names == ["session_1", "session_3", "session_4", "session_5"]
    assert findings(document) == [
        ("repaired", "dialogues"),
        ("repaired", "dialogues[3].current_time"),
        ("repaired", "dialogues[4].current_time"),
        ("skipped", "dialogues"),
        ("skipped", "dialogues[5].dialogue_turns"),
        ("skipped", "dialogues[6]"),
    ]


def test_nothing_usable_is_an_error() -> None:
    assert "1 session without turns" in failure(persona(dialogue(dialogue_turns=[]))).what
    error = failure(persona(dialogue(7), dialogue(dialogue_turns=[])))
    assert "dialogues[0].dialogue_turns[0]" in error.what


@pytest.mark.parametrize("document", [{"dialogues": []}, {"dialogues": [{}]}])
def test_other_shapes_are_refused(document: object) -> None:
    assert failure(document).what.startswith("no known conversation format")


# --- questions and evidence ----------------------------------------------------------


def test_evidence_is_the_turn_the_memory_was_taken_from() -> None:
    first = dialogue(
        user("I moved to Oslo."),
        bot("Nice."),
        extracted_memory=[memory("User lives in Oslo.", " I moved to Oslo.\n")],
    )
    document = persona(first, asked(used("User lives in Oslo."), memory_session_uuids=["u1"]))
    (question,) = only(document).questions
    assert question == Question(0, "Where?", "in Oslo", None, ("S1:1",), asked_at="S2:1")
    assert findings(document) == []


def test_evidence_from_after_the_query_is_kept_and_counted() -> None:
    document = persona(
        asked(used("m"), used("n")),
        asked(used("m")),
        dialogue(user("later"), extracted_memory=[memory("m", "later"), memory("n", "later")]),
    )
    assert [q.evidence for q in only(document).questions] == [("S3:1",), ("S3:1",)]
    assert findings(document) == [("repaired", "dialogues")]


@pytest.mark.parametrize(
    ("words", "memories"),
    [
        ("other words", [memory("User lives in Oslo.", "hello")]),
        ("m", []),
        ("m", None),
        ("m", [memory("m", "never said")]),
        ("m", [memory("m", "")]),
        ("m", [memory("m", None), 5, {}]),
        # The same words were said twice: which turn it was cannot be told.
        ("m", [memory("m", "hello"), memory("m", "hi")]),
        (None, [memory("m", "hello")]),
    ],
)
def test_what_cannot_be_traced_to_one_turn_is_unresolved(words: object, memories: object) -> None:
    document = persona(dialogue(extracted_memory=memories), asked(used(words)))
    (question,) = only(document).questions
    assert (question.evidence, question.unresolved) == ((), ("u1",))
    assert findings(document) == [("repaired", "dialogues[1].dialogue_turns[1].memory_used[0]")]


def test_sessions_named_without_a_memory_and_broken_entries() -> None:
    document = persona(dialogue(), asked(5, memory_session_uuids=["u1", None]))
    assert only(document).questions[0].unresolved == ("5", "u1", "null")
    place = "dialogues[1].dialogue_turns[1].memory_used"
    assert findings(document) == [("repaired", f"{place}[{row}]") for row in range(3)]
    broken = persona(dialogue(user(is_query=True), bot(memory_used="x")))
    assert findings(broken) == [("repaired", "dialogues[0].dialogue_turns[1].memory_used[0]")]


def test_queries_without_words_or_answer() -> None:
    document = persona(
        dialogue(user(" ", is_query=True), bot()),
        dialogue(user("a?", is_query=True), user("b?", is_query=True), bot("b!")),
        dialogue(user("c?", is_query=True)),
        dialogue({"speaker": "User", "content": "no flag"}, user(is_query="yes")),
    )
    questions = only(document).questions
    assert [(q.index, q.text, q.answer, q.asked_at) for q in questions] == [
        (1, "a?", None, "S2:1"),
        (2, "b?", "b!", "S2:2"),
        (3, "c?", None, "S3:1"),
    ]
    assert findings(document) == [
        ("repaired", "dialogues[1].dialogue_turns[0]"),
        ("repaired", "dialogues[2].dialogue_turns[0]"),
        ("skipped", "dialogues[0].dialogue_turns[0]"),
    ]


# --- the real file -------------------------------------------------------------------


def test_kenta_tanaka() -> None:
    corpus = load(real_data("realmem", "Kenta_Tanaka.json"))
    (conversation,) = corpus
    assert conversation.id == "Kenta_Tanaka"
    assert (len(conversation.sessions), len(conversation.turns)) == (191, 1543)
    assert Counter(t.speaker for t in conversation.turns) == {"User": 772, "Assistant": 771}
    assert [t.id for t in conversation.turns if not t.content] == ["S165:22"]
    questions = conversation.questions
    assert [q.index for q in questions] == list(range(153))
    assert [q.index for q in questions if q.answer is None] == []
    assert sum(len(q.evidence) for q in questions) == 248
    assert sum(len(q.unresolved) for q in questions) == 20
    assert questions[0].evidence == ("S6:1",)
    assert all(conversation.turn(q.asked_at).text == q.text for q in questions)
    # 23 of 291 memories used have a snapshot that is no turn's text, or none at all.
    assert (len(corpus.report.repaired), len(corpus.report.skipped)) == (24, 0)
    assert Counter(f.what[:17] for f in corpus.report.findings) == {
        "could not resolve": 23,
        "1 turn of gold ev": 1,
    }
    assert all(session.start for session in conversation.sessions)
