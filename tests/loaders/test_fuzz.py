"""Whatever the bytes: a sound Corpus or a LoadError, nothing else."""

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from segviz.loaders import LoadError, parse
from tests.loaders.test_formats import DOCUMENTS, PATHS
from tests.malformed_inputs.archives import zipped

FILES = [path.read_bytes() for path in PATHS if path.is_file()]
FILES += [zipped({"a/1.json": FILES[0], "b.txt": "Ann: hi"}), gzip.compress(FILES[0], mtime=0)]

words = st.sampled_from(
    [
        *("", " ", "Ann", "D1:1", "D1:2", "D01:1", "D", "D1:1-D1:2", "D9:9 D1:1", "\0", "\ud800"),
        *("1:56 pm on 8 May, 2023", "12:00 am on 31 June, 2023", "2", "x" * 99, "<b>", "\u202e"),
    ]
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
        for rule in ("exchange", "turn", "paper", "session"):
            conversation.units(rule)
    # Everything can be encoded, as Streamlit, hashes and files will want it.
    assert repr(corpus).encode().decode() == repr(corpus)
    texts = [turn.content for conversation in corpus for turn in conversation.turns]
    assert "".join(texts).encode().decode() == "".join(texts)
    for finding in corpus.report.findings:
        assert "\n" not in finding.where + finding.what
        assert len(finding.what.encode()) < 1000
    return "loaded"


mutations = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(max_size=3)), min_size=1, max_size=4
)


def mutated(data: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    """The bytes with some removed and others put in at these shares of their length."""
    for share, removed, inserted in changes:
        position = int(share * len(data))
        data = data[:position] + inserted + data[position + removed :]
    return data


@given(st.sampled_from(FILES), mutations)
def test_mutated_bytes_of_every_format(
    data: bytes, changes: list[tuple[float, int, bytes]]
) -> None:
    survives(mutated(data, changes))


@given(st.text(st.characters(), max_size=200))
def test_any_file_name(name: str) -> None:
    bare = {"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "hi"}]}
    survives(json.dumps(bare).encode(), name)
    survives(b"", name)


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a document with every step into it."""
    for step in list(document) if isinstance(document, dict) else range(len(document)):
        yield document, step
        if isinstance(document[step], dict | list):
            yield from places(document[step])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
@pytest.mark.parametrize("value", [None, -1e300, {"a": [1]}])
def test_any_value_in_any_place(path: Path, value: object) -> None:
    document = json.loads(path.read_text("utf-8"))
    for node, step in list(places(document)):
        before = copy.copy(node)
        node[step] = value
        outcome(json.dumps(document).encode(), path.name)
        node.clear()
        node.update(before) if isinstance(node, dict) else node.extend(before)


@given(
    st.sampled_from(FILES),
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
