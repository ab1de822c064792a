"""REALTALK, PerLTQA, MSC, MemoryAgentBench: records made here after the documented shapes."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from segviz.conversation import Question
from tests.loaders.reading import failure, findings, only, read

# --- REALTALK ------------------------------------------------------------------------


def realtalk(**extra: object) -> dict[str, object]:
    """A chat with skipping ids and the usual slips in its evidence."""

    def turn(key: str, speaker: str, text: str, time: str, **more: object) -> dict[str, object]:
        when = f"29.12.2023, {time}"
        return {"clean_text": text, "speaker": speaker, "date_time": when, "dia_id": key, **more}

    return {
        "name": {"speaker_1": "Kate", "speaker_2": "Emi"},
        "session_1": [
            turn("D1:1", "kate", "hello", "22:42:04", img_file=["a", "b"]),
            turn("D1:4", "kate", "", "22:42:05", blip_caption="a lake"),
            turn("D1:5", "Emi", "hi", "22:43:00"),
        ],
        "session_1_date_time": "29.12.2023, 22:42:04",
        "events_session_1": {},
        "session_2": [],
        "qa": [
            {
                "question": "q",
                "answer": "a",
                "category": 2,
                "evidence": ["D1:4", "D1:1;D1:5", "D1:2"],
            }
        ],
        **extra,
    }


def test_realtalk() -> None:
    conversation = only(realtalk())
    assert (conversation.id, conversation.source_format) == ("file", "REALTALK")
    assert conversation.speakers == ("Emi", "kate")  # declared ones that speak come first
    assert [(t.id, t.content) for t in conversation.turns] == [
        ("D1:1", "hello"),
        ("D1:4", "[image: a lake]"),
        ("D1:5", "hi"),
    ]
    (session,) = conversation.sessions
    assert (session.start, session.raw_date) == (
        datetime(2023, 12, 29, 22, 42, 4),
        "29.12.2023, 22:42:04",
    )
    (question,) = conversation.questions
    assert question.evidence == ("D1:4", "D1:1", "D1:5")
    assert question.unresolved == ("D1:2",)
    assert [row[1] for row in findings(realtalk())] == [
        "file",
        "qa[0].evidence[1]",
        "qa[0].evidence[2]",
    ]


def test_realtalk_two_sessions_of_one_number() -> None:
    first, second = [{"clean_text": "a", "speaker": "A"}], [{"clean_text": "b", "speaker": "A"}]
    sessions = only(realtalk(session_1=first, session_01=second)).sessions
    assert [(s.id, s.turns[0].text) for s in sessions] == [("session_1", "a"), ("session_1#2", "b")]


def test_realtalk_broken_turns_are_named_by_its_own_keys() -> None:
    block = [{"clean_text": None, "speaker": "A"}, {"clean_text": "x", "dia_id": "D1:9"}, 5]
    document = realtalk(session_1=block, qa=None)
    assert [row[:2] for row in findings(document)] == [
        ("skipped", "file"),
        ("skipped", "session_1[0].clean_text"),
        ("repaired", "session_1[1].speaker"),
        ("skipped", "session_1[2]"),
    ]
    assert "it has no messages" in failure(realtalk(session_1=[{"clean_text": None}])).what


# --- PerLTQA -------------------------------------------------------------------------


def character(name: str = "Lin", **dialogues: object) -> dict[str, object]:
    """A character with dialogues."""
    return {"profile": {"Protagonist": name}, "events": {}, "dialogues": dialogues}


def dialogue(when: str, *lines: object) -> dict[str, object]:
    """A dialogue of one time."""
    return {"events": "1_0_0", "contents": {when: list(lines)}}


LIN = character(
    late=dialogue("2022-05-10 10:00", "Lin: later: now", "Bo: yes", "no name here", 5),
    undated=dialogue("some day", "Lin: whenever"),
    early=dialogue("2021-01-01 09:30", "Bo: first"),
)


@pytest.mark.parametrize("document", [{"Lin": LIN}, [LIN], LIN])
def test_perltqa_in_both_versions(document: object) -> None:
    conversation = only(document)
    assert (conversation.id, conversation.speakers) == ("Lin", ("Lin", "Bo"))
    assert [(t.speaker, t.text) for t in conversation.turns] == [
        ("Bo", "first"),
        ("Lin", "later: now"),
        ("Bo", "yes"),
        ("Lin", "whenever"),
    ]
    assert [s.start for s in conversation.sessions] == [
        datetime(2021, 1, 1, 9, 30),
        datetime(2022, 5, 10, 10),
        None,
    ]
    assert [row[2] for row in findings(document)] == ['2 lines without "Name: words" left out']


def test_perltqa_characters_and_questions() -> None:
    corpus = read(
        {"Lin": LIN, "Bo": character("Bo", d=dialogue("2020-01-01 10:00", "Bo: x")), "C": 5}
    )
    assert corpus.ids == ("Lin", "Bo")
    questions = {"Lin": {"profile": [], "events": [], "dialogues": [{"1_0_0": []}]}}
    assert failure(questions).what.startswith("no known conversation format")


# --- MSC -----------------------------------------------------------------------------

LINE = {
    "personas": [["I sail."], ["I bake."]],
    "previous_dialogs": [
        {
            "dialog": [{"text": "one"}, {"text": "two"}, {"text": "three"}],
            "time_num": 3,
            "time_unit": "days",
        },
        {"dialog": [{"text": "four", "id": "Speaker 2"}], "time_back": "2 hours ago"},
    ],
    "dialog": [{"text": "five", "id": "Speaker 1"}, {"text": "six"}],
    "metadata": {"initial_data_id": "train:7"},
}


def test_msc_lines() -> None:
    text = "\n".join(json.dumps(line) for line in (LINE, {**LINE, "metadata": None}))
    corpus = read(text, "test.txt")
    assert corpus.ids == ("train:7", "test 2")
    assert corpus.report.source_format == "Multi-Session Chat"
    sessions = corpus[0].sessions
    assert [(s.start, s.raw_date) for s in sessions] == [
        (None, "3 days"),
        (None, "2 hours ago"),
        (None, ""),
    ]
    assert [[(t.speaker[-1], t.text) for t in s.turns] for s in sessions] == [
        [("1", "one"), ("2", "two"), ("1", "three")],
        [("2", "four")],
        [("1", "five"), ("2", "six")],
    ]


def test_msc_broken_parts() -> None:
    document = {**LINE, "previous_dialogs": [5, {"dialog": 5}, {"dialog": [{"text": None}]}]}
    assert [row[:2] for row in findings(document)] == [
        ("skipped", "previous_dialogs[0]"),
        ("skipped", "previous_dialogs[1].dialog"),
        ("skipped", "previous_dialogs[2].dialog[0].text"),
    ]
    assert "it has no messages" in failure({**LINE, "previous_dialogs": None, "dialog": []}).what


# --- MemoryAgentBench ----------------------------------------------------------------

FIRST = [{"role": "user", "content": 'it\'s "me"'}, {"role": "assistant", "content": "hello"}]
SECOND = [{"role": "user", "content": "again"}, {"role": "assistant", "content": "hello"}]
FLAT = ["Chat Time: 2022/11/17 (Thu) 12:04", FIRST, "Chat Time: 2022/11/16 (Wed) 12:04", SECOND]


def row(context: object = None, **extra: object) -> dict[str, object]:
    """A row whose second question's answer stands twice in the context."""

    def haystack(role: str, content: str) -> object:
        return [
            [
                {"role": role, "content": content, "has_answer": True},
                {"role": "user", "content": "again"},
            ]
        ]

    return {
        "context": repr(FLAT) if context is None else context,
        "questions": ["who?", "what?", "when?"],
        "answers": [["me", "I"], ["hello"]],
        "metadata": {
            "haystack_sessions": [haystack("user", ' it\'s "me"'), haystack("assistant", "hello")]
        },
        **extra,
    }


@pytest.mark.parametrize("context", [repr(FLAT), FLAT, repr([FLAT[:2], FLAT[2:]])])
def test_memoryagentbench_contexts(context: object) -> None:
    conversation = only(row(context))
    assert [(s.start, s.raw_date) for s in conversation.sessions] == [
        (datetime(2022, 11, 17, 12, 4), "2022/11/17 (Thu) 12:04"),
        (datetime(2022, 11, 16, 12, 4), "2022/11/16 (Wed) 12:04"),
    ]
    assert [t.text for t in conversation.turns] == ['it\'s "me"', "hello", "again", "hello"]


def test_memoryagentbench_questions() -> None:
    lost = ("1 turn not found in the context",)
    assert only(row()).questions == (
        Question(0, "who?", "me / I", None, ("S1:1",)),
        Question(1, "what?", "hello", None, (), lost),
        Question(2, "when?", None, None, ()),
    )
    assert findings(row()) == [
        (
            "repaired",
            "context",
            "1 session dated before the previous one (session_2); kept in file order",
        ),
        ("repaired", "metadata", "1 turn with an answer not found once in the context"),
    ]


def test_memoryagentbench_context_alone_and_rows_that_are_documents() -> None:
    conversation = only(repr(FLAT))
    assert len(conversation.turns) == 4
    assert conversation.questions == ()
    corpus = read([row("A long document."), row()], "rows.json")
    assert corpus.ids == ("rows 2",)
    assert corpus.report.skipped[0].what == (
        "no chats in the context (a document?); the row is left out"
    )


@pytest.mark.parametrize(
    "context",
    [
        "['Chat Time: x', [{",
        "[__import__('os')]",
        "[" * 5000,
        "['a', {1, 2}]",
        "['\\ud800', b'x']",
        "[]",
        5,
    ],
)
def test_memoryagentbench_contexts_that_are_no_lists(context: object) -> None:
    assert "it has no messages" in failure(row(context)).what
