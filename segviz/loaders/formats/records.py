"""Records of messages: a list or JSON Lines of objects with a text and a speaker.

Also an object that holds such a list under a usual key. Which key means what is guessed
by ``segviz.loaders.columns`` or said by the user. Records of one ``session`` (or
``conversation``) come together; without sessions, a long silence begins a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from segviz.conversation import Conversation
from segviz.loaders.captions import counted, describe, one_line, shorten
from segviz.loaders.chat import Message, conversation_of, speaker_named, words
from segviz.loaders.columns import guess, settle
from segviz.loaders.dayorder import order_of, read_fields
from segviz.loaders.document import Options
from segviz.loaders.messages import stem
from segviz.loaders.multi_conversation import settled
from segviz.loaders.notes import Note, Notes, Place
from segviz.loaders.times import read_time

LABEL = "records (JSON, JSON Lines)"

_HOLDERS = ("messages", "turns", "utterances", "dialogue", "dialog", "conversation", "chat", "data")
_LOOKED_AT = 50

Rows = Sequence[tuple[Place, object]]


def matches(document: object) -> bool:
    """Whether most of the first records have a key for a text and one more with a meaning."""
    rows = [raw for _, raw in _rows(document)[:_LOOKED_AT] if isinstance(raw, dict)]
    known = [(raw, guess(list(raw))) for raw in rows]
    fits = [(raw, keys) for raw, keys in known if "text" in keys and len(keys) > 1]
    spoken = any(isinstance(raw[keys["text"]], str | list) for raw, keys in fits)
    return spoken and len(fits) * 2 >= len(rows)


def read(
    document: object, name: str, options: Options
) -> tuple[tuple[Conversation, ...], list[Note]]:
    """Conversations, called after the file or by their column.

    Raises LoadError when no record has words, NeedsColumns when no key means the text.
    """
    rows = _rows(document)
    keys = dict.fromkeys(
        key for _, raw in rows[:_LOOKED_AT] if isinstance(raw, dict) for key in raw
    )
    columns = settle(list(keys), options.columns)
    return read_rows(rows, columns, name, LABEL, options)


def read_rows(
    rows: Rows, columns: Mapping[str, str], name: str, label: str, options: Options
) -> tuple[tuple[Conversation, ...], list[Note]]:
    """Conversations of records whose keys mean what ``columns`` says."""
    notes = Notes()
    chats: dict[str, list[Message]] = {}
    times = _times(rows, columns.get("time"), options, notes)
    for (place, raw), time in zip(rows, times, strict=True):
        if not isinstance(raw, dict):
            notes.skipped(place, f"expected a record (an object), found {describe(raw)}")
            continue
        text = words(raw.get(columns["text"]), (*place, columns["text"]), notes)
        if text is None:
            continue
        message = Message(
            speaker=_speaker(raw, columns, place, notes),
            text=text,
            time=time,
            raw=_plain(raw.get(columns.get("time", ""))),
            session=_label(raw, columns, "session"),
        )
        chats.setdefault(_label(raw, columns, "conversation") or stem(name), []).append(message)
    found: list[tuple[Conversation, Place]] = []
    for own, messages in chats.items():
        conversation = conversation_of(own, messages, label, (), notes, options.gap_hours)
        if conversation is not None:
            found.append((conversation, ()))
    return settled(found, "records with a text", notes), notes


def has_rows(document: object) -> bool:
    """Whether there is a list of objects, whatever their keys."""
    return any(isinstance(raw, dict) for _, raw in _rows(document)[:_LOOKED_AT])


def _rows(document: object) -> Rows:
    if isinstance(document, list):
        return [((row,), raw) for row, raw in enumerate(document)]
    if isinstance(document, dict):
        for key in _HOLDERS:
            if isinstance(block := document.get(key), list):
                return [((key, row), raw) for row, raw in enumerate(block)]
    return []


def _speaker(raw: dict[str, object], columns: Mapping[str, str], place: Place, notes: Notes) -> str:
    if "speaker" not in columns:
        return "Unknown"
    key = columns["speaker"]
    value = raw.get(key)
    if isinstance(value, dict):  # {"author": {"name": …}}
        value = next((value[k] for k in ("name", "username", "id", "role") if k in value), None)
    return speaker_named(value, (*place, key), notes)


def _times(rows: Rows, key: str | None, options: Options, notes: Notes) -> list[datetime | None]:
    """The time of each row; one note on those that have none or none that can be read."""
    if key is None:
        return [None] * len(rows)
    values = [raw.get(key) if isinstance(raw, dict) else None for _, raw in rows]
    found = [read_time(value) for value in values]
    slashed = {
        row: fields
        for row, value in enumerate(values)
        if found[row] is None and isinstance(value, str) and (fields := read_fields(value))
    }
    order, why = order_of(list(slashed.values()), options.day_first)
    if why:
        notes.repaired((), why)
    if order is not None:
        for row, fields in slashed.items():
            found[row] = fields.read(order)
    missing = sum(value in (None, "") for value in values)
    unread = found.count(None) - missing
    for count, what in ((missing, "no time"), (unread, "a time that cannot be read")):
        if count > 0:
            notes.repaired((), f"{counted(count, 'record')} with {what}")
    return found


def _plain(value: object) -> str:
    return shorten(one_line(str(value)), 80) if isinstance(value, str | int | float) else ""


def _label(raw: dict[str, object], columns: Mapping[str, str], meaning: str) -> str | None:
    """The session's or conversation's name; None where there is no such column."""
    return (_plain(raw.get(columns[meaning])) or "unnamed") if meaning in columns else None
