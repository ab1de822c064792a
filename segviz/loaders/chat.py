"""Turns messages with times into sessions with turns, for all loaders of chats."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from segviz.conversation import Session, Turn
from segviz.loaders.document import Options, Place
from segviz.loaders.report import Notes
from segviz.text.captions import counted, describe, listed, one_line, quoted, shorten
from segviz.text.dates import read_times


@dataclass(frozen=True, slots=True)
class Message:
    """Message of a chat.

    ``session`` is its session if the source names one; ``raw`` is the time as written.
    """

    speaker: str
    text: str
    time: datetime | None = None
    raw: str = ""
    session: str | None = None
    caption: str | None = None


def oldest_first(messages: Sequence[Message], place: Place, notes: Notes) -> list[Message]:
    """Returns the messages oldest first, with a note if it reversed them.

    Reverses messages whose times all descend, or sessions if only these descend. Other steps back
    in time are noted.
    """
    blocks: dict[str | None, list[Message]] = {}
    for message in messages:
        blocks.setdefault(message.session, []).append(message)
    inside = [step for block in blocks.values() for step in _steps(block)]
    firsts = [next((each for each in block if each.time), block[0]) for block in blocks.values()]
    between = _steps(firsts)
    back = sum(step < 0 for step in inside)
    # Clocks of two machines may differ by a minute; a smaller step back does not count.
    if sum(each for each in (*inside, *between) if each < 0) > -60:
        pass
    elif not back and max(between) <= 0:
        notes.repaired(place, "sessions newest first; reversed to oldest first")
        return [message for block in reversed(blocks.values()) for message in block]
    elif max([*inside, *between]) <= 0:
        notes.repaired(place, "newest first; reversed to oldest first")
        return list(messages)[::-1]
    if back:
        what = f"{counted(back, 'message')} dated before the previous one; kept in file order"
        notes.repaired(place, what)
    return list(messages)


def _steps(messages: Iterable[Message]) -> list[float]:
    """Returns the seconds from each message with a time to the next."""
    times = [each.time for each in messages if each.time]
    return [(after - before).total_seconds() for before, after in pairwise(times)]


def sessions_of(messages: Iterable[Message], gap_hours: float) -> tuple[Session, ...]:
    """Returns sessions ``session_<n>`` with turns ``S<n>:<m>``, in the order of the messages.

    Messages of one named session are joined at the place of the first. Others begin a new session
    if more than ``gap_hours`` pass, forward or back.
    """
    blocks: list[list[Message]] = []
    named: dict[str, list[Message]] = {}
    last: datetime | None = None
    for message in messages:
        if message.session is not None:
            if message.session not in named:
                blocks.append(named.setdefault(message.session, []))
            named[message.session].append(message)
            continue
        apart = (
            last is not None
            and message.time is not None
            and abs((message.time - last).total_seconds()) > gap_hours * 3600
        )
        if not blocks or apart:
            blocks.append([])
        blocks[-1].append(message)
        last = message.time or last
    return tuple(_session(number, block) for number, block in enumerate(blocks, start=1))


def _session(number: int, block: Sequence[Message]) -> Session:
    turns = tuple(
        Turn(f"S{number}:{row}", each.speaker, each.text, each.caption)
        for row, each in enumerate(block, start=1)
    )
    dated = next((each for each in block if each.time), block[0])
    raw = dated.raw or (f"{dated.time:%Y-%m-%d %H:%M}" if dated.time else "")
    return Session(f"session_{number}", dated.time, raw, turns)


def each_message(
    block: object, place: Place, notes: Notes
) -> Iterator[tuple[Place, dict[str, object]]]:
    """Yields the objects of a list of messages with their places; notes everything else."""
    if not isinstance(block, list):
        notes.skipped(place, f"expected a list of messages, found {describe(block)}")
        return
    for row, item in enumerate(block):
        if isinstance(item, dict):
            yield (*place, row), item
        else:
            notes.skipped((*place, row), f"expected a message (an object), found {describe(item)}")


Written = tuple[object, Place, object, Place]
"""A session in a file: its list of messages and its date, each with its place, () for no place."""


def read_sessions(
    blocks: Sequence[Written],
    speaker: str,
    example: str,
    place: Place,
    options: Options,
    notes: Notes,
) -> tuple[Session, ...]:
    """Reads sessions from lists ``[{<speaker>: …, content: …}, …]``.

    They are called ``session_<n>`` and their turns ``S<n>:<m>`` by position; sessions without turns
    are left out. ``example`` is a date in the format's style; notes on all sessions are at
    ``place``.
    """
    empty, held = [], []
    for number, (block, here, date, at) in enumerate(blocks, start=1):
        if block is None or block == []:
            empty.append(f"session_{number}")
        elif turns := _turns(block, speaker, number, here, notes):
            held.append((number, turns, (date, at)))
    starts = session_starts([date for *_, date in held], example, options, notes)
    sessions = tuple(
        Session(f"session_{number}", *start, turns)
        for (number, turns, _), start in zip(held, starts, strict=True)
    )
    note_empty(empty, place, notes)
    note_backwards(sessions, place, notes)
    return sessions


def _turns(
    block: object, speaker: str, session: int, place: Place, notes: Notes
) -> tuple[Turn, ...]:
    turns = []
    for here, raw in each_message(block, place, notes):
        text = words(raw.get("content"), (*here, "content"), notes)
        if text is not None:
            who = speaker_named(raw.get(speaker), (*here, speaker), notes)
            turns.append(Turn(f"S{session}:{int(here[-1]) + 1}", who, text))
    return tuple(turns)


def flagged(raw: object, key: str) -> bool:
    """Returns True if a turn's mark is exactly ``true``."""
    return isinstance(raw, dict) and raw.get(key) is True


def speakers_of(sessions: Sequence[Session], usual: Sequence[str]) -> tuple[str, ...]:
    """Returns the speakers: first the ``usual`` ones, then others by their first turn."""
    there = dict.fromkeys(turn.speaker for session in sessions for turn in session.turns)
    return tuple(sorted(there, key=lambda name: (*usual, name).index(name)))


def words(value: object, place: Place, notes: Notes) -> str | None:
    """Returns a message's text: of a string, a number, or the text blocks of a list.

    Returns None, with a note, for anything else. Other blocks (images, tool calls, reasoning) are
    left out and counted.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        notes.repaired(place, "a number was read as text")
        return str(value)
    text, left = speech(value)
    if text is None:
        notes.skipped(place, f"expected a text, found {describe(value)}; the message is left out")
    elif left:
        notes.skipped(place, f"{counted(left, 'part')} without text left out")
    return text


_UNSPOKEN = re.compile("tool|function|think|thought|reason|context", re.IGNORECASE)


def speech(value: object) -> tuple[str | None, int]:
    """Returns the text in ``[{type, text}, …]`` or ``{parts: […]}``, and the number of other parts.

    The text is None if no part has any.
    """
    if isinstance(value, dict):
        kind = str(value.get("type") or value.get("content_type") or "")
        if _UNSPOKEN.search(kind) or value.get("thought") is True:
            return None, 1
        keys = ("parts", "fragments", "text", "content", "body", "value")
        text = next((value[key] for key in keys if key in value), None)
        return (text, 0) if isinstance(text, str) else speech(text)
    parts = value if isinstance(value, list) else []
    texts = [part if isinstance(part, str) else speech(part)[0] for part in parts]
    said = [text for text in texts if text is not None]
    # Bold words and links are parts within a line; other parts are separate lines.
    pieces = any(isinstance(part, str) and part != part.strip() for part in parts)
    return ("" if pieces else "\n").join(said) if said else None, len(parts) - len(said)


def speaker_named(value: object, place: Place, notes: Notes) -> str:
    """Returns the speaker's name, or "Unknown" with a note."""
    if isinstance(value, str) and value.strip():
        return one_line(value.strip())
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    notes.repaired(place, f"expected a speaker's name, found {describe(value)}; called Unknown")
    return "Unknown"


def note_left_out(counts: Counter[str], place: Place, notes: Notes) -> None:
    """Adds a note that counts left-out messages by kind: ``3 system, 12 tool``."""
    if counts:
        kinds = ", ".join(f"{count:,} {one_line(shorten(kind))}" for kind, count in counts.items())
        notes.skipped(place, f"messages left out: {kinds}")


# --- notes on the dates of sessions --------------------------------------------------


def times_of(values: Sequence[object], options: Options, notes: Notes) -> list[datetime | None]:
    """Returns the time of each value, all read by one rule; notes what is ambiguous."""
    times, why = read_times(values, options.day_first)
    for what in why:
        notes.repaired((), what)
    return times


def session_starts(
    written: Sequence[tuple[object, Place]], example: str, options: Options, notes: Notes
) -> list[tuple[datetime | None, str]]:
    """Returns the start of each session and its date as written.

    One date format applies to all of them; an unreadable date gets a note that shows ``example``.
    """
    found = []
    starts = times_of([value for value, _ in written], options, notes)
    for (value, place), start in zip(written, starts, strict=True):
        raw = str(value) if isinstance(value, str | int | float) else ""
        if start is None and place:
            seen = quoted(raw) if raw else "nothing" if value is None else describe(value)
            what = f'expected a date like "{example}", found {seen}; kept without date'
            notes.repaired(place, what)
        found.append((start, raw))
    return found


def note_backwards(
    sessions: Iterable[Session], place: Place, notes: Notes, order: str = "file"
) -> None:
    """Adds a note if a session, kept in file order, is dated before its predecessor."""
    dated = [(session.start, session.id) for session in sessions if session.start]
    back = [name for (before, _), (start, name) in pairwise(dated) if start < before]
    if back:
        what = f"{counted(len(back), 'session')} dated before the previous one ({listed(back)})"
        notes.repaired(place, f"{what}; kept in {order} order")


def note_empty(sessions: list[str], place: Place, notes: Notes) -> None:
    """Adds a note that counts the sessions without turns."""
    if sessions:
        what = f"{counted(len(sessions), 'session')} without turns ({listed(sessions)})"
        notes.skipped(place, what)
