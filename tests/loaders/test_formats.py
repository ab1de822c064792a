"""A format is a small sample file and what is read of it.

``python -m tests.loaders.test_formats`` writes ``samples/expected.json`` anew, to be looked at.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from segviz.loaders import LOADERS, LoadError, load, parse

SAMPLES = Path(__file__).parent / "samples"
EXPECTED = SAMPLES / "expected.json"
PATHS = sorted(path for path in SAMPLES.iterdir() if path != EXPECTED)
DOCUMENTS = [path for path in PATHS if path.suffix == ".json"]


def snapshot(path: Path) -> list[str]:
    """What a file is read as: format, conversations with dated sessions, questions, findings by
    kind and place."""
    corpus = load(path)
    lines = [corpus.report.source_format]
    for conversation in corpus:
        lines.append(f"# {conversation.id}: {', '.join(conversation.speakers)}")
        for session in conversation.sessions:
            lines.append(f"## {session.id} {session.start or '-'}")
            lines += [f"{turn.id} {turn.speaker}: {turn.content}" for turn in session.turns]
        for q in conversation.questions:
            evidence = f"{', '.join(q.evidence)} ({', '.join(q.unresolved)})"
            lines.append(f"{q.index} {q.text} {q.answer} {q.category} {evidence} {q.asked_at}")
    found = sorted({f"! {f.kind} {f.where}" for f in corpus.report.findings})
    return lines + found


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_sample_is_read_as_expected(path: Path) -> None:
    assert snapshot(path) == json.loads(EXPECTED.read_text("utf-8"))[path.name]


def test_there_is_a_sample_of_every_format() -> None:
    formats = {lines[0] for lines in json.loads(EXPECTED.read_text("utf-8")).values()}
    assert formats == {loader.label for loader in LOADERS.values()}


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a document with every step into it."""
    for step in list(document) if isinstance(document, dict) else range(len(document)):
        yield document, step
        if isinstance(document[step], dict | list):
            yield from places(document[step])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
@pytest.mark.parametrize("value", [None, True, -1e300, "x", [], {}, [[5]], {"a": [1]}])
def test_any_value_in_any_place_is_read_or_refused(path: Path, value: object) -> None:
    document = json.loads(path.read_text("utf-8"))
    for node, step in list(places(document)):
        before = copy.copy(node)
        node[step] = value
        try:
            assert parse(json.dumps(document).encode(), path.name).report.kept > 0
        except LoadError as error:
            assert "\n" not in str(error)
        node.clear()
        node.update(before) if isinstance(node, dict) else node.extend(before)


if __name__ == "__main__":
    found = {path.name: snapshot(path) for path in PATHS}
    EXPECTED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
