"""Messages in JSON: branches, wrappings, what is left out, keys in any spelling; Slack's markup."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from segviz.loaders import load
from segviz.loaders.formats.slack import plain
from tests.loaders.reading import findings, only, read, said
from tests.loaders.test_formats import SAMPLES


def tree(*nodes: tuple[str, str | None], **extra: object) -> dict[str, object]:
    """A chat of ChatGPT's export: ids of messages with those of their parents."""
    mapping = {
        key: {
            "parent": parent,
            "message": {"author": {"role": "user"}, "create_time": 1.7e9, "content": key},
        }
        for key, parent in nodes
    }
    return {"title": "Boats", "mapping": mapping, **extra}


@pytest.mark.parametrize(
    ("chat", "texts"),
    [
        (tree(("b", "a"), ("a", None), ("c", "a"), current_node="c"), ["a", "c"]),
        (tree(("b", "a"), ("a", None), ("c", "a"), current_node="b"), ["a", "b"]),
        (tree(("b", "a"), ("a", None), ("c", "a"), current_node="gone"), ["a", "c"]),
        (tree(("a", "b"), ("b", "a"), current_node="b"), ["a", "b"]),  # a circle
        (tree(("b", "lost"), current_node="b"), ["b"]),
        (tree(("a", None), ("b", None)), ["b"]),
        (tree(*((str(i), str(i - 1) if i else None) for i in range(5_000))), None),
    ],
)
def test_of_a_tree_the_branch_that_is_shown(chat: object, texts: list[str] | None) -> None:
    expected = texts or [str(i) for i in range(5_000)]
    assert [turn.text for turn in only([chat]).turns] == expected


def test_a_silence_begins_a_session() -> None:
    times = [1.7e9, 1.7e9 + 3600, 1.7e9 + 12 * 3600, None]
    rows = [{"role": "user", "content": "x", "create_time": time} for time in times]
    assert [len(s.turns) for s in read(rows)[0].sessions] == [2, 2]
    for hours in (24, 1e300, float("inf")):
        assert [len(s.turns) for s in read(rows, gap_hours=hours)[0].sessions] == [4]
    assert [len(s.turns) for s in read(rows, gap_hours=0.5)[0].sessions] == [1, 1, 2]


@pytest.mark.parametrize(
    ("seconds", "texts", "notes"),
    [
        ([0, 100, 200], "abc", 0),
        ([200, 100, 0], "cba", 1),
        ([200, 200, 0], "cba", 1),
        ([200, 0, 100], "abc", 1),
        ([0, 100, 90], "abc", 1),
        ([100, 99], "ab", 1),  # clocks of two machines
    ],
)
def test_messages_that_descend_throughout_are_turned_round(
    seconds: list[int], texts: str, notes: int
) -> None:
    rows = [
        {"role": "user", "content": text, "ts": 1_700_000_000 + second}
        for text, second in zip("abc", seconds, strict=False)
    ]
    assert "".join(turn.text for turn in only(rows).turns) == texts
    assert len(findings(rows)) == notes


TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


@pytest.mark.parametrize(
    ("document", "ids"),
    [
        (TALK, ("file",)),
        ({"messages": TALK}, ("file",)),
        ({"messages": TALK, "title": "T"}, ("T",)),
        ([{"messages": TALK}, {"messages": TALK}], ("file 1", "file 2")),
        ([TALK], ("file",)),
        ([TALK, TALK], ("file 1", "file 2")),
        ({"conversation": [TALK, TALK], "id": 7}, ("file",)),
        ({"data": {"deep": {"one": TALK, "two": TALK}}}, ("one", "two")),
        ("\n".join(json.dumps({"messages": TALK}) for _ in "ab"), ("file 1", "file 2")),
        ("\n".join(json.dumps(each) for each in TALK), ("file",)),
    ],
)
def test_messages_in_all_their_wrappings(document: object, ids: tuple[str, ...]) -> None:
    corpus = read(document)
    assert (corpus.ids, corpus.report.source_format) == (ids, "OpenAI messages")
    for conversation in corpus:
        assert [turn.text for turn in conversation.turns[:2]] == ["hi", "hello"]
        assert conversation.speakers == ("user", "assistant")
    assert corpus.report.findings == ()


@pytest.mark.parametrize(
    ("aside", "left"),
    [
        ({"role": "system"}, "system"),
        ({"type": "function_call_output"}, "function_call_output"),
        ({"author": {"role": "tool"}}, "tool"),
        ({"weight": 0}, "hidden"),
        ({"metadata": {"is_visually_hidden_from_conversation": True}}, "hidden"),
        ({"author": {"role": "assistant"}, "recipient": "python"}, "to tools"),
        ({"isSidechain": True}, "aside"),
        ({"role": "assistant", "content": None, "tool_calls": [{}]}, "without words"),
        ({"role": "user", "content": [{"type": "tool_result", "text": "ok"}]}, "without words"),
    ],
)
def test_what_nobody_said_is_counted(aside: dict[str, object], left: str) -> None:
    corpus = read([*TALK, {"role": "user", "content": "x", **aside}])
    assert len(corpus[0].turns) == 2
    assert [f.what for f in corpus.report.skipped] == [f"messages left out: 1 {left}"]


def test_broken_messages_are_told_by_their_place() -> None:
    broken = [5, {"role": None, "content": "x"}, {"role": "user", "content": {}}]
    rows = [*TALK, *broken, {"role": "user", "content": True}]
    assert said(rows)[-1] == ("Unknown", "x")
    assert findings(rows) == [
        ("repaired", "[3].role"),
        ("skipped", "[2]"),
        ("skipped", "[4].content"),
        ("skipped", "[5].content"),
    ]


def test_chats_without_messages_are_left_out_and_counted() -> None:
    corpus = read([tree(("a", None)), {"mapping": 5}, 7, {"title": "x", "mapping": {"r": {}}}])
    assert corpus.ids == ("Boats",)
    assert [finding.where for finding in corpus.report.skipped] == ["[1]", "[2]", "[3]"]


@pytest.mark.parametrize("key", ["createdAt", "created_at", "Created At", "timestamp_ms", "ts"])
def test_keys_in_any_spelling(key: str) -> None:
    rows = [{"Sender": "Ann", "MESSAGE": "a", key: 1_700_000_000_000}]
    assert said(rows) == [("Ann", "a")]
    assert str(only(rows).sessions[0].start) == "2023-11-14 22:13:20"


@pytest.mark.parametrize("wrapped", [list, lambda rows: {"turns": rows}, lambda rows: [rows]])
def test_columns_may_be_said_at_any_depth(wrapped: Callable[[object], object]) -> None:
    rows = [{"wer": "Ann", "was": "hallo", "text": "1"}, {"wer": "Bob", "was": "servus"}]
    columns = {"text": "was", "speaker": "wer"}
    assert said(wrapped(rows), columns=columns) == [("Ann", "hallo"), ("Bob", "servus")]


def test_slack_damaged_days_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(SAMPLES / "slack", folder)
    (folder / "general" / "2023-11-15.json").write_text('[{"type": "mess')
    (folder / "general" / "2023-11-16.json").write_text('{"a": 1}')
    corpus = load(folder)
    assert [len(s.turns) for s in corpus["general"].sessions] == [2]
    assert {finding.where for finding in corpus.report.findings} >= {
        "general/2023-11-15.json",
        "general/2023-11-16.json",
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<@U1> <@U7> <@U7|zoe>", "@Ann @U7 @zoe"),
        ("<mailto:a@b.c|a@b.c>", "a@b.c"),
        ("<!subteam^S1|@team>", "@@team"),
        ("1 &lt; 2 &amp;amp; <not markup", "1 < 2 &amp; <not markup"),
    ],
)
def test_slack_markup(text: str, shown: str) -> None:
    assert plain(text, {"U1": "Ann"}) == shown
