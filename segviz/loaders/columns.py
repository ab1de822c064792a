"""Rows of named values -> conversations: what JSON records, tables and Parquet share.

Which column or key means what is guessed by usual names, or said by the user. Rows of one
``session`` (or ``conversation``) come together; without sessions, a long silence begins a
new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from segviz.conversation import Conversation
from segviz.loaders.captions import counted, describe, one_line, shorten
from segviz.loaders.chat import Message, speaker_named, words
from segviz.loaders.document import Options, Place
from segviz.loaders.errors import LoadError, NeedsColumns
from segviz.loaders.multi_conversation import read_chats, stem
from segviz.loaders.report import Notes
from segviz.text.dates import order_of, read_fields, read_time

Placed = Sequence[tuple[Place, object]]
"""Rows, each with its place in the file."""

ALIASES: dict[str, tuple[str, ...]] = {
    "text": ("text", "message", "content", "utterance", "body", "value", "clean_text", "msg"),
    "speaker": ("speaker", "role", "from", "sender", "author", "user", "username", "name"),
    "time": tuple("timestamp time date datetime created_at ts date_time create_time".split()),
    "session": ("session", "session_id", "conversation_id", "dialogue_id", "dialog_id", "thread"),
    "conversation": ("conversation", "chat", "chat_id"),
}
"""Meaning -> usual names of the column, most telling first, without case."""


def guess(headers: Sequence[str]) -> dict[str, str]:
    """Meaning -> header, for the meanings that have a usual name among the headers."""
    known = {header.strip().casefold().replace(" ", "_"): header for header in reversed(headers)}
    found: dict[str, str] = {}
    for meaning, names in ALIASES.items():
        header = next((known[name] for name in names if name in known), None)
        if header is not None:
            found[meaning] = header
    return found


def settle(headers: Sequence[str], said: Mapping[str, str] | None) -> dict[str, str]:
    """Meaning -> header: what the user ``said``, else the guess. Raises LoadError for an unknown
    meaning or header, NeedsColumns when nothing tells where the texts are."""
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
        # A column that was said to mean one thing is not guessed to mean another.
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


def read_rows(
    rows: Placed, columns: Mapping[str, str], name: str, label: str, options: Options
) -> tuple[tuple[Conversation, ...], Notes]:
    """Conversations of records whose keys mean what ``columns`` says."""
    notes = Notes()
    notes.columns = columns
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
            raw=plain_value(raw.get(columns.get("time", ""))),
            session=_label(raw, columns, "session"),
        )
        chats.setdefault(_label(raw, columns, "conversation") or stem(name), []).append(message)
    named = [(own, messages, ()) for own, messages in chats.items()]
    return read_chats(named, label, options, notes, "records with a text"), notes


def _speaker(raw: dict[str, object], columns: Mapping[str, str], place: Place, notes: Notes) -> str:
    if "speaker" not in columns:
        return "Unknown"
    key = columns["speaker"]
    value = raw.get(key)
    if isinstance(value, dict):  # {"author": {"name": …}}
        value = next((value[k] for k in ("name", "username", "id", "role") if k in value), None)
    return speaker_named(value, (*place, key), notes)


def _times(rows: Placed, key: str | None, options: Options, notes: Notes) -> list[datetime | None]:
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


def plain_value(value: object) -> str:
    """A single value on one line of at most 80 characters; "" for anything else."""
    return shorten(one_line(str(value)), 80) if isinstance(value, str | int | float) else ""


def _label(raw: dict[str, object], columns: Mapping[str, str], meaning: str) -> str | None:
    """The session's or conversation's name; None where there is no such column."""
    return (plain_value(raw.get(columns[meaning])) or "unnamed") if meaning in columns else None
