"""A format is a small sample file and what is read of it; so is a report of a file that was not.

``samples`` has a file of every format, ``cases`` one of every kind of public bug report.
``python -m tests.loaders.test_formats`` writes their ``expected.json`` anew, to be looked at, and
the table of formats in the package's README.
"""

import json
import re
from pathlib import Path

import pytest

from segviz import loaders
from segviz.loaders import LOADERS, LoadError, load

HERE = Path(__file__).parent
SAMPLES = HERE / "samples"
FOLDERS = (SAMPLES, HERE / "cases")
PATHS = [
    path for folder in FOLDERS for path in sorted(folder.iterdir()) if path.name != "expected.json"
]
DOCUMENTS = [path for path in PATHS if path.parent == SAMPLES and path.suffix == ".json"]


def snapshot(path: Path) -> list[str]:
    """What a file is read as: format, conversations with dated sessions and turns, questions,
    findings by kind and place, what the file does not tell; or the kind of error."""
    try:
        corpus = load(path)
    except LoadError as error:
        return [type(error).__name__]
    lines = [corpus.report.source_format]
    for conversation in corpus:
        lines.append(f"# {conversation.id}: {', '.join(conversation.speakers)}")
        for session in conversation.sessions:
            lines.append(f"## {session.id} {session.start or '-'}")
            lines += [
                f"{turn.id} {turn.speaker}: {turn.content}" + f" [{turn.time}]" * bool(turn.time)
                for turn in session.turns
            ]
        for q in conversation.questions:
            evidence = f"{', '.join(q.evidence)} ({', '.join(q.unresolved)})"
            lines.append(f"{q.index} {q.text} {q.answer} {q.category!r} {evidence} {q.asked_at}")
    found = sorted({f"! {f.kind} {f.where}" for f in corpus.report.findings})
    return [*lines, *found, *(f"no {what}" for what in corpus.report.lacks)]


def expected(folder: Path) -> dict[str, list[str]]:
    """The snapshots of a folder's files, by name."""
    found: dict[str, list[str]] = json.loads((folder / "expected.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_file_is_read_as_expected(path: Path) -> None:
    assert snapshot(path) == expected(path.parent)[path.name]


def test_there_is_a_sample_of_every_format() -> None:
    formats = {lines[0] for lines in expected(SAMPLES).values()}
    assert formats == {loader.label for loader in LOADERS.values()}


@pytest.mark.parametrize("name", ["p68_mem0_get_all.json", "p69_letta_agentfile.json"])
def test_stores_of_memories_are_sent_to_the_audit(name: str) -> None:
    with pytest.raises(LoadError) as caught:
        load(HERE / "cases" / name)
    assert "segviz audit" in caught.value.remedy


README = Path(loaders.__file__).parent / "README.md"
MARKS = re.compile(r"(<!-- formats: [^\n]*\n).*(<!-- end -->)", re.DOTALL)


def with_table(text: str) -> str:
    """The README with a row per format between its marks."""
    rows = [("format", "what is read", "what is left out"), ("---",) * 3]
    rows += [(each.label, *each.about) for each in LOADERS.values()]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return MARKS.sub(lambda found: f"{found[1]}{table}{found[2]}", text)


def test_the_readme_has_a_row_for_every_format() -> None:
    text = README.read_text("utf-8")
    assert text == with_table(text)
    assert LOADERS["locomo"].about[0] in text


if __name__ == "__main__":
    README.write_text(with_table(README.read_text("utf-8")), "utf-8")
    for folder in FOLDERS:
        found = {path.name: snapshot(path) for path in PATHS if path.parent == folder}
        text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        (folder / "expected.json").write_text(text, "utf-8")
