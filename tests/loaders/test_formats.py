"""A format is a small sample file and what is read of it.

``python -m tests.loaders.test_formats`` writes ``samples/expected.json`` anew, to be looked at.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segviz.loaders import LOADERS, load

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


if __name__ == "__main__":
    found = {path.name: snapshot(path) for path in PATHS}
    EXPECTED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
