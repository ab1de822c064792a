"""RealMem: a whole file, and the real one. Its quirks are ``cases/realmem_evidence.json``."""

from collections import Counter
from datetime import datetime

import pytest

from segviz.conversation import Turn
from segviz.loaders import load
from tests.data import real_data
from tests.loaders.reading import failure, read

DATE = "2025-12-19 (Friday)"
TURNS = (
    {"speaker": "User", "is_query": False, "content": "hello", "query_id": None},
    {"speaker": "Assistant", "is_query": False, "content": "hi"},
)


def persona(*turns: object) -> dict[str, object]:
    """A whole file of one session."""
    session = {"session_uuid": "u1", "current_time": DATE, "dialogue_turns": list(turns)}
    return {"_metadata": {"person_name": "Ann"}, "dialogues": [session]}


def test_one_file_is_one_conversation() -> None:
    corpus = read(persona(*TURNS), "Ann.json")
    conversation = corpus[0]
    assert corpus.ids == ("Ann",)
    assert (corpus.report.kept, corpus.report.findings) == (2, ())
    assert conversation.turns == (Turn("S1:1", "User", "hello"), Turn("S1:2", "Assistant", "hi"))
    (session,) = conversation.sessions
    assert (session.id, session.raw_date) == ("session_1", DATE)
    assert session.start == datetime(2025, 12, 19)
    assert conversation.questions == ()


def test_nothing_usable_is_an_error() -> None:
    assert "1 session without turns" in failure(persona()).what
    assert "dialogues[0].dialogue_turns[0]" in failure(persona(7)).what


@pytest.mark.parametrize("document", [{"dialogues": []}, {"dialogues": [{}]}])
def test_other_shapes_are_refused(document: object) -> None:
    assert failure(document).what.startswith("no known conversation format")


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
    assert all(session.start for session in conversation.sessions)
