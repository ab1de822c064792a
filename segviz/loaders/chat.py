"""Makes sessions of messages, for all loaders, and reads texts, speakers and times of messages."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from segviz.conversation import Session, Turn, seconds
from segviz.loaders.document import Options, Place
from segviz.loaders.report import Notes
from segviz.loaders.roles import is_markup, is_speech, without_markup
from segviz.text.captions import counted, describe, listed, one_line, quoted, shorten
from segviz.text.dates import read_times


@dataclass(frozen=True, slots=True)
class Message:
    """Message of a dialogue.

    ``time`` is its own time, ``began`` that of its session in a file without times of messages;
    ``raw`` is either as written. ``session`` and ``conversation`` name where it belongs and ``id``
    is its own id, if the file gives them.
    """

    speaker: str
    text: str
    time: datetime | None = None
    raw: str = ""
    session: str | None = None
    id: str = ""
    caption: str | None = None
    conversation: str | None = None
    began: datetime | None = None

    @property
    def when(self) -> datetime | None:
        """Its own time, else that of its session."""
        return self.time or self.began


def oldest_first(messages: Sequence[Message], place: Place, notes: Notes) -> list[Message]:
    """Returns messages oldest first.

    Reverses the messages if all their times descend, or only the sessions if only these descend; a
    note in the load report says so. Other steps back in time stay and are noted.
    """
    # Steps between the messages of a session, and between the sessions.
    blocks: dict[str | None, list[Message]] = {}
    for message in messages:
        blocks.setdefault(message.session, []).append(message)
    inside = [step for block in blocks.values() for step in _steps(block)]
    firsts = [next((each for each in block if each.when), block[0]) for block in blocks.values()]
    between = _steps(firsts)
    back = sum(step < 0 for step in inside)
    # Clocks of two machines may differ by a minute; a smaller step back does not count.
    if sum(each for each in (*inside, *between) if each < 0) <= -60:
        if not back and max(between) <= 0:
            notes.repaired(place, "sessions newest first; reversed to oldest first")
            return [message for block in reversed(blocks.values()) for message in block]
        if max([*inside, *between]) <= 0:
            notes.repaired(place, "newest first; reversed to oldest first")
            return list(messages)[::-1]
    if back:
        what = f"{counted(back, 'message')} dated before the previous one; kept in file order"
        notes.repaired(place, what)
    return list(messages)


def _steps(messages: Iterable[Message]) -> list[float]:
    """Returns the seconds between successive messages that have a time."""
    times = [seconds(each.when) for each in messages if each.when]
    return [after - before for before, after in pairwise(times)]


@dataclass(slots=True)
class SessionRule:
    """Rule by which messages, taken one after the other, begin sessions.

    A message begins a session if it names another one than the message before, or after a silence
    of more than ``gap_hours``, forward or back in time. A session with a name is split only between
    two days.
    """

    gap_hours: float
    _begun: bool = False
    _name: str | None = None
    _last: datetime | None = None

    def begins(self, message: Message) -> bool:
        """Takes the next message and remembers it; returns True if it begins a session."""
        other = not self._begun or message.session != self._name
        last, now = None if other else self._last, message.time
        self._begun, self._name, self._last = True, message.session, now or last
        if other or last is None or now is None:
            return other
        if message.session is not None and now.date() == last.date():
            return False
        return abs(seconds(now) - seconds(last)) > self.gap_hours * 3600


def in_sessions(messages: Iterable[Message], gap_hours: float) -> list[list[Message]]:
    """Splits messages into sessions by ``SessionRule`` and keeps their order.

    Messages with the same session name form one session, at the place of its first message. A
    silence splits it, measured between its own messages.
    """
    rules: dict[str | None, SessionRule] = {}
    blocks: list[list[Message]] = []
    open_sessions: dict[str | None, list[Message]] = {}
    before: str | None = None
    for message in messages:
        name = message.session
        # A session with a name may go on after others, one without a name may not.
        if name is None and before is not None:
            rules.pop(name, None)
        if rules.setdefault(name, SessionRule(gap_hours)).begins(message):
            open_sessions[name] = []
            blocks.append(open_sessions[name])
        open_sessions[name].append(message)
        before = name
    return blocks


def note_split(
    blocks: Iterable[Sequence[Message]], hours: float, place: Place, notes: Notes
) -> None:
    """Adds a note on sessions with a name that a silence of more than ``hours`` has split."""
    parts = Counter(block[0].session for block in blocks)
    split = [count for name, count in parts.items() if name is not None and count > 1]
    if split:
        what = f"{counted(len(split), 'session')} with silences of more than {hours:g} hours"
        notes.repaired(place, f"{what}; split there into {sum(split):,}")


def session_of(number: int, block: Sequence[Message], given: bool) -> Session:
    """Makes a session of messages, with the ids that the messages carry if ``given`` is True.

    Else it is ``session_<number>``, with turns ``S<number>:<position>``.
    """
    dated = next((each for each in block if each.time), None)
    dated = dated or next((each for each in block if each.began), block[0])
    written = dated.raw or (f"{dated.when:%Y-%m-%d %H:%M}" if dated.when else "")
    name = block[0].session or "" if given else f"session_{number}"
    ids = (each.id if given else f"S{number}:{row}" for row, each in enumerate(block, start=1))
    turns = tuple(
        Turn(own, each.speaker, each.text, each.caption, each.time)
        for own, each in zip(ids, block, strict=True)
    )
    return Session(name, dated.when, written, turns)


def each_message(
    block: object, place: Place, notes: Notes
) -> Iterator[tuple[Place, dict[str, object]]]:
    """Yields the objects of a list of messages, each with its place in the file.

    Adds a note to the load report for everything that is not an object.
    """
    if not isinstance(block, list):
        notes.skipped(place, f"expected a list of messages, found {describe(block)}")
        return
    for row, item in enumerate(block):
        if isinstance(item, dict):
            yield (*place, row), item
        else:
            notes.skipped((*place, row), f"expected a message (an object), found {describe(item)}")


def text_under(key: str, raw: object) -> str | None:
    """Returns the text under a key of an object; None if it is missing, blank or no text."""
    value = raw.get(key) if isinstance(raw, dict) else None
    return value.strip() or None if isinstance(value, str) else None


def unused(wanted: str, taken: Collection[str]) -> str:
    """Returns a name, with ``#2``, ``#3`` … added if it is among the ``taken`` ones."""
    fresh, count = wanted, 1
    while fresh in taken:
        count += 1
        fresh = f"{wanted}#{count}"
    return fresh


def flagged(raw: object, key: str) -> bool:
    """Returns True if the value is an object with exactly ``true`` under the key."""
    return isinstance(raw, dict) and raw.get(key) is True


def speakers_of(sessions: Sequence[Session], usual: Sequence[str]) -> tuple[str, ...]:
    """Returns the speakers of sessions: the ``usual`` ones first, the others by first turn."""
    there = dict.fromkeys(turn.speaker for session in sessions for turn in session.turns)
    return tuple(sorted(there, key=lambda name: (*usual, name.casefold()).index(name.casefold())))


def words(value: object, place: Place, notes: Notes) -> str | None:
    """Returns the text of a message, which may be a string, a number or a list of parts.

    Returns None, with a note, for anything else. Parts that are no text, such as images, tool calls
    and reasoning, are left out and counted.
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


_INSIDE = (
    *("parts", "fragments", "text", "content", "body", "value", "part", "html"),
    *("conversation", "extendedTextMessage", "message", "caption"),
)
"""Keys under which a part or a message holds its text, the surest first."""


def speech(value: object) -> tuple[str | None, int]:
    """Returns the text in parts such as ``[{type, text}, …]``, and the number of other parts.

    The text is None if no part holds text.
    """
    if isinstance(value, dict):
        if not is_speech(value):
            return None, 1
        key = next((key for key in _INSIDE if key in value), "")
        text = value.get(key)
        if isinstance(text, str) and (key == "html" or is_markup(value)):
            text = without_markup(text)
        return (text, 0) if isinstance(text, str) else speech(text)
    parts = value if isinstance(value, list) else []
    texts = [part if isinstance(part, str) else speech(part)[0] for part in parts]
    spoken = [text for text in texts if text is not None]
    # Bold words and links are parts within a line; other parts are separate lines.
    pieces = any(isinstance(part, str) and part != part.strip() for part in parts)
    return ("" if pieces else "\n").join(spoken) if spoken else None, len(parts) - len(spoken)


_NAME = r"[^\W_](?:[\w.'’@()+-]|[ ](?! )){0,39}"
_SAID = re.compile(
    r"\s*+(?:[-*•>]\s+)?(?:\[([^\]\n]{1,30})\]\s*|\(([0-9:. apmAPM]{3,12})\)\s*)?"
    rf"(?:\*\*({_NAME}):\*\*|\*\*({_NAME})\*\*:|({_NAME}):)(?:\s+(.*)|$)"
)
_NO_NAMES = {"http", "https", "mailto", "ftp", "file"}


def spoken_lines(text: str) -> list[tuple[str, str]]:
    """Returns names and words of a text in which every line is ``Name: words``; else []."""
    lines = [line for line in text.split("\n") if line.strip()] if ":" in text[:200] else []
    known = [parts for line in lines if (parts := spoken(line))]
    return [(who, words) for who, words, _ in known] if len(known) == len(lines) else []


def spoken(line: str) -> tuple[str, str, str] | None:
    """Returns name, text and time in brackets of a line ``Name: text``; None for other lines."""
    match = _SAID.match(line) if ":" in line else None
    if match is None:
        return None
    name = (match[3] or match[4] or match[5]).strip()
    if not any(map(str.isalpha, name)) or name.casefold() in _NO_NAMES:
        return None
    return name, match[6] or "", match[1] or match[2] or ""


def speaker_named(value: object, place: Place, notes: Notes) -> str:
    """Returns a speaker's name; "Unknown", with a note, if the value is no name."""
    if isinstance(value, str) and value.strip():
        return one_line(value.strip())
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    notes.repaired(place, f"expected a speaker's name, found {describe(value)}; called Unknown")
    return "Unknown"


def note_left_out(counts: Counter[str], place: Place, notes: Notes) -> None:
    """Adds a note that counts the left-out messages of each kind: ``3 system, 12 tool``."""
    if counts:
        kinds = ", ".join(f"{count:,} {one_line(shorten(kind))}" for kind, count in counts.items())
        notes.skipped(place, f"messages left out: {kinds}")


# --- notes on the dates of sessions --------------------------------------------------


def times_of(values: Sequence[object], options: Options, notes: Notes) -> list[datetime | None]:
    """Returns the time of each value; all values are read by the same order of day and month.

    Adds a note if the values do not show that order.
    """
    times, why = read_times(values, options.day_first)
    for what in why:
        notes.repaired((), what)
    return times


def session_starts(
    written: Sequence[tuple[object, Place]], example: str, options: Options, notes: Notes
) -> list[tuple[datetime | None, str]]:
    """Returns the start of each session, and its date as the file writes it.

    All dates are read by the same order of day and month. An unreadable date gets a note with the
    ``example`` of a readable one.
    """
    dated = []
    starts = times_of([value for value, _ in written], options, notes)
    for (value, place), start in zip(written, starts, strict=True):
        raw = str(value) if isinstance(value, str | int | float) else ""
        if start is None and place:
            seen = quoted(raw) if raw else "nothing" if value is None else describe(value)
            what = f'expected a date like "{example}", found {seen}; kept without date'
            notes.repaired(place, what)
        dated.append((start, raw))
    return dated


def note_backwards(sessions: Iterable[Session], place: Place, notes: Notes) -> None:
    """Adds a note that counts the sessions dated before the previous one; none is moved."""
    dated = [(seconds(session.start), session.id) for session in sessions if session.start]
    back = [name for (before, _), (start, name) in pairwise(dated) if start < before]
    if back:
        what = f"{counted(len(back), 'session')} dated before the previous one ({listed(back)})"
        notes.repaired(place, f"{what}; not moved")
