"""Makes conversations of messages that are objects with keys, or rows with columns.

The meaning of a key is guessed from usual names in any spelling (``createdAt``, ``created_at``), or
given by the user. Messages with the same ``session`` form a session; without sessions, a long
silence begins one. Messages of systems and tools, reasoning and hidden messages are left out and
counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from segviz.conversation import Conversation
from segviz.loaders.chat import (
    Message,
    each_message,
    note_left_out,
    session_starts,
    speaker_named,
    speech,
    text_under,
    times_of,
    unused,
    words,
)
from segviz.loaders.document import Options, Place, usual_keys
from segviz.loaders.errors import LoadError, NeedsColumns
from segviz.loaders.multi_conversation import ChatDraft, known_id, read_chats
from segviz.loaders.questions import WrittenQuestion
from segviz.loaders.report import Notes
from segviz.text.captions import counted, describe, listed, one_line, quoted, shorten
from segviz.text.dates import read_time, read_times

Placed = Sequence[tuple[Place, object]]
"""Messages of a file, each with its place."""

ALIASES: dict[str, tuple[str, ...]] = {
    "text": tuple(
        "text message content utterance body value cleantext msg mes parts messagetext textcontent "
        "messagebody txt dialogue nachricht mensaje texte 内容 消息 メッセージ 메시지".split()
    ),
    "speaker": tuple(
        "speaker from sender author name role user username speakername sendername authorname "
        "displayname nickname nick who src actor agent character fromid senderid speakerid "
        "authorid userid absender remitente expéditeur 发送者 發送者 送信者 사용자".split()
    ),
    "time": tuple(
        "timestamp time date datetime createdat ts createtime timestampms senddate sentat when dt "
        "senttime datesent sendtime messagetime eventtime creationtime createddate postedat unix "
        "unixtime unixtimestamp epoch dateunixtime starttime startedat sessiondate sessiontime "
        "sessiondatetime currenttime timeanchor timeback created createddatetime insertedat "
        "originserverts datum fecha 时间 時間 日期 日時 날짜".split()
    ),
    "session": tuple(
        "session sessionid sessionnumber conversationid dialogueid dialogid thread threadid".split()
    ),
    "conversation": tuple("conversation chat chatid channel room".split()),
}
"""Usual names of columns by meaning, the best first (``document.spelled``)."""

USUAL = ("human", "user", "gpt", "assistant")
"""Names of speakers that are listed first, whoever speaks first."""

_CALLS = {"tool_calls", "function_call"}
_LOOKED_AT = 50
SPEAKING = {"user", "human", "ai", "assistant", "gemini", "model", "bot"}
"""Values of a message's ``type`` that name its speaker."""

ASIDE = set(
    "system developer tool function observation service summary reasoning thinking function_call "
    "function_call_output custom_tool_call custom_tool_call_output tool_call tool_result tool_use "
    "session_meta event_msg turn_context compacted file-history-snapshot queue-operation "
    "progress".split()
)
"""Values of ``role`` or ``type`` in messages that are not part of the dialogue."""


OWN_IDS = ("diaid", "messageid", "turnid", "id", "uuid")
"""Usual names of the key of a message's id, the best first."""

_CONTEXT = re.compile(
    r"\s*<(?:environment|user|system|command|local|bash|turn|session|task|ide)[_-].*>\s*", re.DOTALL
)
"""Matches a message of a program: only elements such as ``<environment_context>``."""


def keys_of(headers: tuple[str, ...], meaning: str) -> tuple[str, ...]:
    """Returns the headers that are usual names for a meaning such as "text", the best first."""
    return usual_keys(headers, ALIASES[meaning])


def guess(headers: Sequence[str]) -> dict[str, str]:
    """Maps each meaning (text, speaker, time, …) to the header with the best usual name for it."""
    found = {meaning: keys_of(tuple(headers), meaning) for meaning in ALIASES}
    return {meaning: keys[0] for meaning, keys in found.items() if keys}


def settle(headers: Sequence[str], said: Mapping[str, str] | None) -> dict[str, str]:
    """Maps each meaning (text, speaker, time, …) to a header: the user's choice, else a guess.

    Raises LoadError for an unknown meaning or header, and NeedsColumns if no header is known to
    hold the texts.
    """
    names = ", ".join(one_line(shorten(header, 20)) for header in headers[:12]) or "none"
    for meaning, header in (said or {}).items():
        if meaning not in ALIASES:
            what = f"{meaning!r} is not a meaning of a column"
            raise LoadError(what, expected=f"one of {', '.join(ALIASES)}", remedy="correct it")
        if header not in headers:
            what = f"there is no column {shorten(one_line(header))!r}; there are {names}"
            raise _asking(headers, NeedsColumns(what, remedy="choose among them"))
    found = guess(headers)
    if said:
        # A column the user has chosen for one meaning is not guessed for another.
        taken = set(said.values())
        found = {key: header for key, header in found.items() if header not in taken}
        found.update(said)
    if "text" not in found:
        what = f"no column is known to hold the texts; there are {names}"
        remedy = 'say which one does (columns={"text": …}), or rename it to text'
        raise _asking(headers, NeedsColumns(what, expected="a column text", remedy=remedy))
    return found


def _asking(headers: Sequence[str], error: NeedsColumns) -> NeedsColumns:
    error.headers = tuple(headers)
    return error


@dataclass(slots=True)
class Block:
    """Consecutive messages of a dialogue, as objects with their places in the file.

    ``began`` is the time of the block, used if none of its messages has a time. ``left`` counts the
    messages left out, by kind. If the block is a session of a data set, ``name`` is its id,
    ``began`` its date and ``at`` the place of the date.
    """

    rows: Placed
    began: object = None
    left: Counter[str] = field(default_factory=Counter)
    name: str = ""
    at: Place = ()

    def leave_out(self) -> None:
        """Removes messages of systems and tools, reasoning and hidden ones; counts them."""
        asides = [_aside(raw) if isinstance(raw, dict) else "" for _, raw in self.rows]
        self.left.update(filter(None, asides))
        rows = zip(self.rows, asides, strict=True)
        self.rows = [row for row, aside in rows if not aside]


@dataclass(slots=True)
class Talk:
    """Dialogue in a file; several blocks are its sessions.

    ``others`` counts messages on branches that are not shown. If ``nameless`` is True, no speaker
    is named and two alternate. ``asked`` are the questions about the dialogue. In a data set, the
    order and the ids of the file are kept, ``example`` is a date in its style, and ``finish`` adds
    what only this data set has.
    """

    name: str
    place: Place
    blocks: list[Block]
    others: int = 0
    nameless: bool = False
    asked: list[WrittenQuestion] = field(default_factory=list)
    example: str = ""
    finish: Callable[[Conversation], Conversation] = lambda made: made


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys under which the messages of a file hold their text, speaker, time and session.

    ``columns`` maps each of these meanings to its key. If a message has no value there, the next
    usual key counts, except for meanings in ``fixed``.
    """

    columns: Mapping[str, str]
    fixed: Mapping[str, str]

    def all(self, raw: Mapping[str, object], meaning: str) -> list[tuple[str, object]]:
        """Returns a message's keys for a meaning such as "text", each with its value."""
        keys = [self.columns[meaning]] if meaning in self.columns else []
        if meaning not in self.fixed:
            keys += keys_of(tuple(raw), meaning)
        return [(key, raw[key]) for key in dict.fromkeys(keys) if key in raw]

    def first(self, raw: object, meaning: str) -> object:
        """Returns a message's first value for a meaning that is not empty; None without one."""
        found = self.all(raw, meaning) if isinstance(raw, dict) else []
        value = next((value for _, value in found if value not in (None, "")), None)
        while meaning == "time" and isinstance(value, dict):  # {"$date": {"$numberLong": …}}
            value = next(iter(value.values()), None)
        return value

    def label(self, raw: Mapping[str, object], meaning: str) -> str | None:
        """Returns the name of a message's session or conversation ("unnamed" if it is empty).

        Returns None if no key of the file has this meaning.
        """
        if meaning not in self.columns:
            return None
        value = self.first(raw, meaning)
        value = value.get("name") or value.get("id") if isinstance(value, dict) else value
        return plain_value(value) or "unnamed"


Said = tuple[Talk, str | None, Message]
"""A message's dialogue, the name of its conversation if the message has one, and the message."""


def read_talks(
    talks: Sequence[Talk],
    keys: Keys,
    label: str,
    options: Options,
    notes: Notes,
    expected: str = "records with a text",
) -> tuple[Conversation, ...]:
    """Reads dialogues into conversations and adds notes on what was left out."""
    chats: list[ChatDraft] = []
    own: dict[int, dict[str, list[Message]]] = {}
    for talk, name, message in messages_of(talks, keys, options, notes):
        own.setdefault(id(talk), {}).setdefault(name or talk.name, []).append(message)
    _note_unused([talk for talk in talks if not talk.example], keys, notes)
    for talk in talks:
        if talk.nameless:
            what = "no speaker is named; read as Speaker 1 and Speaker 2 by turns"
            notes.repaired(talk.place, what)
        if talk.others:
            what = f"{counted(talk.others, 'message')} on other branches (edits, other answers)"
            notes.skipped(talk.place, f"{what} left out")
        said = own.get(id(talk), {talk.name: []})
        if empty := [block.name for block in talk.blocks if block.name and not block.rows]:
            what = f"{counted(len(empty), 'session')} without turns ({listed(empty)})"
            notes.skipped(talk.place, what)
        more = talk.place, talk.asked, bool(talk.example), talk.finish
        chats += [ChatDraft(name, messages, *more) for name, messages in said.items()]
    return read_chats(chats, label, options, notes, expected, USUAL)


def messages_of(
    talks: Sequence[Talk], keys: Keys, options: Options, notes: Notes
) -> Iterator[Said]:
    """Yields each message of the dialogues, with its dialogue.

    The name of its conversation is added if the message gives one, else None. Messages that are
    left out are counted in notes.
    """
    yield from _given_messages([talk for talk in talks if talk.example], keys, options, notes)
    blocks = [
        (talk, row, block)
        for talk in talks
        if not talk.example
        for row, block in enumerate(talk.blocks)
    ]
    for *_, block in blocks:
        block.leave_out()
    raws = [keys.first(raw, "time") for *_, block in blocks for _, raw in block.rows]
    told = iter(zip(raws, _times(raws, "time" in keys.columns, options, notes), strict=True))
    for talk, number, block in blocks:
        times = [next(told) for _ in block.rows]
        if block.began is not None and not any(time for _, time in times):
            times = [(block.began, read_time(block.began))] * len(times)
        session = str(number) if len(talk.blocks) > 1 else None
        for (place, raw), (written, time) in zip(block.rows, times, strict=True):
            if not isinstance(raw, dict):
                notes.skipped(place, f"expected a record (an object), found {describe(raw)}")
            elif (text := _text(keys.all(raw, "text"), raw, place, block.left, notes)) is not None:
                if _CONTEXT.fullmatch(text):
                    block.left["of the program"] += 1
                    continue
                who = _speaker(keys.all(raw, "speaker"), raw, place, notes)
                named = keys.label(raw, "session") or session
                message = Message(who, text, time, plain_value(written), named, _own_id(raw))
                yield talk, keys.label(raw, "conversation"), message
        note_left_out(block.left, talk.place, notes)


def session_block(
    name: str, messages: object, place: Place, notes: Notes, began: object = None, at: Place = ()
) -> Block:
    """Returns a session of a data set from its list of ``messages``.

    Adds a note for each item that is no object. ``began`` is the date of the session, ``at`` the
    place of the date.
    """
    rows = [] if messages in (None, []) else list(each_message(messages, place, notes))
    return Block(rows, began, name=name, at=at)


def _given_messages(
    talks: Sequence[Talk], keys: Keys, options: Options, notes: Notes
) -> Iterator[Said]:
    """Yields the messages of a data set's dialogues, with their captions and ids.

    A message without an id is called by its session and position: ``S2:5``, or ``D2:5`` in a data
    set whose messages have ids.
    """
    text, speaker, own, caption = (
        keys.columns.get(meaning, "") for meaning in ("text", "speaker", "id", "caption")
    )
    dates = [(block.began, block.at) for talk in talks for block in talk.blocks if block.rows]
    starts = iter(session_starts(dates, talks[0].example if talks else "", options, notes))
    for talk in talks:
        rows = [raw for block in talk.blocks for _, raw in block.rows]
        # Ids of messages that are left out count as taken: evidence that cites one must not point
        # at another turn.
        given = {name for raw in rows if (name := text_under(own, raw))}
        taken, owned = set(given), set[str]()
        for block in talk.blocks:
            start, written = next(starts) if block.rows else (None, "")
            for place, raw in block.rows:
                assert isinstance(raw, dict)
                pictured, said = text_under(caption, raw), raw.get(text)
                said = "" if pictured and said is None else words(said, (*place, text), notes)
                if said is None:
                    continue
                who = speaker_named(raw.get(speaker), (*place, speaker), notes)
                name = text_under(own, raw)
                if name is None or name in owned:
                    problem = "missing or unusable" if name is None else "a duplicate"
                    letter, number = "D" if own else "S", block.name.removeprefix("session_")
                    name = unused(f"{letter}{number}:{int(place[-1]) + 1}", taken)
                    if given:
                        what = f"the id is {problem}; the turn is called {name}"
                        notes.repaired((*place, own), what)
                owned.add(name)
                taken.add(name)
                yield talk, None, Message(who, said, start, written, block.name, name, pictured)


def _aside(raw: Mapping[str, object]) -> str:
    """Returns why a message is no part of the dialogue, such as "tool"; "" if it is part of it."""
    metadata, author = raw.get("metadata"), raw.get("author")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    weight = raw.get("weight")
    if hidden is True or (isinstance(weight, int | float) and weight == 0):
        return "hidden"
    if raw.get("recipient") not in (None, "all") and "author" in raw:
        return "to tools"
    role = author.get("role") if isinstance(author, dict) else None
    for value in (role, *(raw.get(key) for key in ("kind", "type", "role", "from"))):
        if isinstance(value, str) and value in ASIDE:
            return value
    aside = any(raw.get(key) is True for key in ("isSidechain", "isMeta", "isCompactSummary"))
    return "aside" if aside else ""


def _text(
    values: Sequence[tuple[str, object]],
    raw: Mapping[str, object],
    place: Place,
    left: Counter[str],
    notes: Notes,
) -> str | None:
    """Returns the text of a message with the texts attached to it; None without any text.

    Parts are preferred to plain text, which some exports leave empty.
    """
    files = raw.get("attachments")
    attached = [
        text
        for each in (files if isinstance(files, list) else ())
        if isinstance(each, dict) and isinstance(text := each.get("extracted_content"), str)
    ]
    parts = [each for each in values if isinstance(each[1], list | dict)]
    spoken = [each for each in parts if (speech(each[1])[0] or "").strip()]
    plain = [each for each in values if each not in parts and each[1] not in (None, "")]
    media = not values and any(isinstance(each, list | dict) for each in raw.values())
    kinds = [part for _, part in parts if not isinstance(part, dict) or "content_type" in part]
    if not (spoken or plain) and (attached or kinds or raw.keys() & _CALLS or media):
        if not attached:
            left["without words"] += 1
        return "\n".join(attached) or None
    key, value = next(iter((*spoken, *plain, *values)), ("text", None))
    text = words(value, (*place, key), notes)
    return None if text is None else "\n".join((text, *attached))


def _note_unused(talks: Sequence[Talk], keys: Keys, notes: Notes) -> None:
    """Adds a note on keys that seem to hold times or speakers, if none were read."""
    blocks = [block.rows[:_LOOKED_AT] for talk in talks for block in talk.blocks]
    rows = [raw for block in blocks for _, raw in block if isinstance(raw, dict)][:_LOOKED_AT]
    other = dict.fromkeys(key for raw in rows for key in raw if key not in keys.columns.values())
    held = {key: [raw[key] for raw in rows if isinstance(raw.get(key), str)] for key in other}
    full = {key: values for key, values in held.items() if 1 < len(values) > len(rows) / 2}
    tell = {"time": _are_times, "speaker": _are_names}
    for meaning, fits in tell.items():
        found = [quoted(key) for key, values in full.items() if fits(values)]
        if found and meaning not in keys.columns:
            what = f"{', '.join(found)} may hold the {meaning}s, but no {meaning} is read"
            notes.skipped((), f'{what}; say so with columns={{"{meaning}": …}}')


def _are_times(values: Sequence[str]) -> bool:
    return not any(map(str.isdigit, values)) and all(read_times(values)[0])


def _are_names(values: Sequence[str]) -> bool:
    """Returns True if a few short texts recur, as the names of speakers do."""
    names = set(values) - SPEAKING - ASIDE
    return 1 < len(names) <= 6 and len(values) > len(names) + 1 and max(map(len, names)) <= 30


def _speaker(
    values: Sequence[tuple[str, object]], raw: Mapping[str, object], place: Place, notes: Notes
) -> str:
    """Returns a message's speaker, else "Unknown"; an empty key for speakers gets a note."""
    key, value = "", None
    for key, value in values:
        while isinstance(value, dict):  # {"author": {"name": …}}
            names = map(value.get, ("name", "displayName", "username", "user", "id", "role"))
            value = next(filter(None, names), None)
        if value not in (None, ""):
            return speaker_named(value, (*place, key), notes)
    if (kind := str(raw.get("type"))) in SPEAKING:
        return kind
    return speaker_named(value, (*place, key), notes) if key else "Unknown"


def _own_id(raw: Mapping[str, object]) -> str:
    return next((known_id(raw[key]) for key in usual_keys(tuple(raw), OWN_IDS)), "")


def _times(
    values: Sequence[object], expected: bool, options: Options, notes: Notes
) -> list[datetime | None]:
    """Returns the time of each message; if times are ``expected``, adds a note on missing ones."""
    found = times_of(values, options, notes)
    missing = sum(value is None for value in values)
    unread = found.count(None) - missing
    for count, what in ((missing, "no time"), (unread, "a time that cannot be read")):
        if count > 0 and expected:
            notes.repaired((), f"{counted(count, 'record')} with {what}")
    return found


def plain_value(value: object) -> str:
    """Returns a text or number on one line of at most 80 characters; "" for anything else."""
    return shorten(one_line(str(value)), 80) if isinstance(value, str | int | float) else ""
