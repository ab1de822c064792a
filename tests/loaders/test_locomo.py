"""LoCoMo: its shapes, facts and summaries. Its quirks are ``cases/locomo_*.json``."""

from datetime import datetime

import pytest

from segviz.conversation import Turn
from tests.loaders.reading import failure, findings, only, read

DATE = "1:56 pm on 8 May, 2023"


def turn(turn_id: object = "D1:1", text: object = "hello", **extra: object) -> dict[str, object]:
    """A turn of Ann's."""
    return {"speaker": "Ann", "dia_id": turn_id, "text": text, **extra}


def bare(*turns: object, **extra: object) -> dict[str, object]:
    """A bare conversation with one dated session."""
    return {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": DATE,
        "session_1": list(turns),
        **extra,
    }


def sample(sample_id: object = "conv-1", *turns: object, **extra: object) -> dict[str, object]:
    """A sample of the official list."""
    return {"qa": [], "conversation": bare(*(turns or [turn()])), "sample_id": sample_id, **extra}


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ([sample()], "conv-1"),
        (sample(), "conv-1"),
        ({"conv-1": sample()}, "conv-1"),
        (bare(turn()), "file"),
    ],
)
def test_the_shapes_agree(document: object, name: str) -> None:
    corpus = read(document)
    assert (corpus.ids, corpus.report.findings, corpus.report.kept) == ((name,), (), 1)
    assert corpus[0].turns == (Turn("D1:1", "Ann", "hello"),)
    assert corpus[0].speakers == ("Ann", "Bob")
    (session,) = corpus[0].sessions
    assert (session.id, session.raw_date) == ("session_1", DATE)
    assert session.start == datetime(2023, 5, 8, 13, 56)


OBSERVED = {
    "Ann": [["said hello", "D1:1"], ["waved", ["D1:2", "D1:1; D1:02"]], ["left", "D1:9"]],
    "Bob": [7, ["heard her"], "slept"],
}


@pytest.mark.parametrize("shape", ["official", "bare"])
def test_facts_are_read_with_their_turns_and_sessions_with_their_summary(shape: str) -> None:
    wrote = {"session_1_summary": "Ann says hello.", "session_1_observation": OBSERVED}
    turns = [turn(), turn("D1:2", "and I wave")]
    document: object = bare(*turns, **wrote)
    if shape == "official":
        parts = {"session_summary": "session_1_summary", "observation": "session_1_observation"}
        rest = {part: {key: wrote[key]} for part, key in parts.items()}
        document = [sample("conv-1", *turns, **rest)]
    conversation = only(document)
    assert [session.summary for session in conversation.sessions] == ["Ann says hello."]
    found = [(each.id, each.text, each.sources) for each in conversation.observations]
    assert found == [
        ("session_1:1", "said hello", ("D1:1",)),
        ("session_1:2", "waved", ("D1:2", "D1:1")),
        ("session_1:3", "left", ()),
    ]
    (when,) = {(each.session, each.time) for each in conversation.observations}
    assert when == ("session_1", datetime(2023, 5, 8, 13, 56))
    kinds = [kind for kind, _ in findings(document)]
    assert sorted(kinds) == ["repaired", "skipped", "skipped", "skipped"]


def test_an_adversarial_answer_is_kept_apart() -> None:
    qa = [{"question": "q?", "adversarial_answer": "tempting", "category": 5}]
    qa.append({"question": "q?", "answer": "No", "adversarial_answer": 3})
    found = [(q.answer, q.adversarial) for q in only(bare(turn(), qa=qa)).questions]
    assert found == [(None, "tempting"), ("No", "3")]


def test_sessions_without_turns_are_one_finding_and_nothing_else_an_error() -> None:
    dates = {f"session_{n}_date_time": DATE for n in range(2, 20)}
    assert findings(bare(turn(), **dates)) == [("skipped", "file")]
    error = failure(dates)
    assert "18 sessions without turns" in error.what
    assert error.where == "file.json"
    place = "[0].conversation.session_1[0].text"
    assert place in failure([sample("x", turn(text=None))]).what
