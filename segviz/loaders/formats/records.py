"""Reads messages in JSON at any depth: chat exports, ``{role, content}`` lists, agent logs.

A list of objects with a text and a speaker, time or session is a dialogue
(``segviz.loaders.columns`` knows the usual keys). An enclosing object may give it a name, a time
and questions. Several lists under a singular key such as ``conversation`` are the sessions of one
dialogue. If replies branch, the branch that the chat program shows is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from segviz.conversation import Entry, seconds
from segviz.loaders.cells import first_row, header, named_rows
from segviz.loaders.chat import Message, speech, spoken_lines
from segviz.loaders.columns import (
    OWN_IDS,
    Keys,
    guess,
    keys_of,
    read_chats,
    read_messages,
    settle,
)
from segviz.loaders.decode import DEEPEST, literal
from segviz.loaders.document import Options, Place, PlainText, spelled, usual_keys
from segviz.loaders.errors import LoadError
from segviz.loaders.file_kinds import is_store
from segviz.loaders.json_scanner import Item
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import Block, WrittenChat, named_after, numbered, rows_of
from segviz.loaders.questions import NAMES, WrittenQuestion, asked_in
from segviz.loaders.report import Notes
from segviz.loaders.roles import SPOKEN, is_speech, named_role, role_of
from segviz.text.captions import describe
from segviz.text.dates import read_time

TITLES = ("title", "topic", "name", "autoTitle", "conversation_id", "dialogue_id", "id", "uuid")
"""Keys that may hold the name of a dialogue, the best first."""

_ONE = ("conversation", "sessions", "chat", "dialogue", "dialog")
_HOLDERS = (
    *("messages", "chat_messages", "turns", "utterances", *_ONE),
    *("conversations", "chats", "dialogues", "history", "data"),
)
_QUESTIONS = ("questions", "qa", "qas", "qapairs", "probingquestions")
_WRAPPERS = ("message", "data", "payload", "kwargs", "body", "response", "value")
_REQUESTS = tuple(
    "messages inputmessages prompt instruction query input inputs request message user human "
    "usermessage attributesllminputmessages genaiinputmessages title".split()
)
_REPLIES = tuple(
    "response output outputs completion choices outputmessages assistant gpt bot assistantmessage "
    "attributesllmoutputmessages genaioutputmessages safehtmlitem".split()
)
"""Keys of the two sides of an exchange in a log: what was sent, and what came back."""

_BESIDE = set(
    "persona personas personality summary summaries sessionsummary memorypoints memories slots "
    "latestmessage pendinginputs parsedata annotations wordsegments words eventsummary "
    "observation settings participants persona_info toolcalls".split()
)
"""Keys beside a dialogue that hold no dialogue."""

_TREES = ("mapping", "chat_messages", "messages")
_PARENT = ("parent", "parentid", "parentuuid", "parentmessageid", "parentmessageuuid")
_CURRENT = ("currentnode", "currentid", "currentleafmessageuuid", "currentmessageid")
"""Keys in trees of messages: of the messages, of a parent's id, of the current message's id."""

_NUMBERED = re.compile(r"session\D?[0-9]+", re.IGNORECASE)
_BATCH = {"batch_number", "session_number", "session_index"}
"""Keys that number the sessions of one dialogue."""

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
        # The first items decide; all are looked at only if these hold no dialogue.
        first = document[:_LOOKED_AT] if isinstance(document, list) else document
        chat = None if is_store(document) else next(chats_in(first), None)
        if chat is None and first is not document and not is_store(document):
            chat = next(chats_in(document), None)
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
        if (text_key is None and (chats := _exchanges(value, place, name))) or (
            chats := _transcripts(value, place, text_key)
        ):
            yield from chats
        elif _is_chat(value[:_LOOKED_AT], text_key):
            yield from _trees(value, place, name)
        elif place and place[-1] in _ONE and _is_nameless(value):
            rows = [((*place, row), _named(raw, row)) for row, raw in enumerate(value)]
            yield WrittenChat(name, place, [Block(rows)], nameless=True)
        elif len(place) < _DEEPEST:
            inner = [
                list(chats_in(raw, (*place, row), name if len(value) == 1 else "", text_key))
                for row, raw in enumerate(value)
            ]
            if any(map(_BATCH.intersection, (raw for raw in value if isinstance(raw, dict)))):
                inner = [[_joined(list(chain.from_iterable(inner)), name, place)]]
            yield from _without_snapshots([chat for chats in inner for chat in chats])
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
            asked = _asked(value, place)
            for chat in _named_chats(value, place, name, text_key, bool(asked)):
                chat.asked = [*asked, *chat.asked]
                yield chat


def _transcripts(value: list[object], place: Place, text_key: str | None) -> list[WrittenChat]:
    """Returns a dialogue for each record whose text is a transcript, in lines ``Name: words``."""
    chats = []
    for row, raw in enumerate(value):
        if not isinstance(raw, dict):
            return []
        key = text_key or next(iter(keys_of(tuple(raw), "text")), "")
        lines = spoken_lines(raw[key]) if isinstance(raw.get(key), str) else []
        if len({who for who, _ in lines}) < 2 or usual_keys(
            tuple(raw), ("role", "sender", "speaker")
        ):
            return []
        rows = [((*place, row), {"speaker": who, "text": text}) for who, text in lines]
        name = named_after([raw.get(each) for each in TITLES], "")
        chats.append(WrittenChat(name, (*place, row), [Block(rows)]))
        _dated(chats[-1:], next((raw[each] for each in keys_of(tuple(raw), "time")), None))
    return chats


def _words_of(raw: object) -> tuple[str, str]:
    """Returns the role and the text of a record, by which copies of a message are recognized."""
    if not isinstance(raw, dict):
        return "", ""
    kind = role_of(raw)[0]
    values = (raw[key] for key in keys_of(tuple(raw), "text"))
    return kind, next((text for value in values if (text := _plain_text(value))), "")


def _plain_text(value: object) -> str:
    return value.strip() if isinstance(value, str) else (speech(value)[0] or "").strip()


def _without_snapshots(chats: list[WrittenChat]) -> list[WrittenChat]:
    """Returns the last of snapshots in which one dialogue grows; any other chats unchanged.

    A message gets the time of the first snapshot that has it, if it has none.
    """
    other = any(chat.asked or chat.others or len(chat.blocks) != 1 for chat in chats)
    if other or len({chat.name for chat in chats}) != 1 or len(chats) < 2:
        return chats
    grown = sorted(chats, key=lambda chat: len(chat.blocks[0].rows))
    if any(len(a.blocks[0].rows) == len(b.blocks[0].rows) for a, b in pairwise(grown)):
        return chats
    texts = [[_words_of(raw) for _, raw in chat.blocks[0].rows] for chat in grown]
    for before, after in pairwise(texts):
        if before != after[: len(before)]:
            return chats
    last = grown[-1]
    rows, first = list(last.blocks[0].rows), 0
    for chat in grown:
        stop = len(chat.blocks[0].rows)
        for row in range(first, stop):
            rows[row] = rows[row][0], _with_time(rows[row][1], {"time": chat.blocks[0].began})
        first = stop
    last.blocks[0].rows, last.copies = rows, sum(map(len, texts[:-1]))
    return [last]


def _with_time(raw: object, own: Mapping[str, object]) -> object:
    """Returns a message with the fields of its record that it lacks, such as the time."""
    if not isinstance(raw, dict):
        return raw
    known = {m for m in ("time", "session", "conversation") if keys_of(tuple(raw), m)}
    more = {key: value for key, value in own.items() if value is not None}
    return {key: each for key, each in more.items() if not known & _meaning(key)} | raw


def _meaning(key: str) -> set[str]:
    return {m for m in ("time", "session", "conversation") if keys_of((key,), m)}


# --- request and reply -----------------------------------------------------------------


def _exchanges(value: list[object], place: Place, name: str) -> list[WrittenChat]:
    """Returns the dialogues of a log whose records hold a request and its reply.

    Pairs of two texts make one dialogue. Records whose request is a list of messages repeat what
    was said before: what a record has in common with those before it in the same session is read
    once; a record without a session is a dialogue. Users and workspaces are dialogues.
    """
    value = [_flat(raw) for raw in value]
    read = [_sides(raw) if isinstance(raw, dict) else None for raw in value]
    if 2 * sum(side is not None for side in read[:_LOOKED_AT]) <= len(read[:_LOOKED_AT]):
        return []
    together: dict[tuple[str, ...], list[tuple[Place, object]]] = {}
    asked: dict[tuple[str, ...], list[WrittenQuestion]] = {}
    copies: Counter[tuple[str, ...]] = Counter()
    order = list(enumerate(zip(value, read, strict=True)))
    times = [time for raw in value if (time := read_time(_of_record(raw).get("time")))]
    if len(times) > 1 and seconds(times[0]) > seconds(times[-1]):
        order.reverse()  # newest first; each reply stays behind its request
    for row, (raw, sides) in order:
        if sides is None or not isinstance(raw, dict):
            continue
        request, reply, listed_messages = sides
        if (known := raw.get("sid")) is not None:  # an exchange's id is that of its request
            request[0] = {**request[0], "id": known}
        own = _of_record(raw)
        session = own.get("session")
        person = own.pop("person", None)
        where = str(own.get("conversation") or person or "")
        key = (where, *(() if session or not listed_messages else (str(row),)))
        seen = together.setdefault(key, [])
        old = [_words_of(each) for _, each in seen]
        # A reply that repeats its request holds the whole; a request repeats what came before.
        both = [*request, *reply]
        if [*map(_words_of, reply)][: len(request)] == [*map(_words_of, request)]:
            both = reply
        new = [_words_of(each) for each in both]
        common = next((n for n in range(min(len(old), len(new)), 1, -1) if old[-n:] == new[:n]), 0)
        copies[key] += common if listed_messages else 0
        both = both[common:] if listed_messages else both
        seen += [((*place, row), _with_time(each, own)) for each in both]
        asked.setdefault(key, []).extend(_asked(raw, (*place, row)))
    several = len(together) > 1
    return [
        WrittenChat(
            (key[0] if several and len(key) == 1 else "") or name,
            (*place, int(key[1])) if len(key) > 1 else place,
            [Block(rows)],
            asked=asked[key],
            copies=copies[key],
        )
        for key, rows in together.items()
    ]


_NESTED = ("metadata", "extra", "config", "configurable", "attributes")


def _of_record(raw: object, depth: int = 0) -> dict[str, object]:
    """Returns a log record's time, session and conversation, and the person it belongs to."""
    if not isinstance(raw, dict):
        return {}
    keys = tuple(raw)
    own: dict[str, object] = {}
    for meaning in ("time", "session", "conversation"):
        usual = (key for key in keys_of(keys, meaning) if isinstance(raw[key], str | int | float))
        if (key := next(usual, None)) is not None:
            own[meaning] = raw[key]
    flat = {"session": ("attributessessionid", "genaiconversationid")}
    for meaning, names in (*flat.items(), ("person", ("userid", "username", "user"))):
        if (found := usual_keys(keys, names)) and isinstance(raw[found[0]], str | int):
            own.setdefault(meaning, raw[found[0]])
    for key in _NESTED:
        inner = raw.get(key)
        if isinstance(inner, dict) and depth < 3:
            deeper = _of_record(inner, depth + 1)
            deeper.pop("time", None)
            own = deeper | own
    return own


def _sides(
    raw: Mapping[str, object],
) -> tuple[list[dict[str, object]], list[dict[str, object]], bool] | None:
    """Returns the messages of a record's request and of its reply, and whether it lists them.

    Returns None for a record that is no exchange.
    """
    keys = tuple(raw)
    if not (usual_keys(keys, _REQUESTS) and usual_keys(keys, _REPLIES)):
        return None
    sides: list[list[dict[str, object]]] = []
    listed_messages = False
    for names, speaker in ((_REQUESTS, "user"), (_REPLIES, "assistant")):
        side: list[dict[str, object]] = []
        for key in usual_keys(keys, names):
            inner = _unpacked_side(raw[key])
            if spelled(key) == "message" and not isinstance(inner, dict):
                continue
            if spelled(key) == "title":  # Google's archive of Gemini
                if "safeHtmlItem" not in raw or not isinstance(inner, str):
                    continue
                inner = inner.removeprefix("Prompted ")
            side = _side(inner, speaker)
            listed_messages |= isinstance(inner, list | dict) and "role" in str(inner)[:4000]
            if side:
                break
        sides.append(side)
    request, reply = sides
    if not (request and reply):
        return None
    more = raw.get("input")
    first = request[0].get("text")
    if "instruction" in raw and isinstance(more, str) and more.strip() and more != first:
        request[0] = request[0] | {"text": f"{first}\n{more}"}
    return request, reply, listed_messages


def _flat(raw: object) -> object:
    """Returns a span of OpenTelemetry with its attributes as keys; anything else unchanged."""
    pairs = raw.get("attributes") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or not isinstance(pairs, list):
        return raw
    own = {
        str(pair.get("key")): next(iter(value.values()), None)
        for pair in pairs
        if isinstance(pair, dict) and isinstance(value := pair.get("value"), dict)
    }
    return {**raw, **own}


def _unpacked_side(value: object) -> object:
    return literal(value)[0] or value if isinstance(value, str) else value


def _side(value: object, speaker: str) -> list[dict[str, object]]:
    """Returns the messages of one side of an exchange, a text by ``speaker``."""
    if isinstance(value, str):
        return [{"speaker": speaker, "text": value}] if value.strip() else []
    if isinstance(value, list):
        rows = [each for each in map(_plain_keys, map(unwrapped, value)) if isinstance(each, dict)]
        if rows and any(role_of(each)[0] in SPOKEN for each in rows) and _is_chat(list(rows), None):
            return rows
        if rows and any(key in rows[0] for key in ("message", "messages", "generations")):
            return _side(rows[0], speaker)  # of several choices the first
        text = speech([part for part in value if not isinstance(part, dict) or is_speech(part)])[0]
        return [{"speaker": speaker, "text": text}] if text else []
    if not isinstance(value, dict):
        return []
    for key in ("messages", "choices", "message", "generations"):
        if isinstance(inner := value.get(key), list | dict) and (side := _side(inner, speaker)):
            return side
    if keys_of(tuple(value), "text") and is_speech(value):
        if role_of(value)[0] in SPOKEN:
            return [value]
        text = _plain_text(value)
        return [{"speaker": speaker, "text": text}] if text else []
    return []


def _plain_keys(raw: object) -> object:
    """Returns a message whose keys have one prefix, ``message.role``, without it."""
    if isinstance(raw, dict) and raw and all(key.startswith("message.") for key in raw):
        return {key.removeprefix("message."): value for key, value in raw.items()}
    return raw


def _asked(value: Mapping[str, object], place: Place) -> list[WrittenQuestion]:
    """Returns an object's questions about its dialogue.

    An object with a text under ``question`` is itself the only question, as in ConvoMem.
    """
    if isinstance(value.get("question"), str):
        return [WrittenQuestion(place, value)]
    asked: list[WrittenQuestion] = []
    own = value.get("self_instruct")
    if isinstance(own, dict) and isinstance(own.get("B"), str):  # of Multi-Session Chat
        one = {"question": own["B"], "answer": own.get("A")}
        return [WrittenQuestion((*place, "self_instruct"), one)]
    for key in usual_keys(tuple(value), _QUESTIONS):
        raw = value[key]
        if isinstance(raw, dict) and isinstance(raw.get("question"), str):
            steps = raw.get("target_step_id")  # of MemBench: pairs of an exchange and a list
            if isinstance(steps, list):
                gold = [step[0] if isinstance(step, list) and step else step for step in steps]
                raw = raw | {"evidence": gold}
            asked.append(WrittenQuestion((*place, key), raw))
            continue
        asked += asked_in(literal(raw)[0] if isinstance(raw, str) else raw, (*place, key))
    raws = [each.raw for each in asked if isinstance(each.raw, dict)]
    return asked if any(usual_keys(tuple(raw), NAMES["question"]) for raw in raws) else []


def _named_chats(
    value: Mapping[str, object], place: Place, name: str, text_key: str | None, one: bool
) -> Iterator[WrittenChat]:
    """Yields the dialogues in an object; a single dialogue if ``one`` is True."""
    if keys_of(tuple(value), "text") and role_of(value)[0] and _REPLIED & value.keys():
        rows, hidden = _shown([value], place)  # a tree of answers
        yield WrittenChat(name, place, [Block(rows)], hidden)
        return
    title = named_after([value.get(key) for key in TITLES[:4]], "")
    name = title or named_after([value.get(key) for key in TITLES], name)
    began = next((value[key] for key in keys_of(tuple(value), "time")), None)
    # A tree of messages or an exchange decides; else the keys of an object may all hold chats.
    chats: Sequence[WrittenChat] = [
        chat for nodes in _TREES if (chat := _branch(value, (*place, nodes), nodes)) is not None
    ][:1]
    for chat in chats:
        chat.name, chat.titled = name, bool(title)
    if not chats and text_key is None:
        chats = [replace(chat, place=place) for chat in _exchanges([value], place, name)]
    chats = chats or _beside(value, place, name, text_key, one)
    if (names := usual_keys(tuple(value), _PARTIES)) and len(names) == 2:
        _rename(chats, dict(zip(("user", "assistant"), map(value.get, names), strict=True)))
    for chat in chats:
        chat.titled |= bool(title) and chat.name == title
    yield from _dated(chats, began)


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
        if len(chats) > 1 and (key in _ONE or one) and (one or not _are_titled(chats)):
            chats = [_joined(chats, name, (*place, key))]
        held += _new(chats, held)
    if (lists := _parallel(value, place, name)) is not None:
        held.append(lists)
    rest = {
        key: list(chats_in(value[key], (*place, key), named_after([key], ""), text_key))
        for key in value
        if key not in _HOLDERS and spelled(key) not in (*_QUESTIONS, *NAMES["evidence"], *_BESIDE)
    }
    if held:
        rest = {key: _new(chats, held) for key, chats in rest.items() if _PREVIOUS not in key}
    rest = {key: chats for key, chats in rest.items() if chats}
    # Keys such as session_1 or 2025-01-09 are sessions of one chat.
    dated = {key: read_time(key) for key in rest}
    several = len(rest) > 1 or any(dated.values())
    if several and all(_NUMBERED.fullmatch(key) or dated[key] for key in rest):
        rest = {"": _sessions(rest, dated, name, place)}
    return [*held, *(chat for chats in rest.values() for chat in chats)]


def _rename(chats: Sequence[WrittenChat], names: Mapping[str, object]) -> None:
    """Replaces the speakers "user" and "assistant" of chats by the names of the two sides."""
    for block in (block for chat in chats for block in chat.blocks):
        block.rows = [
            (at, raw | {"speaker": names.get(str(raw.get("speaker")), raw.get("speaker"))})
            for at, raw in block.rows
            if isinstance(raw, dict)
        ]


_PREVIOUS = "previous_"


def _new(chats: Sequence[WrittenChat], old: Sequence[WrittenChat]) -> list[WrittenChat]:
    """Returns the chats with a message that none of the old ones has."""
    if not chats or not old:
        return list(chats)
    known = {_words_of(raw)[1] for chat in old for block in chat.blocks for _, raw in block.rows}
    return [
        chat
        for chat in chats
        if not {_words_of(raw)[1] for block in chat.blocks for _, raw in block.rows} <= known
    ]


def _are_titled(chats: Sequence[WrittenChat]) -> bool:
    """Returns True if chats under a key such as ``sessions`` have titles of their own."""
    return len({chat.name for chat in chats if chat.titled}) == len(chats)


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
    blocks, nameless = [], False
    for key, rows in texts.items():
        if not re.search("dialog|utterance|turns", spelled(key)):
            continue
        stems = (re.sub("dialogues?|dialogs?|utterances?|turns", each, key) for each in _WHO)
        speakers = next(
            (texts[each] for each in stems if len(texts.get(each, ())) == len(rows)), None
        )
        nameless |= speakers is None
        who = speakers or [f"Speaker {row % 2 + 1}" for row in range(len(rows))]
        pairs = enumerate(zip(who, rows, strict=True))
        blocks.append(
            Block([((*place, key, row), {"speaker": s, "text": t}) for row, (s, t) in pairs])
        )
    return WrittenChat(name, place, blocks, nameless=nameless) if blocks else None


_PARTIES = ("requesterusername", "responderusername")
"""Keys of the names of both sides above the exchanges of VS Code."""

_WHO = ("speakers", "speaker", "roles")


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
        if len(names) < 2:
            return None
        # The first row decides, so that a long text that is no such table costs nothing.
        row = first_row(value) or (named_rows(value) or [{}])[0]
        cells = [row.get(text, "")] if text else list(row.values())
        if text is None and not any(cell[:1] in ("[", "{") for cell in cells if cell):
            pair = all(usual_keys(tuple(names), side) for side in (_REQUESTS, _REPLIES))
            cells = ["[{"] if pair else []
        if any(cell.startswith(("[", "{")) or len(spoken_lines(cell)) > 1 for cell in cells):
            return named_rows(value)
    return None


def _trees(value: list[object], place: Place, name: str) -> Iterator[WrittenChat]:
    """Yields the dialogue of a list of messages; of trees of answers, a branch for each tree.

    A tree has messages with several replies of one role; the first or best reply is followed.
    """
    rows = {str(i): raw for i, raw in enumerate(value) if isinstance(raw, dict)}
    keys = dict.fromkeys(key for raw in list(rows.values())[:_LOOKED_AT] for key in raw)
    own = next((key for key in keys if spelled(key) in OWN_IDS), "")
    parent = next((key for key in keys if spelled(key) in _PARENT), "")
    placed = _placed(value, place, own) if own and parent and "sessionId" not in keys else {}
    parents = {key: raw[parent] for key, (_, raw) in placed.items() if raw.get(parent) is not None}
    roots = [key for key in placed if key not in parents]
    inside = all(str(above) in placed for above in parents.values())
    replies: dict[str, list[str]] = {}
    for key, above in parents.items():
        replies.setdefault(str(above), []).append(key)
    if (
        not roots
        or not inside
        or all(len(each) < 2 for each in replies.values())
        or _is_thread(placed, parents)
    ):
        shown_rows, hidden = _shown(value, place)
        yield WrittenChat(name, place, [Block(shown_rows)], hidden)
        return
    chats, left = [], dict(placed)
    for number, root in enumerate(roots):
        way, here = [], root
        while here and here not in way:
            way.append(here)
            here = min(replies.get(here, [""]), key=lambda key: _rank(placed.get(key)))
        for key in way:
            del left[key]
        chats.append(WrittenChat(name if number == 0 and len(roots) == 1 else "", place))
        chats[-1].blocks = [Block([(placed[k][0], unwrapped(placed[k][1])) for k in way])]
    chats[0].others = [raw for _, raw in left.values()]
    yield from chats


def _rank(row: tuple[Place, dict[str, object]] | None) -> float:
    rank = row[1].get("rank") if row else None
    return float(rank) if isinstance(rank, int | float) else 0.0


def _shown(value: list[object], place: Place) -> tuple[list[tuple[Place, object]], list[object]]:
    """Returns the messages of a list with their places, and the hidden ones.

    Replies may be nested in a message. If the assistant gave several, the last one is shown; a
    thread of people is read whole.
    """
    rows: list[tuple[Place, object]] = []
    stack: list[tuple[Place, object]] = [((*place, row), raw) for row, raw in enumerate(value)][
        ::-1
    ]
    hidden: list[object] = []
    while stack:
        at, raw = stack.pop()
        rows.append((at, unwrapped(raw)))
        if not isinstance(raw, dict) or raw.keys().isdisjoint(_REPLIED) or len(at) > DEEPEST:
            continue
        for key in _REPLIED:
            inner = raw.get(key)
            below = [
                ((*at, key, row), each)
                for row, each in enumerate(inner if isinstance(inner, list) else ())
                if isinstance(each, dict) and _words_of(unwrapped(each))[1]
            ]
            people = {str(_who(each)) for _, each in below}
            if key == "children" or (
                len(below) > 1 and len(people) == 1 and role_of(below[0][1])[0]
            ):
                # A chatbot shows the last attempt, a data set ranks the best reply first.
                kept = below[-1:] if key == "children" else below[:1]
                hidden += [each for at_reply, each in below if at_reply != kept[0][0]]
                below = kept
            stack += below[::-1]
    return rows, hidden


def _who(raw: Mapping[str, object]) -> list[object]:
    return [raw.get(key) for key in keys_of(tuple(raw), "speaker")]


_REPLIED = dict.fromkeys(("children", "replies", "thread", "thread_replies", "comments")).keys()
"""Keys of a message that may hold the replies to it."""


def _is_nameless(rows: list[object]) -> bool:
    """Returns True if all records have a text, and no speaker, time or session."""
    some = [list(guess(list(raw))) if isinstance(raw, dict) else [] for raw in rows[:_LOOKED_AT]]
    return bool(some) and all(meanings == ["text"] for meanings in some)


def _named(raw: object, row: int) -> object:
    return {**raw, "speaker": f"Speaker {row % 2 + 1}"} if isinstance(raw, dict) else raw


def unwrapped(raw: object) -> object:
    """Returns the message in a record such as ``{type, message: {…}}``, with the keys of both."""
    if not isinstance(raw, dict) or raw.keys().isdisjoint(_WRAPPERS):
        return raw
    if not is_speech({key: raw[key] for key in _OUTER & raw.keys()}):
        return raw
    for key in _WRAPPERS:
        if isinstance(inner := raw.get(key), dict) and keys_of(tuple(inner), "text"):
            whole = {name: value for name, value in raw.items() if name != key} | inner
            # LangChain writes the names of classes as a list in ``id``, OpenTelemetry a ``name``.
            kind = (
                raw["id"][-1] if isinstance(raw.get("id"), list) and raw["id"] else raw.get("name")
            )
            if isinstance(kind, str) and kind != (role := named_role(kind)[1]) and role:
                whole |= {"name": None, "role": role}
            return whole
    return raw


_OUTER = {"type", "kind", "event"}


def _is_chat(rows: list[object], text_key: str | None) -> bool:
    """Returns True if most records are messages: a text and a speaker, time or session.

    With ``text_key``, the user's key of the texts, it suffices that some record has this key.
    """
    some = [raw for raw in map(unwrapped, rows) if isinstance(raw, dict)]
    some = [raw for raw in some if is_speech(raw)]
    if text_key is not None:
        return any(text_key in raw for raw in some)
    guessed = {keys: guess(keys) for keys in set(map(tuple, some))}  # few, and slow to guess
    known = [(raw, guessed[tuple(raw)]) for raw in some]
    fits = [
        raw[keys["text"]]
        for raw, keys in known
        if "text" in keys and (len(keys) > 1 or role_of(raw)[0])
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
    others: list[object] = [
        raw for raw in off_branch if isinstance(raw, dict) and keys_of(tuple(raw), "text")
    ]
    return WrittenChat("", place, [Block(rows)], others)


LOADERS = {name: _loader(form) for name, form in FORMS.items()}
