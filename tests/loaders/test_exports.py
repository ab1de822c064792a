"""Exports of chat programs, made here after their documented shapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from segviz.conversation import Conversation, Corpus
from segviz.loaders import LoadError, load, parse
from segviz.loaders.formats.slack import plain

Nodes = dict[str, dict[str, object]]


def read(document: object, name: str = "conversations.json", **options: object) -> Corpus:
    """Through the front door; a text is taken as it is, other values are written as JSON."""
    text = document if isinstance(document, str) else json.dumps(document)
    return parse(text.encode(), name, **options)  # type: ignore[arg-type]


def said(conversation: Conversation) -> list[tuple[str, str]]:
    """Speaker and text of every turn."""
    return [(turn.speaker, turn.text) for turn in conversation.turns]


def found(corpus: Corpus) -> list[tuple[str, str, str]]:
    """Kind, place and message of every finding."""
    return [(f.kind, f.where, f.what) for f in corpus.report.findings]


# --- ChatGPT -------------------------------------------------------------------------


def message(
    role: str = "user", text: object = "hi", time: object = 1.7e9, **extra: object
) -> object:
    """A message of ChatGPT's export; a text becomes the only part."""
    content = {"content_type": "text", "parts": [text]} if isinstance(text, str) else text
    return {"author": {"role": role}, "content": content, "create_time": time, **extra}


def node(key: str, parent: str | None, *children: str, said: object = None) -> dict[str, object]:
    """A node of the tree."""
    return {"id": key, "parent": parent, "children": list(children), "message": said}


def tree(*nodes: dict[str, object], **extra: object) -> dict[str, object]:
    """A conversation with these nodes."""
    mapping = {str(each["id"]): each for each in nodes}
    return {"title": "Boats", "create_time": 1.7e9, "mapping": mapping, **extra}


FORK = (
    # Not in the order of the talk: the tree decides.
    node("old", "ask", said=message("assistant", "first answer")),
    node("root", None, "sys"),
    node("sys", "root", "ask", said=message("system", "be kind")),
    node("ask", "sys", "old", "new", said=message("user", "a question")),
    node("new", "ask", said=message("assistant", "second answer", 1.7e9 + 60)),
)


@pytest.mark.parametrize(
    ("current", "answer", "repaired"),
    [
        ("new", "second answer", 0),
        ("old", "first answer", 0),
        (None, "second answer", 1),
        ("gone", "second answer", 1),
    ],
)
def test_chatgpt_reads_the_branch_that_is_shown(
    current: str | None, answer: str, repaired: int
) -> None:
    corpus = read([tree(*FORK, current_node=current)])
    assert corpus.ids == ("Boats",)
    assert corpus.report.source_format == "ChatGPT export"
    assert said(corpus[0]) == [("user", "a question"), ("assistant", answer)]
    assert corpus[0].speakers == ("user", "assistant")
    assert corpus[0].sessions[0].start == datetime(2023, 11, 14, 22, 13, 20)
    assert len(corpus.report.repaired) == repaired
    assert [row for row in found(corpus) if row[0] == "skipped"] == [
        ("skipped", "[0].mapping", "messages left out: 1 system"),
        (
            "skipped",
            "[0].mapping",
            "1 message on other branches (edits, other answers) left out",
        ),
    ]


def test_chatgpt_circles_missing_parents_and_two_roots() -> None:
    circle = tree(
        node("a", "b", "b", said=message(text="one")),
        node("b", "a", "a", said=message(text="two")),
        current_node="b",
    )
    corpus = read(circle)
    assert said(corpus[0]) == [("user", "one"), ("user", "two")]
    assert found(corpus)[0][2] == "the branch goes round in a circle; read from here"
    torn = tree(node("b", "lost", said=message(text="two")), current_node="b")
    assert found(read(torn))[0][2] == "the branch breaks off: a parent is missing; read from here"
    roots = tree(
        node("a", None, said=message(text="one")), node("b", None, said=message(text="two"))
    )
    assert said(read(roots)[0]) == [("user", "one")]
    chain = [
        node(f"n{i}", f"n{i - 1}" if i else None, f"n{i + 1}", said=message()) for i in range(5000)
    ]
    assert len(read(tree(*chain))[0].turns) == 5000


def test_chatgpt_leaves_out_what_is_no_talk() -> None:
    aside = [
        message(metadata={"is_visually_hidden_from_conversation": True}),
        message(weight=0),
        message("assistant", "print()", recipient="python"),
        message("assistant", {"content_type": "thoughts", "thoughts": []}),
        message("tool", "42"),
        message("assistant", ""),
        message("user", {"content_type": "text", "parts": ["kept"]}),
        message("user", {"content_type": "code", "text": "x = 1"}),
    ]
    nodes = [node(f"n{i}", f"n{i - 1}" if i else None, said=each) for i, each in enumerate(aside)]
    corpus = read([tree(*nodes, current_node="n7")])
    assert said(corpus[0]) == [("user", "kept"), ("user", "x = 1")]
    assert found(corpus) == [
        (
            "skipped",
            "[0].mapping",
            "messages left out: 2 hidden, 1 to tools, 1 thoughts, 1 tool, 1 empty",
        )
    ]


def test_chatgpt_pictures_and_speech() -> None:
    parts = [
        "look",
        {"content_type": "image_asset_pointer", "metadata": {"dalle": {"prompt": "a red boat"}}},
        {"content_type": "audio_transcription", "text": "spoken"},
        {"content_type": "image_asset_pointer"},
    ]
    content = {"content_type": "multimodal_text", "parts": parts}
    (turn,) = read(tree(node("a", None, said=message(text=content))))[0].turns
    assert (turn.text, turn.caption) == ("look\nspoken", "a red boat")


def test_chatgpt_silence_begins_a_session() -> None:
    times = [1.7e9, 1.7e9 + 3600, 1.7e9 + 12 * 3600, None]
    nodes = [
        node(f"n{i}", f"n{i - 1}" if i else None, said=message(time=time))
        for i, time in enumerate(times)
    ]
    chat = tree(*nodes, current_node="n3")
    assert [len(s.turns) for s in read(chat)[0].sessions] == [2, 2]
    for hours in (24, 1e300, float("inf")):
        assert [len(s.turns) for s in read(chat, gap_hours=hours)[0].sessions] == [4]
    assert [len(s.turns) for s in read(chat, gap_hours=0.5)[0].sessions] == [1, 1, 2]


def test_chatgpt_chats_without_messages_are_left_out() -> None:
    corpus = read([tree(node("r", None)), tree(*FORK), {"mapping": 5}, 7])
    assert corpus.ids == ("Boats",)
    assert [row[:2] for row in found(corpus) if row[1] != "[1].mapping"] == [
        ("skipped", "[0]"),
        ("repaired", "[0].current_node"),
        ("repaired", "[1].current_node"),
        ("skipped", "[2].mapping"),
        ("skipped", "[3]"),
    ]


# --- Claude --------------------------------------------------------------------------


def claude(*messages: object, **extra: object) -> dict[str, object]:
    """A chat of Claude's export."""
    return {"uuid": "u-1", "name": "Knots", "chat_messages": list(messages), **extra}


def test_claude_blocks_and_texts() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "text": "hm"},
        {"type": "text", "text": "one"},
        {"type": "tool_use", "input": {}},
        {"type": "text", "text": "two"},
    ]
    chat = claude(
        {"sender": "human", "text": "plain", "created_at": "2024-05-01T10:00:00.123456Z"},
        {"sender": "assistant", "text": "", "content": blocks, "attachments": [{}, {}]},
        {"sender": "assistant", "text": "", "content": []},
    )
    corpus = read([chat])
    assert corpus.report.source_format == "Claude export"
    assert said(corpus["Knots"]) == [("human", "plain"), ("assistant", "one\ntwo")]
    assert str(corpus[0].sessions[0].start) == "2024-05-01 10:00:00.123456"
    what = "messages left out: 2 attachments, 1 without words"
    assert found(corpus) == [("skipped", "[0].chat_messages", what)]


def test_claude_nameless_and_empty_chats_and_json_lines() -> None:
    chats = [claude({"sender": "human", "text": "x"}, name=""), claude()]
    for document in (chats, "\n".join(map(json.dumps, chats))):
        corpus = read(document)
        assert corpus.ids == ("u-1",)
        assert [f.what for f in corpus.report.skipped] == [
            "no messages; the conversation is left out"
        ]


@pytest.mark.parametrize(("leaf", "answer"), [("c", "late"), ("b", "early"), (None, "late")])
def test_claude_branches(leaf: str | None, answer: str) -> None:
    messages = [
        {"uuid": "a", "parent_message_uuid": None, "sender": "human", "text": "ask"},
        {"uuid": "b", "parent_message_uuid": "a", "sender": "assistant", "text": "early"},
        {"uuid": "c", "parent_message_uuid": "a", "sender": "assistant", "text": "late"},
    ]
    corpus = read([claude(*messages, current_leaf_message_uuid=leaf)])
    assert [text for _, text in said(corpus[0])] == ["ask", answer]
    assert found(corpus)[0][2] == "messages left out: 1 on other branches"
    messages[2]["parent_message_uuid"] = "b"
    assert [text for _, text in said(read([claude(*messages)])[0])] == ["ask", "early", "late"]


# --- OpenAI, ShareGPT ----------------------------------------------------------------

TALK = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    {"role": "assistant", "content": None, "tool_calls": [{}]},
    {"role": "tool", "content": "42"},
    {"role": "assistant", "content": "hello"},
]


@pytest.mark.parametrize(
    ("document", "ids"),
    [
        (TALK, ("conversations",)),
        ({"messages": TALK}, ("conversations",)),
        ({"messages": TALK, "title": "T"}, ("T",)),
        ([{"messages": TALK}, {"messages": TALK}], ("conversations 1", "conversations 2")),
        ([TALK], ("conversations",)),
        (
            "\n".join(json.dumps({"messages": TALK}) for _ in "ab"),
            ("conversations 1", "conversations 2"),
        ),
        ("\n".join(json.dumps(each) for each in TALK), ("conversations",)),
    ],
)
def test_openai_messages_in_all_their_wrappings(document: object, ids: tuple[str, ...]) -> None:
    corpus = read(document)
    assert (corpus.ids, corpus.report.source_format) == (ids, "OpenAI messages")
    for conversation in corpus:
        assert said(conversation) == [("user", "hi"), ("assistant", "hello")]
    left = "messages left out: 1 system, 1 calls of tools, 1 tool"
    assert [row[2] for row in found(corpus)] == [left] * len(corpus)


def test_openai_broken_messages() -> None:
    corpus = read([*TALK, 5, {"role": None, "content": "x"}, {"role": "user", "content": {}}])
    assert said(corpus[0])[-1] == ("Unknown", "x")
    assert [row[:2] for row in found(corpus)] == [
        ("skipped", "file"),
        ("skipped", "[5]"),
        ("repaired", "[6].role"),
        ("skipped", "[7].content"),
    ]


def test_sharegpt() -> None:
    page = '<div class="x"><p>one</p><p>two &amp; <b>three</b></p><script>bad()</script></div>'
    chat = {
        "id": "s1",
        "conversations": [
            {"from": "system", "value": "s"},
            {"from": "gpt", "value": page},
            {"from": "human", "value": "a < b and <script> stay"},
        ],
    }
    for document in (chat, [chat], json.dumps(chat) + "\n" + json.dumps({**chat, "id": "s2"})):
        corpus = read(document)
        assert corpus.ids[0] == "s1"
        assert corpus.report.source_format == "ShareGPT"
        assert said(corpus[0]) == [
            ("gpt", "one\ntwo & three"),
            ("human", "a < b and <script> stay"),
        ]
        assert corpus[0].speakers == ("human", "gpt")
    assert [row[2] for row in found(read(chat))] == [
        "messages left out: 1 system",
        "1 message in HTML read as text",
    ]


# --- Slack ---------------------------------------------------------------------------


def post(
    text: str = "hi", user: str = "U1", ts: str = "1700000000.000100", **extra: object
) -> object:
    """A message of Slack's export."""
    return {"type": "message", "user": user, "text": text, "ts": ts, **extra}


@pytest.fixture
def slack_folder(tmp_path: Path) -> Path:
    """An export of two channels."""
    people = [
        {"id": "U1", "name": "ann1", "profile": {"display_name": "Ann", "real_name": "Ann A."}},
        {"id": "U2", "name": "bob2", "real_name": "Bob B.", "profile": {"display_name": ""}},
    ]
    days = {
        "general/2023-11-14.json": [
            post("second &lt;b&gt;", "U2", "1700000001.000000"),
            post("first <@U2>", "U1", "1700000000.000000"),
            post("joined", subtype="channel_join"),
            post("beep", bot_id="B1"),
        ],
        "general/2023-11-15.json": [post("next day", "U9", "1700086400.000000")],
        "random/2023-11-14.json": [post("<https://x.example|a page> and <#C1|general> <!here>")],
        "random/2023-11-16.json": [],
        "channels.json": [{"id": "C1", "name": "general"}],
        "users.json": people,
    }
    for name, value in days.items():
        file = tmp_path / "export" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))
    return tmp_path / "export"


def test_slack_folder(slack_folder: Path) -> None:
    corpus = load(slack_folder)
    assert corpus.ids == ("general", "random")
    assert str(corpus.report) == "export: 4 turns kept, 0 repaired, 2 skipped (Slack export)"
    assert said(corpus["general"]) == [
        ("Ann", "first @Bob B."),
        ("Bob B.", "second <b>"),
        ("U9", "next day"),
    ]
    assert [s.raw_date for s in corpus["general"].sessions] == ["2023-11-14", "2023-11-15"]
    assert said(corpus["random"]) == [("Ann", "a page (https://x.example) and #general @here")]
    assert found(corpus) == [
        (
            "skipped",
            "general/2023-11-14.json",
            "messages left out: 1 channel_join, 1 bot_message",
        ),
        ("skipped", "file", "1 other file not read"),
    ]


def test_slack_damaged_day(slack_folder: Path) -> None:
    (slack_folder / "general" / "2023-11-15.json").write_text('[{"type": "mess')
    (slack_folder / "random" / "2023-11-14.json").write_text('{"a": 1}')
    corpus = load(slack_folder)
    assert corpus.ids == ("general",)
    assert [row[1] for row in found(corpus)] == [
        "general/2023-11-14.json",
        "random/2023-11-14.json",
        "random/2023-11-14.json",
        "general/2023-11-15.json",
        "file",
    ]


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


# --- any value anywhere --------------------------------------------------------------

MAKERS: dict[str, Callable[[], object]] = {
    "chatgpt": lambda: [tree(*FORK, current_node="new")],
    "claude": lambda: [
        claude({"sender": "human", "text": "x", "content": [{"type": "text", "text": "y"}]})
    ],
    "openai": lambda: [{"messages": TALK}],
    "sharegpt": lambda: [{"id": "s", "conversations": [{"from": "human", "value": "x"}]}],
    "slack": lambda: [post()],
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("value", [None, True, 5, -1e300, "x", [], {}, [None], [[5]], {"a": [1]}])
def test_any_value_in_any_place_loads_or_is_refused(maker: str, value: object) -> None:
    text = json.dumps(MAKERS[maker]())
    places: list[list[object]] = [[]]
    for place in places:
        spot = json.loads(text)
        for step in place:
            spot = spot[step]
        if isinstance(spot, dict | list):
            places += [
                [*place, step] for step in (spot if isinstance(spot, dict) else range(len(spot)))
            ]
    for place in places[1:]:
        document = json.loads(text)
        spot = document
        for step in place[:-1]:
            spot = spot[step]
        spot[place[-1]] = value
        try:
            assert read(document).report.kept > 0
        except LoadError as error:
            assert "\n" not in str(error)
