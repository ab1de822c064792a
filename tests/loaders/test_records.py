"""Messages in JSON: wrappings, order, keys in any spelling; Slack's markup."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from segviz.loaders import LoadError, load
from segviz.loaders.columns import ALIASES
from segviz.loaders.formats.slack import plain
from tests.loaders.reading import only, read, said
from tests.loaders.test_formats import SAMPLES


def test_a_long_branch_is_followed_to_its_root() -> None:
    mapping = {
        str(i): {"parent": str(i - 1), "message": {"author": {"role": "user"}, "content": str(i)}}
        for i in range(5_000)
    }
    found = only([{"title": "Boats", "mapping": mapping}])
    assert [turn.text for turn in found.turns] == [str(i) for i in range(5_000)]


def test_a_silence_begins_a_session() -> None:
    times = [1.7e9, 1.7e9 + 3600, 1.7e9 + 12 * 3600, None]
    rows = [{"role": "user", "content": "x", "create_time": time} for time in times]
    assert [len(s.turns) for s in read(rows)[0].sessions] == [2, 2]
    for hours in (24, 1e300, float("inf")):
        assert [len(s.turns) for s in read(rows, gap_hours=hours)[0].sessions] == [4]
    assert [len(s.turns) for s in read(rows, gap_hours=0.5)[0].sessions] == [1, 1, 2]


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


def test_a_chat_whose_fields_have_other_names_needs_a_row_per_field_in_one_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chat = [{"autor": "Ann", "wiadomość": "cześć"}, {"autor": "Bob", "wiadomość": "hej"}]
    with pytest.raises(LoadError):
        read(chat)
    for meaning, name in (("speaker", "autor"), ("text", "wiadomość")):
        monkeypatch.setitem(ALIASES, meaning, (*ALIASES[meaning], name))
    assert said(chat) == [("Ann", "cześć"), ("Bob", "hej")]
    assert read(chat).report.columns == {"speaker": "autor", "text": "wiadomość"}
