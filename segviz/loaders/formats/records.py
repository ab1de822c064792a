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
from dataclasses import dataclass

from segviz.conversation import Entry
from segviz.loaders.cells import header, named_rows
from segviz.loaders.chat import Message
from segviz.loaders.columns import (
    ASIDE,
    OWN_IDS,
    SPEAKING,
    Keys,
    guess,
    keys_of,
    read_chats,
    read_messages,
    settle,
)
from segviz.loaders.decode import literal
from segviz.loaders.document import Options, Place, PlainText, spelled, usual_keys
from segviz.loaders.errors import LoadError
from segviz.loaders.file_kinds import is_store
from segviz.loaders.json_scanner import Item
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import Block, WrittenChat, named_after, numbered, rows_of
from segviz.loaders.questions import NAMES, WrittenQuestion, asked_in
from segviz.loaders.report import Notes
from segviz.text.captions import describe
from segviz.text.dates import read_time

TITLES = ("title", "name", "conversation_id", "dialogue_id", "id", "uuid")
"""Keys that may hold the name of a dialogue, the best first."""

_ONE = ("conversation", "sessions", "chat", "dialogue", "dialog")
_HOLDERS = (
    *("messages", "chat_messages", "turns", "utterances", *_ONE),
    *("conversations", "chats", "dialogues", "history", "data"),
)
_QUESTIONS = ("questions", "qa", "qas", "qapairs", "probingquestions")
_WRAPPERS = ("message", "data", "payload", "kwargs", "body", "response")
_PAIRS = (
    (("instruction", "prompt", "query", "input"), ("output", "completion", "response")),
    (("user", "human"), ("assistant", "gpt", "bot")),
)
_TREES = ("mapping", "chat_messages", "messages")
_PARENT = ("parent", "parentid", "parentuuid", "parentmessageid", "parentmessageuuid")
_CURRENT = ("currentnode", "currentid", "currentleafmessageuuid", "currentmessageid")
"""Keys in trees of messages: of the messages, of a parent's id, of the current message's id."""

_KIND = re.compile(r"gen_ai\.(\w+)\.message|(\w+?)Message(?:Chunk)?")
"""Matches names of events (OpenTelemetry) and of classes (LangChain) that name the speaker."""

_NUMBERED = re.compile(r"session\D?[0-9]+", re.IGNORECASE)
_LOOKED_AT = 50
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Form:
    """Kind of file with messages in JSON.

    ``label`` and ``reads`` are its name and its row in the table of formats. ``fits`` recognizes it
    by the key above its first dialogue and by the first message. If ``listed`` is True, a large
    list is read one item at a time.
    """

    label: str
    reads: str
    fits: Callable[[object, Mapping[str, object]], bool]
    listed: bool = False


_LEAVES = "messages of systems and tools, reasoning, other branches, media"

FORMS: dict[str, Form] = {
    "chatgpt": Form(
        "ChatGPT export", "a chat, the branch shown", lambda key, row: key == "mapping", True
    ),
    "claude": Form(
        "Claude export",
        "a chat, the branch shown, pasted texts",
        lambda key, row: key == "chat_messages",
        True,
    ),
    "sharegpt": Form(
        "ShareGPT", "a record", lambda key, row: {"from", "value"} <= row.keys(), True
    ),
    "openai": Form(
        "OpenAI messages",
        "a list of `{role, content}` at any depth; logs of Claude Code and Codex",
        lambda key, row: isinstance(row.get("role"), str) and "content" in row,
    ),
    "records": Form(
        "records (JSON, JSON Lines, Parquet)",
        "a list of objects with a text at any depth, by usual names or `columns=`; a list of "
        "pairs of prompt and reply; questions beside it: see below",
        lambda key, row: True,
    ),
}
"""Maps a name to a kind of file; the first kind that fits a file is used."""


def _loader(form: Form) -> Loader:
    """Returns the loader of a kind of file with messages in JSON."""

    def matches(document: object) -> bool:
        """Returns True if the form fits a message of the document's first dialogue."""
        chat = None if is_store(document) else next(chats_in(document), None)
        if chat is None:
            return False
        rows = [raw for _, raw in chat.blocks[0].rows[:_LOOKED_AT] if isinstance(raw, dict)]
        key = next((step for step in reversed(chat.place) if isinstance(step, str)), "")
        return any(form.fits(key, raw) for raw in rows or [{}])

    def read(document: object, name: str, options: Options) -> Reading:
        """Reads all dialogues of a document; the notes say which columns were used."""
        notes = Notes()
        text_key = (options.columns or {}).get("text")
        chats = list(chats_in(document, text_key=text_key))
        rows = [raw for chat in chats for block in chat.blocks for _, raw in block.rows]
        if not chats:  # no list of records has the user's columns
            rows = [raw for _, raw in rows_of(document)]
        some = (raw for raw in rows[:_LOOKED_AT] if isinstance(raw, dict))
        # The keys of the first records are the columns of the file.
        headers = list(dict.fromkeys(key for raw in some for key in raw))
        columns = settle(headers, options.columns) if headers else {}
        _note_rest(document, chats, notes)
        for number, chat in enumerate(chats):
            chat.name = chat.name or numbered(name, number, len(chats))
        keys = Keys(columns, options.columns or {})
        conversations = read_chats(chats, keys, form.label, options, notes)
        if not form.listed:
            notes.headers, notes.columns = tuple(headers), columns
        return conversations, notes

    asks = ("columns", "day_first", "gap_hours")
    entry = _entry if form.listed else None
    return Loader(form.label, matches, read, asks, entry, (form.reads, _LEAVES))


def messages_in(document: object) -> list[Message]:
    """Returns the messages in a JSON value: one message, or an object with a list of them."""
    chats = list(chats_in([document]))
    rows = (raw for chat in chats for block in chat.blocks for _, raw in block.rows)
    columns = guess([key for raw in rows if isinstance(raw, dict) for key in raw])
    read_messages(chats, Keys(columns, fixed={}), Options(), Notes())  # fills chat.messages
    return [message for chat in chats for message in chat.messages]


def _entry(item: Item) -> Entry:
    own = item.scalars()
    return Entry(named_after([own.get(key) for key in TITLES], ""), None, None)


def has_rows(document: object, text_key: str | None) -> bool:
    """Returns True for a list with objects, or a document with a dialogue at any depth.

    ``text_key`` is the key of the texts, if the user gives it.
    """
    rows = document if isinstance(document, list) else []
    return any(isinstance(raw, dict) for raw in rows) or any(chats_in(document, text_key=text_key))


def _note_rest(document: object, chats: list[WrittenChat], notes: Notes) -> None:
    """Adds a note for each item of a list that holds no dialogue."""
    places = [chat.place for chat in chats]
    if isinstance(document, list) and () not in places:
        read_rows = {place[0] for place in places}
        for row, raw in enumerate(document):
            if row not in read_rows:
                what = f"expected a conversation with messages, found {describe(raw)}"
                notes.skipped((row,), what)


# --- finding dialogues -----------------------------------------------------------------


def chats_in(
    value: object, place: Place = (), name: str = "", text_key: str | None = None
) -> Iterator[WrittenChat]:
    """Yields all dialogues in a JSON value at any depth, also in JSON within a string.

    ``text_key`` is the key of the texts, if the user gives it.
    """
    value = _unpacked(value)
    if isinstance(value, list):
        if _is_chat(value[:_LOOKED_AT], text_key):
            rows, hidden = _shown(value, place)
            yield WrittenChat(name, place, [Block(rows)], hidden)
        elif pairs := _pairs(value, place):
            yield WrittenChat(name, place, [Block(pairs)])
        elif place and place[-1] in _ONE and _is_nameless(value):
            rows = [((*place, row), _named(raw, row)) for row, raw in enumerate(value)]
            yield WrittenChat(name, place, [Block(rows)], nameless=True)
        elif len(place) < _DEEPEST:
            for row, raw in enumerate(value):
                yield from chats_in(raw, (*place, row), name if len(value) == 1 else "", text_key)
    elif isinstance(value, dict) and len(place) < _DEEPEST:
        some = list(value.values())[:_LOOKED_AT]
        if (
            len(some) > 1
            and all(isinstance(raw, dict) for raw in some)
            and _is_chat(some, text_key)
        ):
            rows = [((*place, key), unwrapped(raw)) for key, raw in value.items()]  # by their ids
            yield WrittenChat(name, place, [Block(rows)])
        else:
            yield from _in_object(value, place, name, text_key)


def _in_object(
    value: Mapping[str, object], place: Place, name: str, text_key: str | None
) -> Iterator[WrittenChat]:
    """Yields the dialogues in an object, with its name, its time and its questions."""
    asked = _asked(value, place)
    for chat in _named_chats(value, place, name, text_key, bool(asked)):
        chat.asked = [*asked, *chat.asked]
        yield chat


def _asked(value: Mapping[str, object], place: Place) -> list[WrittenQuestion]:
    """Returns an object's questions about its dialogue.

    An object with a text under ``question`` is itself the only question, as in ConvoMem.
    """
    if isinstance(value.get("question"), str):
        return [WrittenQuestion(place, value)]
    asked: list[WrittenQuestion] = []
    for key in usual_keys(tuple(value), _QUESTIONS):
        raw = value[key]
        asked += asked_in(literal(raw)[0] if isinstance(raw, str) else raw, (*place, key))
    raws = [each.raw for each in asked if isinstance(each.raw, dict)]
    return asked if any(usual_keys(tuple(raw), NAMES["question"]) for raw in raws) else []


def _named_chats(
    value: Mapping[str, object], place: Place, name: str, text_key: str | None, one: bool
) -> Iterator[WrittenChat]:
    """Yields the dialogues in an object; a single dialogue if ``one`` is True."""
    name = named_after([value.get(key) for key in TITLES], name)
    began = next((value[key] for key in keys_of(tuple(value), "time")), None)
    # A tree of messages, then a usual key of chats, decide; else any other key may hold chats.
    for nodes in _TREES:
        if (chat := _branch(value, (*place, nodes), nodes)) is not None:
            chat.name, chat.blocks[0].began = name, began
            yield chat
            return
    for key in _HOLDERS:
        chats = _chats_under(value, key, place, name, text_key)
        if len(chats) > 1 and (key in _ONE or one):
            chats = [_joined(chats, name, (*place, key))]
        yield from _dated(chats, began)
        if chats:
            return
    rest = {
        key: list(chats_in(value[key], (*place, key), named_after([key], ""), text_key))
        for key in value
        if key not in _HOLDERS and spelled(key) not in (*_QUESTIONS, *NAMES["evidence"])
    }
    rest = {key: chats for key, chats in rest.items() if chats}
    # Keys such as session_1 or 2025-01-09 are sessions of one chat.
    dated = {key: read_time(key) for key in rest}
    several = len(rest) > 1 or any(dated.values())
    if several and all(_NUMBERED.fullmatch(key) or dated[key] for key in rest):
        rest = {"": _sessions(rest, dated, name, place)}
    for chats in rest.values():
        yield from _dated(chats, began)


def _dated(chats: Sequence[WrittenChat], began: object) -> Sequence[WrittenChat]:
    """Gives the time of an object to the dialogues in it that have none."""
    for chat in chats:
        for block in chat.blocks:
            block.began = began if block.began is None else block.began
    return chats


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
        rows = named_rows(value) if len(names) > 1 else []
        if rows and (text is None or rows[0].get(text, "").startswith("[{")):
            return rows
    return None


def _pairs(rows: list[object], place: Place) -> list[tuple[Place, object]]:
    """Returns two messages for each object such as {prompt, completion}; [] for other lists."""
    some = [isinstance(raw, dict) and bool(_pair(raw)) for raw in rows[:_LOOKED_AT]]
    if 2 * sum(some) <= len(some):
        return []
    pairs = enumerate(_pair(raw) if isinstance(raw, dict) else [] for raw in rows)
    return [((*place, row), message) for row, pair in pairs for message in pair]


def _pair(raw: Mapping[str, object]) -> list[dict[str, object]]:
    """Returns the prompt of a pair as the user's message, and the reply as the assistant's."""
    keys = tuple(raw)
    if any(isinstance(raw.get(key), list) for key in _HOLDERS):
        return []
    for prompts, replies in _PAIRS:
        asked, answered = (
            next((raw[key] for key in usual_keys(keys, names)), None)
            for names in (prompts, replies)
        )
        if isinstance(asked, str) and isinstance(answered, str):
            more = raw.get("input")
            if isinstance(more, str) and more.strip() and more != asked:
                asked = f"{asked}\n{more}"
            meanings = ("time", "session", "conversation")
            own = {key: raw[key] for meaning in meanings for key in keys_of(keys, meaning)}
            pair = (("user", asked), ("assistant", answered))
            return [{**own, "speaker": who, "text": text} for who, text in pair]
    return []


def _shown(value: list[object], place: Place) -> tuple[list[tuple[Place, object]], int]:
    """Returns the messages of a list with their places, and the number of hidden ones.

    If replies are the ``children`` of a message, only the last child of each message is shown.
    """
    rows = [((*place, row), unwrapped(raw)) for row, raw in enumerate(value)]
    siblings, hidden = rows, 0
    while siblings:
        at, last = siblings[-1]
        children = last.get("children") if isinstance(last, dict) else None
        siblings = [
            ((*at, "children", row), unwrapped(raw))
            for row, raw in enumerate(children if isinstance(children, list) else ())
            if isinstance(raw, dict)
        ]
        rows = rows + siblings[-1:]
        hidden += len(siblings[:-1])
    return rows, hidden


def _is_nameless(rows: list[object]) -> bool:
    """Returns True if all records have a text, and no speaker, time or session."""
    some = [list(guess(list(raw))) if isinstance(raw, dict) else [] for raw in rows[:_LOOKED_AT]]
    return bool(some) and all(meanings == ["text"] for meanings in some)


def _named(raw: object, row: int) -> object:
    return {**raw, "speaker": f"Speaker {row % 2 + 1}"} if isinstance(raw, dict) else raw


def unwrapped(raw: object) -> object:
    """Returns the message in a record such as ``{type, message: {…}}``, with the keys of both."""
    if not isinstance(raw, dict) or str(raw.get("type")) in ASIDE:
        return raw
    for key in _WRAPPERS:
        if isinstance(inner := raw.get(key), dict) and keys_of(tuple(inner), "text"):
            whole = {name: value for name, value in raw.items() if name != key} | inner
            # LangChain writes the names of classes as a list in ``id``, OpenTelemetry a ``name``.
            kind = (
                raw["id"][-1] if isinstance(raw.get("id"), list) and raw["id"] else raw.get("name")
            )
            if isinstance(kind, str) and (known := _KIND.fullmatch(kind)):
                whole |= {"name": None, "role": (known[1] or known[2]).lower()}
            return whole
    return raw


def _is_chat(rows: list[object], text_key: str | None) -> bool:
    """Returns True if most records are messages: a text and a speaker, time or session.

    With ``text_key``, the user's key of the texts, it suffices that some record has this key.
    """
    some = [raw for raw in map(unwrapped, rows) if isinstance(raw, dict)]
    some = [raw for raw in some if str(raw.get("type")) not in ASIDE]
    if text_key is not None:
        return any(text_key in raw for raw in some)
    known = [(raw, guess(list(raw))) for raw in some]
    fits = [
        raw[keys["text"]]
        for raw, keys in known
        if "text" in keys and (len(keys) > 1 or str(raw.get("type")) in SPEAKING)
    ]
    # A record with a list of messages under its text key is a session, not a message.
    fits = [text for text in fits if not (isinstance(text, list) and _is_chat(text, None))]
    return any(isinstance(text, str | list | dict) for text in fits) and len(fits) * 2 >= len(some)


def _is_thread(
    placed: Mapping[str, tuple[Place, dict[str, object]]], parents: Mapping[str, object]
) -> bool:
    """Returns True if several speakers reply to one message: a thread, which is read whole.

    Replies by one speaker are repeated attempts instead.
    """
    by: dict[str, set[str]] = {}
    for key, above in parents.items():
        raw = placed[key][1]
        by.setdefault(str(above), set()).add(
            str([raw.get(k) for k in keys_of(tuple(raw), "speaker")])
        )
    return any(len(speakers) > 1 for speakers in by.values())


def _placed(block: object, place: Place, own: str) -> dict[str, tuple[Place, dict[str, object]]]:
    """Returns the messages of an object or list by their ids, each with its place in the file."""
    if isinstance(block, dict):
        return {key: ((*place, key), raw) for key, raw in block.items() if isinstance(raw, dict)}
    return {
        str(raw[own]): ((*place, row), raw)
        for row, raw in enumerate(block if isinstance(block, list) else ())
        if isinstance(raw, dict) and own in raw
    }


def _branch(value: Mapping[str, object], place: Place, nodes: str) -> WrittenChat | None:
    """Returns the branch that a chat program shows of the tree of messages under the key ``nodes``.

    The branch leads from the root to the message that the object calls current, else to the last
    one. Returns None if there is no tree, a list without branches, or a thread.
    """
    block = value.get(nodes)
    listed = block.values() if isinstance(block, dict) else block if isinstance(block, list) else ()
    # The keys of a message's id and of its parent's; of the current message's id.
    keys = dict.fromkeys(key for raw in listed if isinstance(raw, dict) for key in raw)
    own, parent = (
        next((key for key in keys if spelled(key) in usual), "") for usual in (OWN_IDS, _PARENT)
    )
    current = next((key for key in value if spelled(key) in _CURRENT), "")
    placed = _placed(block, place, own)
    parents = {key: raw[parent] for key, (_, raw) in placed.items() if parent in raw}
    if not parents:
        return None
    if isinstance(block, list):
        # No message with two replies, or ids that are numbers: the list is read in order.
        above = [each for each in parents.values() if isinstance(each, str)]
        if len(set(above)) == len(above) or _is_thread(placed, parents):
            return None
    # From the current message, else the last one, up to the root.
    here = value.get(current)
    if not isinstance(here, str) or here not in parents:
        here = next(reversed(parents))
    way: dict[str, None] = {}
    while isinstance(here, str) and here in parents and here not in way:
        way[here] = None
        here = parents[here]
    shown = [placed[key] for key in reversed(way)]
    rows = [(at, unwrapped(raw)) for at, raw in shown if raw.get("message", "") is not None]
    # Messages with a text on other branches, which are counted only.
    off_branch = [unwrapped(raw) for key, (_, raw) in placed.items() if key not in way]
    others = sum(isinstance(raw, dict) and bool(keys_of(tuple(raw), "text")) for raw in off_branch)
    return WrittenChat("", place, [Block(rows)], others)


LOADERS = {name: _loader(form) for name, form in FORMS.items()}
