"""Reads messages in JSON at any depth: chat exports, ``{role, content}`` lists, agent logs.

A list of objects with a text and a speaker, time or session is a dialogue
(``segviz.loaders.columns`` knows the usual keys). An enclosing object may give it a name, a time
and questions. Several lists under a singular key such as ``conversation`` are the sessions of one
dialogue. If replies branch, the branch that the chat program shows is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from segviz.conversation import Entry
from segviz.loaders.branches import (
    REPLIED,
    nested,
    new_chats,
    shown_branch,
    trees,
    without_snapshots,
)
from segviz.loaders.cells import first_rows, header, named_rows
from segviz.loaders.chat import Message, spoken_lines
from segviz.loaders.columns import (
    Keys,
    guess,
    innermost,
    keys_of,
    read_chats,
    read_messages,
    settle,
)
from segviz.loaders.decode import literal
from segviz.loaders.document import Options, Place, PlainText, spelled, usual_keys
from segviz.loaders.errors import LoadError
from segviz.loaders.exchanges import SIDES, exchanges
from segviz.loaders.file_kinds import is_store, is_trace
from segviz.loaders.json_scanner import Item
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import Block, WrittenChat, named_after, numbered, rows_of
from segviz.loaders.questions import NAMES, QUESTIONS, asked_about
from segviz.loaders.report import Notes
from segviz.loaders.roles import role_of
from segviz.loaders.turn_lists import LOOKED_AT, by_turns, is_chat, is_nameless, unwrapped
from segviz.text.captions import describe
from segviz.text.dates import read_time

TITLES = ("title", "topic", "name", "autoTitle", "conversation_id", "dialogue_id", "id", "uuid")
"""Keys that may hold the name of a dialogue, the best first."""

_ONE = ("conversation", "sessions", "chat", "dialogue", "dialog")

_HOLDERS = (
    *("messages", "chat_messages", "turns", "utterances", *_ONE),
    *("conversations", "chats", "dialogues", "history", "data"),
)

_BESIDE = set(
    "persona personas personality summary summaries sessionsummary memorypoints memories slots "
    "latestmessage pendinginputs parsedata annotations wordsegments words eventsummary "
    "observation settings participants persona_info toolcalls".split()
)
"""Keys beside a dialogue that hold no dialogue."""

_TREES = ("mapping", "chat_messages", "messages")
_NUMBERED = re.compile(r"session\D?[0-9]+", re.IGNORECASE)

_BATCH = {"batch_number", "session_number", "session_index"}
"""Keys that number the sessions of one dialogue."""

_DEEPEST = 8
_PARTIES = {"user": "requesterUsername", "assistant": "responderUsername"}
"""Keys of the names of both sides above the exchanges of VS Code."""


def _loader(
    label: str, reads: str, fits: Callable[[object, Mapping[str, object]], bool], listed: bool
) -> Loader:
    """Returns the loader of a kind of file with messages in JSON.

    ``label`` and ``reads`` are its name and its row in the table of formats. ``fits`` recognizes it
    by the key above its first dialogue and by the first message. If ``listed`` is True, a large
    list is read one item at a time.
    """

    def matches(document: object) -> bool:
        """Returns True if the form fits a message of the document's first dialogue."""
        # The first items decide; all are looked at only if these hold no dialogue.
        first = document[:LOOKED_AT] if isinstance(document, list) else document
        if is_store(document) or is_trace(document):
            return False
        chat = next(chats_in(first), None)
        if chat is None and first is not document:
            chat = next(chats_in(document), None)
        if chat is None:
            return False
        rows = [raw for _, raw in chat.blocks[0].rows[:LOOKED_AT] if isinstance(raw, dict)]
        key = next((step for step in reversed(chat.place) if isinstance(step, str)), "")
        return any(fits(key, raw) for raw in rows or [{}])

    def read(document: object, name: str, options: Options) -> Reading:
        """Reads all dialogues of a document; the notes say which columns were used."""
        notes = Notes()
        text_key = (options.columns or {}).get("text")
        chats = list(chats_in(document, text_key=text_key))
        rows = [raw for chat in chats for block in chat.blocks for _, raw in block.rows]
        if not chats:  # no list of records has the user's columns
            rows = [raw for _, raw in rows_of(document)]
        some = (raw for raw in rows[:LOOKED_AT] if isinstance(raw, dict))
        # The keys of the first records are the columns of the file.
        headers = list(dict.fromkeys(key for raw in some for key in raw))
        columns = settle(headers, options.columns) if headers else {}
        _note_rest(document, chats, notes)
        for number, chat in enumerate(chats):
            chat.name = chat.name or numbered(name, number, len(chats))
        keys = Keys(columns, options.columns or {})
        conversations = read_chats(chats, keys, label, options, notes)
        if not listed:
            notes.headers, notes.columns = tuple(headers), columns
        return conversations, notes

    asks = ("columns", "day_first", "gap_hours")
    entry = _entry if listed else None
    left_out = "messages of systems and tools, reasoning, other branches, media"
    return Loader(label, matches, read, asks, entry, (reads, left_out))


def messages_in(document: object) -> list[Message]:
    """Returns the messages in a JSON value: one message, or an object with a list of them."""
    chats = list(chats_in([document]))
    rows = (raw for chat in chats for block in chat.blocks for _, raw in block.rows)
    columns = guess([key for raw in rows if isinstance(raw, dict) for key in raw])
    read_messages(chats, Keys(columns, fixed={}), Options(), Notes())  # fills chat.messages
    return [message for chat in chats for message in chat.messages]


def _entry(item: Item) -> Entry:
    own = item.scalars()
    return Entry(named_after(map(own.get, TITLES), ""), None, None)


def has_rows(document: object, text_key: str | None) -> bool:
    """Returns True for a list with objects, or a document with a dialogue at any depth.

    ``text_key`` is the key of the texts, if the user gives it.
    """
    rows = document if isinstance(document, list) else []
    return any(isinstance(raw, dict) for raw in rows) or any(chats_in(document, text_key=text_key))


def _note_rest(document: object, chats: list[WrittenChat], notes: Notes) -> None:
    """Adds a note for each item of a list that holds no dialogue."""
    read = {chat.place[:1] for chat in chats}
    for row, raw in enumerate(document if isinstance(document, list) else ()):
        if read.isdisjoint([(), (row,)]):
            what = f"expected a conversation with messages, found {describe(raw)}"
            notes.skipped((row,), what)


def chats_in(
    value: object, place: Place = (), name: str = "", text_key: str | None = None
) -> Iterator[WrittenChat]:
    """Yields all dialogues in a JSON value at any depth, also in JSON within a string.

    ``text_key`` is the key of the texts, if the user gives it.
    """
    value = _unpacked(value)
    if isinstance(value, list):
        chats = [] if text_key else exchanges(value, place, name)
        if chats := chats or _transcripts(value, place, text_key):
            yield from chats
        elif is_chat(value[:LOOKED_AT], text_key):
            yield from trees(value, place, name)
        elif place and place[-1] in _ONE and is_nameless(value):
            rows = [((*place, row), by_turns(raw, row)) for row, raw in enumerate(value)]
            yield WrittenChat(name, place, [Block(rows)], nameless=True)
        elif len(place) < _DEEPEST:
            own = name if len(value) == 1 else ""
            inner = (chats_in(raw, (*place, row), own, text_key) for row, raw in enumerate(value))
            chats = [chat for each in inner for chat in each]
            if chats and any(_BATCH & raw.keys() for raw in value if isinstance(raw, dict)):
                chats = [_joined(chats, name, place)]
            yield from without_snapshots(chats)
    elif isinstance(value, dict) and len(place) < _DEEPEST:
        some = list(value.values())[:LOOKED_AT]
        if len(some) > 1 and all(isinstance(raw, dict) for raw in some) and is_chat(some, text_key):
            rows = [((*place, key), unwrapped(raw)) for key, raw in value.items()]  # by their ids
            yield WrittenChat(name, place, [Block(rows)])
        else:
            asked = asked_about(value, place)
            for chat in _named_chats(value, place, name, text_key, bool(asked)):
                chat.asked = [*asked, *chat.asked]
                yield chat


def _transcripts(value: list[object], place: Place, text_key: str | None) -> list[WrittenChat]:
    """Returns a dialogue for each record whose text is a transcript, in lines ``Name: words``."""
    chats = []
    for row, raw in enumerate(value):
        keys, here = tuple(raw) if isinstance(raw, dict) else (), (*place, row)
        if not isinstance(raw, dict) or usual_keys(keys, ("role", "sender", "speaker")):
            return []
        text = raw.get(text_key or next(iter(keys_of(keys, "text")), ""))
        lines = spoken_lines(text) if isinstance(text, str) else []
        if len({who for who, _ in lines}) < 2:
            return []
        rows = [(here, {"speaker": who, "text": text}) for who, text in lines]
        name = named_after(map(raw.get, TITLES), "")
        chats.append(WrittenChat(name, here, [Block(rows, _time_of(raw))]))
    return chats


def _time_of(raw: Mapping[str, object]) -> object:
    return innermost(next((raw[key] for key in keys_of(tuple(raw), "time")), None))


def _named_chats(
    value: Mapping[str, object], place: Place, name: str, text_key: str | None, one: bool
) -> Iterator[WrittenChat]:
    """Yields the dialogues in an object; a single dialogue if ``one`` is True."""
    if keys_of(tuple(value), "text") and role_of(value)[0] and REPLIED & value.keys():
        rows, hidden = nested([value], place)  # a tree of answers
        yield WrittenChat(name, place, [Block(rows)], hidden)
        return
    title = named_after(map(value.get, TITLES[:4]), "")
    name = title or named_after(map(value.get, TITLES), name)
    # A tree of messages or an exchange decides; else the keys of an object may all hold chats.
    shown = (shown_branch(value, (*place, nodes), nodes) for nodes in _TREES)
    chats: Sequence[WrittenChat] = [replace(chat, name=name) for chat in shown if chat][:1]
    if not chats and text_key is None:
        chats = [replace(chat, place=place) for chat in exchanges([value], place, name)]
    chats = chats or _beside(value, place, name, text_key, one)
    names = {side: value[key] for side, key in _PARTIES.items() if key in value}
    for chat in chats:
        chat.titled |= bool(title) and chat.name == title
        for block in chat.blocks:
            # Without a time or names of its own it has those of the object.
            block.began = _time_of(value) if block.began is None else block.began
            if names:
                block.rows = [
                    (at, raw | {"speaker": names.get(str(raw.get("speaker")), raw.get("speaker"))})
                    for at, raw in block.rows
                    if isinstance(raw, dict)
                ]
        yield chat


def _beside(
    value: Mapping[str, object], place: Place, name: str, text_key: str | None, one: bool
) -> list[WrittenChat]:
    """Returns the dialogues under all keys of an object: first under the usual ones.

    Copies of messages under another key are left out.
    """
    held: list[WrittenChat] = []
    for key in _HOLDERS:
        if key not in value and f"{_PREVIOUS}{key}s" not in value:
            continue
        chats = _chats_under(value, key, place, name, text_key)
        titles = {chat.name for chat in chats if chat.titled}
        if len(chats) > 1 and (one or (key in _ONE and len(titles) < len(chats))):
            chats = [_joined(chats, name, (*place, key))]
        held += new_chats(chats, held)
    if (lists := _parallel(value, place, name)) is not None:
        held.append(lists)
    rest = {
        key: list(chats_in(value[key], (*place, key), named_after([key], ""), text_key))
        for key in value
        if key not in _HOLDERS and spelled(key) not in (*QUESTIONS, *NAMES["evidence"], *_BESIDE)
    }
    if held:
        rest = {key: new_chats(chats, held) for key, chats in rest.items() if _PREVIOUS not in key}
    rest = {key: chats for key, chats in rest.items() if chats}
    # Keys such as session_1 or 2025-01-09 are sessions of one chat.
    dated = {key: read_time(key) for key in rest}
    several = len(rest) > 1 or any(dated.values())
    if several and all(_NUMBERED.fullmatch(key) or dated[key] for key in rest):
        rest = {"": _sessions(rest, dated, name, place)}
    return [*held, *(chat for chats in rest.values() for chat in chats)]


_PREVIOUS = "previous_"


def _parallel(value: Mapping[str, object], place: Place, name: str) -> WrittenChat | None:
    """Returns the dialogue of lists of texts, such as DailyDialog's ``dialog``; else None.

    A list of the same length, ``first_session_speakers``, may name the speakers; several such
    lists are its sessions.
    """
    texts = {
        key: rows
        for key, rows in value.items()
        if isinstance(rows, list) and len(rows) > 1 and all(isinstance(each, str) for each in rows)
    }
    chat = WrittenChat(name, place)
    for key, rows in texts.items():
        if not re.search("dialog|utterance|turns", spelled(key)):
            continue
        named = (
            re.sub("dialogues?|dialogs?|utterances?|turns", each, key)
            for each in ("speakers", "speaker", "roles")
        )
        speakers = next((texts[n] for n in named if len(texts.get(n, ())) == len(rows)), None)
        chat.nameless |= speakers is None
        who = speakers or [f"Speaker {row % 2 + 1}" for row in range(len(rows))]
        messages = [{"speaker": s, "text": t} for s, t in zip(who, rows, strict=True)]
        chat.blocks.append(Block([((*place, key, row), raw) for row, raw in enumerate(messages)]))
    return chat if chat.blocks else None


def _chats_under(
    value: Mapping[str, object], key: str, place: Place, name: str, text_key: str | None
) -> list[WrittenChat]:
    """Returns the dialogues under a key of an object, earlier sessions first."""
    earlier = f"previous_{key}s"  # of Multi-Session Chat
    chats = list(chats_in(value.get(earlier), (*place, earlier), name, text_key))
    chats += chats_in(value.get(key), (*place, key), name, text_key)
    if len(chats) > 1 and key == "turns":  # groups of messages, as in BEAM
        rows = [row for chat in chats for block in chat.blocks for row in block.rows]
        return [WrittenChat(name, (*place, key), [Block(rows)])]
    return chats


def _joined(chats: list[WrittenChat], name: str, place: Place) -> WrittenChat:
    """Joins dialogues into one, as its sessions; questions are asked after their session."""
    whole = WrittenChat(name, place, nameless=any(chat.nameless for chat in chats))
    for chat in chats:
        whole.blocks += chat.blocks
        after = str(len(whole.blocks) - 1)
        whole.asked += [each._replace(after=each.after or after) for each in chat.asked]
    return whole


def _sessions(
    by_key: Mapping[str, list[WrittenChat]], dates: Mapping[str, object], name: str, place: Place
) -> list[WrittenChat]:
    """Joins dialogues under keys such as ``session_1`` or ``2025-01-09``, which are sessions.

    ``by_key`` has the dialogues, ``dates`` the date in each key, if any. Dialogues with
    names of their own are joined by name.
    """
    whole: dict[str, WrittenChat] = {}
    for key, chats in by_key.items():
        for chat in chats:
            for block in chat.blocks:
                block.began = block.began or (key if dates[key] else None)
            own = name if chat.name == key else chat.name
            whole.setdefault(own, WrittenChat(own, place)).blocks.extend(chat.blocks)
    return list(whole.values())


def _unpacked(value: object) -> object:
    """Returns the list that a text holds, or the rows of a table that holds dialogues.

    Other texts become None; any other value is returned unchanged.
    """
    if isinstance(value, str):
        return literal(value)[0] if value.startswith("[{") else None
    if not isinstance(value, PlainText):
        return value
    with suppress(LoadError):
        names = header(value)
        text = guess(names).get("text")
        if len(names) < 2:
            return None
        # The first row decides, so that a long text that is no such table costs nothing.
        row = (first_rows(value, 1) or named_rows(value) or [{}])[0]
        cells = [row.get(text, "")] if text else list(row.values())
        pair = not text and all(usual_keys(tuple(names), side) for side in SIDES.values())
        lists = any(cell.startswith(("[", "{")) for cell in cells)
        if lists or pair or (text and len(spoken_lines(cells[0])) > 1):
            return named_rows(value)
    return None


LOADERS: dict[str, Loader] = {
    "chatgpt": _loader(
        "ChatGPT export", "a chat, the branch shown", lambda key, row: key == "mapping", True
    ),
    "claude": _loader(
        "Claude export",
        "a chat, the branch shown, pasted texts",
        lambda key, row: key == "chat_messages",
        True,
    ),
    "sharegpt": _loader(
        "ShareGPT", "a record", lambda key, row: {"from", "value"} <= row.keys(), True
    ),
    "openai": _loader(
        "OpenAI messages",
        "a list of `{role, content}` at any depth; logs of Claude Code and Codex",
        lambda key, row: isinstance(row.get("role"), str) and "content" in row,
        False,
    ),
    "records": _loader(
        "records (JSON, JSON Lines, Parquet)",
        "a list of objects with a text at any depth, by usual names or `columns=`; a list of "
        "pairs of prompt and reply; questions beside it: see below",
        lambda key, row: True,
        False,
    ),
}
"""Maps a name to the loader of a kind of file; the first kind that fits a file is used."""
