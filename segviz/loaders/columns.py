"""Makes conversations of messages that are objects with keys, or rows with columns.

The meaning of a key is guessed from usual names in any spelling (``createdAt``, ``created_at``), or
given by the user. Messages with the same ``session`` form a session; without sessions, a long
silence begins one. Messages of systems and tools, reasoning and hidden messages are left out and
counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import compress

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
from segviz.loaders.multi_conversation import Block, WrittenChat, conversations_of, known_id
from segviz.loaders.report import Notes
from segviz.loaders.roles import SPOKEN, is_markup, named_role, role_of, without_markup
from segviz.text.captions import counted, describe, listed, one_line, quoted, shorten
from segviz.text.dates import is_clock, read_time, read_times

ALIASES: dict[str, tuple[str, ...]] = {
    "text": tuple(
        "text message content utterance body value cleantext msg mes parts messagetext textcontent "
        "messagebody txt dialogue contents contentparts fragments blocks strcontent episodebody "
        "transcript html safehtmlitem output "
        "nachricht mensaje texte 内容 消息 メッセージ 메시지".split()
    ),
    "speaker": tuple(
        "speaker from sender author name role user username speakername sendername authorname "
        "displayname nickname nick who src actor agent character fromid senderid speakerid "
        "authorid userid creator pushname participantrole participantid absender "
        "remitente expéditeur 发送者 發送者 送信者 사용자".split()
    ),
    "time": tuple(
        "timestamp time date datetime createdat ts tstamp createtime timestampms senddate sentat "
        "dt senttime datesent sendtime messagetime eventtime creationtime createddate postedat "
        "unix unixtime unixtimestamp epoch dateunixtime starttime startedat sessiondate "
        "sessiontime sessiondatetime currenttime timeanchor timeback created createddatetime "
        "insertedat originalarrivaltime originserverts when messagetimestamp referencetime strtime "
        "starttimeunixnano clock timing "
        "datum fecha 时间 時間 日期 日時 날짜".split()
    ),
    "session": tuple(
        "session sessionid sessionnumber conversationid dialogueid dialogid thread threadid "
        "attributessessionid genaiconversationid".split()
    ),
    "conversation": tuple(
        "conversation chat chatid channel room workspace messagetreeid treeid".split()
    ),
}
"""Usual names of columns by meaning, the best first (``document.spelled``)."""

USUAL = ("human", "user", "gpt", "assistant")
"""Names of speakers that are listed first, whoever speaks first."""

_NAMED = (
    *("name", "displayName", "display_name", "username", "user", "id", "user_id", "channel_id"),
    *("chat_id", "role", "email", "emailAddress"),
)
"""Keys of a speaker's name in an object that describes the speaker, the best first."""

_CALLS = {"tool_calls", "function_call"}
_LOOKED_AT = 50

OWN_IDS = ("diaid", "messageid", "turnid", "id", "uuid")
"""Usual names of the key of a message's id, the best first."""

_CONTEXT = re.compile(
    r"\s*<(?:(?:environment|user|system|command|local|bash|turn|session|task|ide)[_-]|msg>|partlist)"
    r".*>\s*",
    re.DOTALL,
)
"""Matches a message of a program: only elements such as ``<environment_context>``."""


def keys_of(headers: tuple[str, ...], meaning: str) -> tuple[str, ...]:
    """Returns the headers that are usual names for a meaning such as "text", the best first."""
    return usual_keys(headers, ALIASES[meaning])


def guess(headers: Sequence[str]) -> dict[str, str]:
    """Maps each meaning (text, speaker, time, …) to the header with the best usual name for it."""
    matches = {meaning: keys_of(tuple(headers), meaning) for meaning in ALIASES}
    return {meaning: keys[0] for meaning, keys in matches.items() if keys}


def settle(
    headers: Sequence[str],
    chosen: Mapping[str, str] | None,
    rows: Sequence[Mapping[str, object]] = (),
) -> dict[str, str]:
    """Maps each meaning (text, speaker, time, …) to a header: the user's choice, else a guess.

    Raises LoadError for an unknown meaning, and NeedsColumns for an unknown header or if no header
    is known to hold the texts; the error has the ``columns=`` that would read the first ``rows``.
    """
    chosen = chosen or {}
    if strange := [meaning for meaning in chosen if meaning not in ALIASES]:
        what = f"{strange[0]!r} is not a meaning of a column"
        raise LoadError(what, expected=f"one of {', '.join(ALIASES)}", remedy="correct it")
    # A column the user has chosen for one meaning is not guessed for another.
    guessed = {key: each for key, each in guess(headers).items() if each not in chosen.values()}
    columns = {**guessed, **chosen}
    absent = [header for header in chosen.values() if header not in headers]
    if not absent and "text" in columns:
        return columns
    names = ", ".join(one_line(shorten(header, 20)) for header in headers[:12]) or "none"
    what = f"no column is known to hold the texts; there are {names}"
    error = NeedsColumns(what, expected="a column text")
    error.remedy = 'say which one does (columns={"text": …}), or rename it to text'
    if absent:
        what = f"there is no column {shorten(one_line(absent[0]))!r}; there are {names}"
        error = NeedsColumns(what, remedy="choose among them")
    error.headers, error.mapping = tuple(headers), _mapping_for(rows)
    if error.mapping:
        shown = {key: one_line(shorten(each, 40)) for key, each in error.mapping.items()}
        option = ",".join(f"{key}={each}" for key, each in shown.items())
        error.remedy = f"try columns={shown}, or --columns {option}"
    raise error


def _mapping_for(rows: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Guesses from the values of records which key holds the texts, the speakers and the times.

    The texts are the longest prose; few short values that recur are speakers. Returns {} if no key
    holds prose.
    """
    texts: dict[str, list[str]] = {}
    for raw in rows[:_LOOKED_AT]:
        for key, value in raw.items():
            if isinstance(value, str):
                texts.setdefault(key, []).append(value)
    dated = {key for key, values in texts.items() if all(read_times(values)[0])}
    prose = {k: sum(map(len, v)) for k, v in texts.items() if " " in "".join(v) and k not in dated}
    if not prose:
        return {}
    text = max(prose, key=lambda key: prose[key])
    named = (key for key in texts if key not in {text, *dated} and _are_names(texts[key]))
    own = {"text": text, "speaker": next(named, ""), "time": next(iter(sorted(dated)), "")}
    mapping = {meaning: key for meaning, key in own.items() if key}
    known = guess(list(texts))
    return {key: each for key, each in known.items() if each not in mapping.values()} | mapping


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
        keys = keys_of(tuple(raw), meaning) if meaning not in self.fixed else ()
        first = self.columns.get(meaning, "")
        rest = [(key, raw[key]) for key in keys if key != first]
        return [(first, raw[first]), *rest] if first in raw else rest

    def first(self, raw: object, meaning: str) -> object:
        """Returns a message's first value for a meaning that is not empty; None without one."""
        values = self.all(raw, meaning) if isinstance(raw, dict) else []
        value = next((value for _, value in values if value not in (None, "")), None)
        if value is None and meaning == "time" and isinstance(raw, dict):
            # Pydantic AI dates the parts of a message.
            lists = [each for _, each in self.all(raw, "text") if isinstance(each, list)]
            parts = (part for each in lists for part in each)
            value = next((time for part in parts if (time := self.first(part, "time"))), None)
        return innermost(value) if meaning == "time" else value

    def date(self, raw: object) -> object:
        """Returns a message's time as written; a date and a clock under two keys are joined."""
        value = self.first(raw, "time")
        others = keys_of(tuple(raw), "time") if isinstance(raw, dict) else ()
        if not isinstance(value, str) or not isinstance(raw, dict) or len(others) < 2:
            return value
        texts = [text for key in others if isinstance(text := raw[key], str) and text != value]
        if is_clock(value):
            day = next((text for text in texts if any(map(str.isdigit, text[:4]))), None)
            return value if day is None or is_clock(day) else f"{day} {value}"
        clock = next(filter(is_clock, texts), None)
        return value if clock is None or ":" in value else f"{value} {clock}"

    def label(self, raw: Mapping[str, object], meaning: str) -> str | None:
        """Returns the name of a message's session or conversation ("unnamed" if it is empty).

        Returns None if no key of the file has this meaning.
        """
        if meaning not in self.columns:
            return None
        value = self.first(raw, meaning)
        value = value.get("name") or value.get("id") if isinstance(value, dict) else value
        return plain_value(value) or "unnamed"


def read_chats(
    chats: Sequence[WrittenChat],
    keys: Keys,
    label: str,
    options: Options,
    notes: Notes,
    expected: str = "records with a text",
) -> tuple[Conversation, ...]:
    """Reads chats of records into conversations and adds notes on what was left out."""
    read_messages(chats, keys, options, notes)
    _note_unused([chat for chat in chats if not chat.example], keys, notes)
    several: list[WrittenChat] = []
    for chat in chats:
        # Notes that concern the whole chat.
        if chat.nameless:
            what = "no speaker is named; read as Speaker 1 and Speaker 2 by turns"
            notes.repaired(chat.place, what)
        if chat.copies:
            what = f"{counted(chat.copies, 'message')} that the file repeats read once"
            notes.repaired(chat.place, what)
        if chat.others:
            notes.passed += strings_in(chat.others)
            what = f"{counted(len(chat.others), 'message')} on other branches"
            notes.skipped(chat.place, f"{what} (edits, other answers) left out")
        if empty := [block.name for block in chat.blocks if block.name and not block.rows]:
            what = f"{counted(len(empty), 'session')} without turns ({listed(empty)})"
            notes.skipped(chat.place, what)
        # Messages may name their conversation; each name becomes a chat.
        named: dict[str, list[Message]] = {} if chat.messages else {chat.name: []}
        for message in chat.messages:
            named.setdefault(message.conversation or chat.name, []).append(message)
        several += [replace(chat, name=name, messages=named[name]) for name in named]
    return conversations_of(several, label, options, notes, expected, USUAL)


def read_messages(chats: Sequence[WrittenChat], keys: Keys, options: Options, notes: Notes) -> None:
    """Reads the messages of chats from their records; notes count those that are left out."""
    _read_given([chat for chat in chats if chat.example], keys, options, notes)
    others = [chat for chat in chats if not chat.example]
    blocks = [(chat, row, block) for chat in others for row, block in enumerate(chat.blocks)]
    # Messages of systems and tools, reasoning and hidden ones are left out.
    for _, _, block in blocks:
        kinds = [role_of(raw)[0] if isinstance(raw, dict) else "" for _, raw in block.rows]
        speak = [kind in ("", *SPOKEN) for kind in kinds]
        block.left.update(kind for kind, speaks in zip(kinds, speak, strict=True) if not speaks)
        block.rows = [*compress(block.rows, speak)]
    # All times of a file are read by one order of day and month.
    raws = [keys.date(raw) for _, _, block in blocks for _, raw in block.rows]
    dated = iter(zip(raws, _times(raws, "time" in keys.columns, options, notes), strict=True))
    seen: set[tuple[int, str, str]] = set()
    for chat, number, block in blocks:
        times = [next(dated) for _ in block.rows]
        undated = block.began is not None and not any(time for _, time in times)
        began = read_time(block.began) if undated else None
        session = str(number) if len(chat.blocks) > 1 else None
        for (place, raw), (written, time) in zip(block.rows, times, strict=True):
            if not isinstance(raw, dict):
                notes.skipped(place, f"expected a record (an object), found {describe(raw)}")
                continue
            text = _text(keys.all(raw, "text"), raw, place, block.left, notes)
            if text is not None and _CONTEXT.fullmatch(text):
                block.left["of the program"] += 1
                notes.passed.append(text)
                text = None
            if text is None:
                continue
            message = Message(
                speaker=_speaker(keys.all(raw, "speaker"), raw, place, notes),
                text=text,
                time=time,
                raw=plain_value(block.began if undated else written),
                began=began,
                session=keys.label(raw, "session") or session,
                id=next((known_id(raw[key]) for key in usual_keys(tuple(raw), OWN_IDS)), ""),
                conversation=keys.label(raw, "conversation"),
            )
            # Histories are written again with the same ids.
            known = (id(chat), message.id, text)
            if len(message.id) > 1 and known in seen:
                chat.copies += 1
                continue
            seen.add(known)
            chat.messages.append(message)
        note_left_out(block.left, chat.place, notes)


def session_block(
    name: str, messages: object, place: Place, notes: Notes, began: object = None, at: Place = ()
) -> Block:
    """Returns a session of a data set from its list of ``messages``.

    Adds a note for each item that is no object. ``began`` is the date of the session, ``at`` the
    place of the date.
    """
    rows = [] if messages in (None, []) else list(each_message(messages, place, notes))
    return Block(rows, began, name=name, at=at)


def _read_given(chats: Sequence[WrittenChat], keys: Keys, options: Options, notes: Notes) -> None:
    """Reads the messages of a data set's chats, with their captions and ids.

    A message without an id is called by its session and position: ``S2:5``, or ``D2:5`` in a data
    set whose messages have ids.
    """
    text, speaker, own, caption = (
        keys.columns.get(meaning, "") for meaning in ("text", "speaker", "id", "caption")
    )
    dates = [(block.began, block.at) for chat in chats for block in chat.blocks if block.rows]
    starts = iter(session_starts(dates, chats[0].example if chats else "", options, notes))
    # Few data sets date a turn.
    whole = [raw for chat in chats for block in chat.blocks for _, raw in block.rows]
    times = iter(times_of([keys.date(raw) for raw in whole], options, notes))
    for chat in chats:
        rows = [raw for block in chat.blocks for _, raw in block.rows]
        # Ids of messages that are left out count as taken: evidence that cites one must not point
        # at another turn.
        given = {name for raw in rows if (name := text_under(own, raw))}
        taken, owned = set(given), set[str]()
        for block in chat.blocks:
            start, written = next(starts) if block.rows else (None, "")
            for place, raw in block.rows:
                assert isinstance(raw, dict)
                time = next(times)
                pictured, spoken = text_under(caption, raw), raw.get(text)
                spoken = "" if pictured and spoken is None else words(spoken, (*place, text), notes)
                if spoken is None:
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
                chat.messages.append(
                    Message(who, spoken, time, written, block.name, name, pictured, began=start)
                )


def _text(
    values: Sequence[tuple[str, object]],
    raw: Mapping[str, object],
    place: Place,
    left: Counter[str],
    notes: Notes,
) -> str | None:
    """Returns the text of a message with the texts attached to it; None without any text.

    ``values`` are its keys for texts with their values. Parts are preferred to plain text, which
    some exports leave empty. ``left`` counts messages without text.
    """
    if len(values) == 1 and "attachments" not in raw:  # the usual case, fast
        _, text = values[0]
        if isinstance(text, str) and text:
            return without_markup(text) if is_markup(raw) else text
    # Texts of attached files follow the message.
    files = raw.get("attachments")
    attached = [
        text
        for each in (files if isinstance(files, list) else ())
        if isinstance(each, dict) and isinstance(text := each.get("extracted_content"), str)
    ]
    parts = [(key, value) for key, value in values if isinstance(value, list | dict)]
    spoken = [(key, part) for key, part in parts if (speech(part)[0] or "").strip()]
    plain = [pair for pair in values if pair not in parts and pair[1] not in (None, "")]
    # Calls of tools, media and typed parts without text are no faults.
    media = not values and any(isinstance(each, list | dict) for each in raw.values())
    typed = [part for _, part in parts if not isinstance(part, dict) or "content_type" in part]
    if not (spoken or plain) and (attached or typed or raw.keys() & _CALLS or media):
        if not attached:
            left["without words"] += 1
        return "\n".join(attached) or None
    key, value = next(iter((*spoken, *plain, *values)), ("text", None))
    text = words(value, (*place, key), notes)
    if text is not None and is_markup(raw):
        text = without_markup(text)
    return None if text is None else "\n".join((text, *attached))


def _note_unused(chats: Sequence[WrittenChat], keys: Keys, notes: Notes) -> None:
    """Adds a note on keys that seem to hold times or speakers, if none were read."""
    blocks = [block.rows[:_LOOKED_AT] for chat in chats for block in chat.blocks]
    rows = [raw for block in blocks for _, raw in block if isinstance(raw, dict)][:_LOOKED_AT]
    other = dict.fromkeys(key for raw in rows for key in raw if key not in keys.columns.values())
    texts = {key: [raw[key] for raw in rows if isinstance(raw.get(key), str)] for key in other}
    full = {key: values for key, values in texts.items() if 1 < len(values) > len(rows) / 2}
    tests: dict[str, Callable[[Sequence[str]], bool]] = {
        "time": lambda values: not any(map(str.isdigit, values)) and all(read_times(values)[0]),
        "speaker": _are_names,
    }
    for meaning, fits in tests.items():
        names = [quoted(key) for key, values in full.items() if fits(values)]
        if names and meaning not in keys.columns:
            what = f"{', '.join(names)} may hold the {meaning}s, but no {meaning} is read"
            notes.skipped((), f'{what}; say so with columns={{"{meaning}": …}}')


def _are_names(values: Sequence[str]) -> bool:
    """Returns True if a few short texts recur, as the names of speakers do."""
    names = {value for value in values if not named_role(value)[0]}
    return 1 < len(names) <= 6 and len(values) > len(names) + 1 and max(map(len, names)) <= 30


def _speaker(
    values: Sequence[tuple[str, object]], raw: Mapping[str, object], place: Place, notes: Notes
) -> str:
    """Returns a message's speaker, else "Unknown"; an empty key for speakers gets a note."""
    key, value = "", None
    for key, value in values:
        while isinstance(value, dict):  # {"author": {"name": …}}
            names = map(value.get, _NAMED)
            value = next(filter(None, names), None)
        if value not in (None, ""):
            return speaker_named(value, (*place, key), notes)
    if role := role_of(raw)[1]:
        # AutoGen's ``source`` is the agent's name; the type is only its role.
        return speaker_named(raw.get("source") or role, place, notes)
    # The last key tried gets the note.
    return speaker_named(value, (*place, key), notes) if key else "Unknown"


def _times(
    values: Sequence[object], expected: bool, options: Options, notes: Notes
) -> list[datetime | None]:
    """Returns the time of each message; if times are ``expected``, adds a note on missing ones."""
    times = times_of(values, options, notes)
    missing = sum(value is None for value in values)
    # Small numbers are seconds since the beginning of a recording.
    offsets = sum(isinstance(value, int | float) and 0 <= value < 1e8 for value in values)
    unread = times.count(None) - missing - offsets
    for count, what in ((missing, "no time"), (unread, "a time that cannot be read")):
        if count > 0 and expected:
            notes.repaired((), f"{counted(count, 'record')} with {what}")
    return times


def strings_in(value: object) -> list[str]:
    """Returns all texts at any depth of a JSON value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in strings_in(each)]


def innermost(value: object) -> object:
    """Returns the first value in an object, as the time in ``{"$date": {"$numberLong": …}}``."""
    while isinstance(value, dict):
        value = next(iter(value.values()), None)
    return value


def plain_value(value: object) -> str:
    """Returns a text or number on one line of at most 80 characters; "" for anything else."""
    return shorten(one_line(str(value)), 80) if isinstance(value, str | int | float) else ""
