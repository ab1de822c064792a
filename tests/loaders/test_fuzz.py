"""Whatever the bytes: a sound Corpus or a LoadError, nothing else."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from segviz.loaders import LOADERS, LoadError, parse
from tests.malformed_inputs.archives import zipped

VALID = [
    {
        "qa": [
            {"question": "Who?", "answer": 2022, "evidence": ["D1:1; D2:1"], "category": 1},
            {"question": "When?", "adversarial_answer": "x", "evidence": [], "category": 5},
        ],
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "12:09 am on 13 September, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello “Bob”"},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "Hi", "blip_caption": "a cat"},
            ],
            "session_2_date_time": "1:56 pm on 14 September, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Bye"}],
        },
        "sample_id": "conv-1",
    }
]
VALID_BYTES = json.dumps(VALID, ensure_ascii=False).encode()

# No example database: tests leave nothing behind in the project's folder.
fuzz = settings(max_examples=100, derandomize=True, database=None)
long = settings(fuzz, max_examples=300)

words = st.sampled_from(
    [
        *("", " ", "Ann", "D1:1", "D1:2", "D01:1", "D", "D1:1-D1:2", "D9:9 D1:1", "\0", "\ud800"),
        *("1:56 pm on 8 May, 2023", "12:00 am on 31 June, 2023", "2", "x" * 99, "<b>", "\u202e"),
    ]
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    words,
    st.text(st.characters(), max_size=8),
)
keys = st.one_of(
    st.sampled_from(
        [
            *(
                "conversation",
                "qa",
                "sample_id",
                "speaker_a",
                "speaker_b",
                "session_1",
                "session_2",
            ),
            *("session_01", "session_1_date_time", "session_2_date_time", "session_1_summary"),
            *("speaker", "dia_id", "text", "blip_caption", "question", "answer", "evidence"),
            *("category", "adversarial_answer", "name", "speaker_1", "clean_text", "\ud800", "a\0"),
        ]
    ),
    st.text(max_size=4),
)
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=6)),
    max_leaves=25,
)


def mostly(usual: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """The usual value, now and then anything."""
    return st.integers(0, 11).flatmap(lambda roll: documents if roll == 11 else usual)


turns = st.fixed_dictionaries(
    {"text": mostly(words)},
    optional={
        "speaker": mostly(st.sampled_from(["Ann", "Bob"])),
        "dia_id": mostly(st.sampled_from(["D1:1", "D1:2", "D2:1", "D1:1#2"])),
        "blip_caption": mostly(words),
    },
)
questions = st.fixed_dictionaries(
    {"question": mostly(words)},
    optional={
        "answer": documents,
        "adversarial_answer": documents,
        "category": documents,
        "evidence": mostly(st.lists(mostly(words), max_size=4)),
    },
)
conversations = st.fixed_dictionaries(
    {"session_1": mostly(st.lists(mostly(turns), min_size=1, max_size=5))},
    optional={
        "session_2": mostly(st.lists(mostly(turns), max_size=5)),
        "session_01": mostly(st.lists(turns, max_size=2)),
        "session_1_date_time": mostly(words),
        "session_2_date_time": mostly(words),
        "session_3_date_time": mostly(words),
        "speaker_a": mostly(words),
        "speaker_b": mostly(words),
        "qa": mostly(st.lists(mostly(questions), max_size=3)),
    },
)
samples = st.fixed_dictionaries(
    {"conversation": mostly(conversations)},
    optional={
        "sample_id": mostly(st.sampled_from(["a", "b", "a#2"])),
        "qa": mostly(st.lists(mostly(questions), max_size=3)),
    },
)


def survives(data: bytes, name: str = "fuzz.json") -> None:
    event(outcome(data, name))


def outcome(data: bytes, name: str) -> str:
    """Parse, and check what every Corpus promises, or that the error can be read."""
    try:
        corpus = parse(data, name)
    except LoadError as error:
        message = str(error)
        assert message.endswith(".")
        assert "\n" not in message
        assert 0 < len(message.encode()) < 2000
        return "refused"
    assert len(corpus) > 0
    assert corpus.report.kept == sum(len(c.turns) for c in corpus) > 0
    assert len(set(corpus.ids)) == len(corpus)
    for conversation in corpus:
        ids = [turn.id for turn in conversation.turns]
        assert len(set(ids)) == len(ids)
        names = [session.id for session in conversation.sessions]
        assert len(set(names)) == len(names)
        assert {turn.speaker for turn in conversation.turns} <= set(conversation.speakers)
        for question in conversation.questions:
            assert set(question.evidence) <= set(ids)
        for rule in ("exchange", "turn", "paper"):
            conversation.units(rule)
    # Everything can be encoded, as Streamlit, hashes and files will want it.
    assert repr(corpus).encode().decode() == repr(corpus)
    texts = [turn.content for conversation in corpus for turn in conversation.turns]
    assert "".join(texts).encode().decode() == "".join(texts)
    for finding in corpus.report.findings:
        assert "\n" not in finding.where + finding.what
        assert len(finding.what.encode()) < 1000
    return "loaded"


@long
@given(documents)
@pytest.mark.slow
def test_random_json(document: object) -> None:
    survives(json.dumps(document).encode())


@long
@given(st.one_of(st.lists(mostly(samples), min_size=1, max_size=3), samples, conversations))
@pytest.mark.slow
def test_almost_locomo(document: object) -> None:
    survives(json.dumps(document).encode())


@fuzz
@given(st.binary(max_size=300))
def test_random_bytes(data: bytes) -> None:
    survives(data)


@fuzz
@given(
    st.lists(
        st.tuples(st.integers(0, len(VALID_BYTES)), st.integers(0, 3), st.binary(max_size=3)),
        min_size=1,
        max_size=4,
    )
)
def test_mutated_bytes_of_a_valid_file(changes: list[tuple[int, int, bytes]]) -> None:
    data = VALID_BYTES
    for position, removed, inserted in changes:
        data = data[:position] + inserted + data[position + removed :]
    survives(data)


@long
@given(st.data())
@pytest.mark.slow
def test_any_node_of_a_valid_file_replaced(data: st.DataObject) -> None:
    document = json.loads(VALID_BYTES)
    node = document
    while True:
        steps = list(node) if isinstance(node, dict) else list(range(len(node)))
        step = data.draw(st.sampled_from(steps))
        inner = node[step]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        node = inner
    node[step] = data.draw(documents)
    survives(json.dumps(document).encode())


@fuzz
@given(st.text(st.characters(), max_size=200))
def test_any_file_name(name: str) -> None:
    bare = {"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "hi"}]}
    survives(json.dumps(bare).encode(), name)
    survives(b"", name)


# --- every format --------------------------------------------------------------------


MESSAGE = {"author": {"role": "user"}, "create_time": 1.7e9, "content": {"parts": ["hi"]}}
ROLES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
DAY = [{"type": "message", "ts": "1700000000.000100", "user": "U1", "text": "hi <@U1>"}]
FORMATS: dict[str, object] = {
    "locomo": VALID,
    "longmemeval": [
        {
            "question_id": "q",
            "question": "q?",
            "answer": 3,
            "haystack_dates": ["2023/05/28 (Sun) 19:47"],
            "haystack_sessions": [[{"role": "user", "content": "hi", "has_answer": True}]],
        }
    ],
    "realmem": {
        "dialogues": [
            {
                "current_time": "2025-12-19 (Friday)",
                "dialogue_turns": [
                    {"speaker": "User", "content": "q?", "is_query": True},
                    {"speaker": "Assistant", "content": "a", "memory_session_uuids": ["u"]},
                ],
                "extracted_memory": [{"session_uuid": "u", "content": "m"}],
            }
        ]
    },
    "memoryagentbench": {
        "context": repr(["Chat Time: 2022/11/17 (Thu) 12:04", ROLES]),
        "questions": ["q?"],
        "answers": [["a"]],
        "metadata": {"haystack_sessions": [[[{**ROLES[0], "has_answer": True}]]]},
    },
    "chatgpt": [
        {
            "title": "T",
            "current_node": "b",
            "mapping": {
                "a": {"parent": None, "children": ["b"], "message": None},
                "b": {"parent": "a", "children": [], "message": MESSAGE},
            },
        }
    ],
    "claude": [
        {
            "name": "T",
            "chat_messages": [
                {"uuid": "a", "parent_message_uuid": "r", "sender": "human", "text": "x"},
                {"uuid": "b", "parent_message_uuid": "r", "sender": "human", "text": "y"},
            ],
        }
    ],
    "slack": DAY,
    "sharegpt": [{"id": "s", "conversations": [{"from": "human", "value": "<p>x</p>"}]}],
    "openai": {"messages": ROLES},
    "records": [{"speaker": "Ann", "text": "x", "time": "03/04/2025", "session": 1}],
    "whatsapp": "28/12/2023, 20:02 - Ann: hi\nmore\n28/12/2023, 20:03 - Bob: <Media omitted>\n",
    "table": 'speaker;text;time\nAnn;"a; b";03/04/2025 10:00\nBob;c;04/04/2025 11:00\n',
    "transcript": "## 8 May 2023\nAnn: hi\nmore\n[10:14] Bob: ho\n",
}
FILES = {
    name: (value if isinstance(value, str) else json.dumps(value)).encode()
    for name, value in FORMATS.items()
}
ARCHIVES = {
    "zip": zipped({"a/1.json": FILES["locomo"].decode(), "b.txt": "Ann: hi"}),
    "slack zip": zipped({"users.json": '[{"id": "U1"}]', "c/2023-11-14.json": json.dumps(DAY)}),
    "gzip": gzip.compress(FILES["records"], mtime=0),
    "lines": b"\n".join(json.dumps(row).encode() for row in ROLES),
}


def test_there_is_a_valid_file_of_every_format() -> None:
    assert list(FORMATS) == list(LOADERS)
    for name, data in FILES.items():
        assert parse(data, "x").report.source_format == LOADERS[name].label
    for data in ARCHIVES.values():
        assert parse(data, "x").report.kept > 0


@long
@given(
    st.sampled_from([*FILES.values(), *ARCHIVES.values()]),
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(max_size=3)),
        min_size=1,
        max_size=4,
    ),
)
@pytest.mark.slow
def test_mutated_bytes_of_every_format(
    data: bytes, changes: list[tuple[float, int, bytes]]
) -> None:
    for share, removed, inserted in changes:
        position = int(share * len(data))
        data = data[:position] + inserted + data[position + removed :]
    survives(data)


@long
@given(st.sampled_from([name for name in FORMATS if not isinstance(FORMATS[name], str)]), st.data())
@pytest.mark.slow
def test_any_node_of_every_format_replaced(name: str, data: st.DataObject) -> None:
    document = json.loads(FILES[name])
    for _ in range(data.draw(st.integers(1, 3))):
        node = document
        while node:
            steps = list(node) if isinstance(node, dict) else list(range(len(node)))
            step = data.draw(st.sampled_from(steps))
            inner = node[step]
            if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
                node[step] = data.draw(documents)
                break
            node = inner
    survives(json.dumps(document).encode())


pieces = st.sampled_from(
    [
        *("\n", "\r\n", "\n\n", ",", ";", "\t", '"', ": ", " - ", "[", "]", "{", "}", "sep=;\n"),
        *("Ann", "Bob: ", "speaker", "text", "time", "28/12/2023, 20:02", "03/04/25, 8:02 PM"),
        *("[28.12.23, 20:02:11] ", "<Media omitted>", "\u200e", "## 8 May 2023", "Session 1"),
        *("['Chat Time: ", "'role'", "words", "\u202f", "\0", "**", "null", "1e999"),
    ]
)


@fuzz
@given(st.lists(pieces, max_size=40))
def test_texts_of_all_kinds(parts: list[str]) -> None:
    survives("".join(parts).encode())


@fuzz
@given(
    st.sampled_from([FILES["table"], FILES["records"], FILES["whatsapp"]]),
    st.dictionaries(st.sampled_from(["text", "speaker", "time", "x"]), words, max_size=3),
    st.sampled_from([None, True, False]),
    st.floats(allow_nan=False, min_value=0, max_value=1e6),
)
def test_any_wishes(
    data: bytes, columns: dict[str, str], day_first: bool | None, gap_hours: float
) -> None:
    try:
        corpus = parse(data, "x", columns=columns, day_first=day_first, gap_hours=gap_hours)
    except LoadError as error:
        assert "\n" not in str(error)
    else:
        assert corpus.report.kept > 0


def test_the_valid_file_is_valid() -> None:
    corpus = parse(VALID_BYTES, "x.json")
    assert corpus.report.kept == 3
    assert [f.what for f in corpus.report.findings] == ["'D1:1; D2:1' read as D1:1, D2:1"]
