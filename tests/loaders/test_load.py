"""load and parse: paths, names, detection, and the real files."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from segviz import files
from segviz.conversation import Conversation, Corpus
from segviz.loaders import LOADERS, LoadError, load, parse
from tests.data import real_data
from tests.loaders.reading import failure

BARE = {"speaker_a": "Ann", "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "hi"}]}


# --- paths ---------------------------------------------------------------------------


def path_failure(path: str | Path) -> LoadError:
    """The error that loading ``path`` raises."""
    with pytest.raises(LoadError) as caught:
        load(path)
    return caught.value


def test_a_path_as_text_or_path_and_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my chat.json").write_text(json.dumps(BARE))
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in ("~/my chat.json", str(tmp_path / "my chat.json"), tmp_path / "my chat.json"):
        corpus = load(path)
        assert corpus.ids == ("my chat",)
        assert corpus.report.name == "my chat.json"
        assert corpus.report.kept == 1


def test_an_unreadable_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locked.json").write_text("{}")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "read", refuse)
    error = path_failure(tmp_path / "locked.json")
    assert "Permission denied" in error.what
    assert "permissions" in error.remedy


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    assert path_failure(tmp_path / "pipe.json").what.endswith("(a pipe, not an ordinary file)")


@pytest.mark.parametrize(
    "path", ["no.json", " ", "a\0b.json", "x" * 5000, "~no-such-user-here/x.json"]
)
def test_missing_files_and_impossible_paths_are_named_in_short(path: str) -> None:
    error = path_failure(path)
    assert len(error.where) <= 160
    assert any(said in error.what for said in ("no such file", "no path", "name too long"))


# --- names ---------------------------------------------------------------------------


def test_the_name_stands_before_the_place() -> None:
    assert str(failure(b'{"a": ')).startswith("file.json, line 1, column 7: not valid JSON")


def test_a_hostile_name_stays_literal_but_short() -> None:
    name = "<img src=x onerror=alert(1)> **b** $x$.json"
    assert failure(b"", name=name).where == name
    assert parse(json.dumps(BARE).encode(), name).ids == (name.removesuffix(".json"),)
    where = failure(b"", name="a" * 3000 + ".json").where
    assert where == "a" * 39 + "…" + "a" * 15 + ".json"
    assert failure(b"", name="a\nb\ud800\0.json").where == "a b\ufffd\ufffd.json"


def test_shortening_does_not_cut_an_emoji_sequence_or_an_accent() -> None:
    for unit in ("🧘\u200d♀\ufe0f", "e\u0301"):
        where = failure(b"", name="a" * (40 - len(unit) + 1) + unit * 40 + "x").where
        head, tail = where.split("…")
        assert head.replace(unit, "").strip("a") == ""
        assert tail.replace(unit, "") == "x"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("", "conversation"), (".json", ".json"), ("a.b.json", "a.b"), ("noext", "noext")],
)
def test_the_stem_names_a_bare_conversation(name: str, expected: str) -> None:
    assert parse(json.dumps(BARE).encode(), name).ids == (expected,)


# --- detection -----------------------------------------------------------------------


def test_the_name_plays_no_part_in_detection() -> None:
    assert parse(json.dumps(BARE).encode(), "picture.png").report.source_format == "LoCoMo"


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ([{"a": 1, "b": 2, "c": 3}] * 12, "a list of 12 objects with keys a, b, c"),
        ([{}], "a list of 1 object with no keys"),
        ({str(n): n for n in range(9)}, "an object with keys 0, 1, 2, 3, 4, 5, 6, 7, …"),
        (["x", "y"], "a list of 2 texts"),
        ([1, "x"], "a list of 2 items"),
        ("secret words", "a text"),
        # A data set that is not read: PerLTQA.
        (
            {"Lin": {"profile": {}, "dialogues": {"d": {"contents": {"2022-05-10": ["Lin: x"]}}}}},
            "an object with key Lin",
        ),
    ],
)
def test_unknown_shapes_are_described(document: object, found: str) -> None:
    error = failure(json.dumps(document).encode())
    assert found in error.what
    assert 2 <= sum(loader.label in error.expected for loader in LOADERS.values()) <= 3
    assert f"all {len(LOADERS)} formats: segviz/loaders/README.md" in error.expected


# --- the real files ------------------------------------------------------------------

MEASURED = {
    # id: turns, sessions with turns, questions by category 1-5, paper units
    "conv-26": (419, 19, (32, 37, 13, 70, 47), 204),
    "conv-30": (369, 19, (11, 26, 0, 44, 24), 177),
    "conv-43": (680, 29, (31, 26, 14, 107, 64), 326),
    "conv-47": (689, 31, (20, 34, 13, 83, 40), 329),
    "conv-49": (509, 25, (37, 33, 13, 73, 40), 240),
}


def measured(conversation: Conversation) -> tuple[int, int, tuple[int, ...], int]:
    """The numbers of ``MEASURED`` for one conversation."""
    categories = Counter(question.category for question in conversation.questions)
    return (
        len(conversation.turns),
        len(conversation.sessions),
        tuple(categories[number] for number in range(1, 6)),
        len(conversation.units("paper")),
    )


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """The five real conversations of LoCoMo."""
    return load(real_data("locomo", "locomo5.json"))


def test_locomo_counts(corpus: Corpus) -> None:
    assert {c.id: measured(c) for c in corpus} == MEASURED
    assert corpus.report.kept == sum(turns for turns, *_ in MEASURED.values())
    assert len(corpus["conv-47"].units("exchange")) == 355
    assert len(corpus["conv-47"].units("turn")) == 689
    assert corpus["conv-47"].speakers == ("James", "John")
    assert [t.id for t in corpus["conv-26"].turns[:2]] == ["D1:1", "D1:2"]
    assert corpus["conv-26"].sessions[-1].id == "session_19"
    assert str(corpus["conv-26"].sessions[0].start) == "2023-05-08 13:56:00"


def test_locomo_findings_are_the_known_ones(corpus: Corpus) -> None:
    assert [(f.kind, f.where) for f in corpus.report.findings] == [
        ("skipped", "[0].conversation"),
        ("repaired", "[0].qa[37].evidence[0]"),
        ("repaired", "[2].qa[18].evidence[4]"),
        ("repaired", "[3].qa[38].evidence[0]"),
        ("repaired", "[4].qa[31].evidence[0]"),
        ("repaired", "[4].qa[38].evidence[0]"),
        ("repaired", "[4].qa[46].evidence[0]"),
    ]


def test_locomo_answers_of_category_5(corpus: Corpus) -> None:
    adversarial = [q for c in corpus for q in c.questions if q.category == 5]
    # Two of conv-26 have a true answer as well; all have the tempting wrong one.
    assert [q.index for q in adversarial if q.answer is not None] == [167, 178]
    assert [q.index for q in adversarial if q.adversarial is None] == []
    others = [q for c in corpus for q in c.questions if q.category != 5]
    assert [q.index for q in others if q.answer is None] == []


def test_the_bare_shape_has_the_same_turns_as_the_list(corpus: Corpus) -> None:
    bare, listed = load(real_data("locomo", "conv-47-bare.json")), corpus["conv-47"]
    assert bare.ids == ("conv-47-bare",)
    assert bare[0].turns == listed.turns
    assert bare[0].sessions == listed.sessions
    assert bare[0].speakers == listed.speakers
