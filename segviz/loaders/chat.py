"""What loaders of chats share: messages with times become sessions with turns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from segviz.conversation import (
    Conversation,
    Entry,
    Question,
    Session,
    Turn,
    with_distinct_ids,
)
from segviz.loaders.dates import note_backwards
from segviz.loaders.document import Options
from segviz.loaders.errors import LoadError
from segviz.loaders.items import Item
from segviz.loaders.messages import speakers_of, stem
from segviz.loaders.notes import Note, Notes, Place, shown
from segviz.loaders.wording import counted, describe, one_line, quoted, shorten


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat.

    ``session`` is the block it belongs to where the source names one; ``raw`` is the time
    as written.
    """

    speaker: str
    text: str
    time: datetime | None = None
    raw: str = ""
    session: str | None = None
    caption: str | None = None


def sessions_of(messages: Iterable[Message], gap_hours: float) -> tuple[Session, ...]:
    """Sessions ``session_<n>`` with turns ``S<n>:<m>``, in the order of the messages.

    Messages of one named session come together, where the first of them stands; between
    others a new session begins when more than ``gap_hours`` pass (or are gone back).
    """
    blocks: list[list[Message]] = []
    named: dict[str, list[Message]] = {}
    last: datetime | None = None
    for message in messages:
        if message.session is not None:
            if message.session not in named:
                named[message.session] = []
                blocks.append(named[message.session])
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


def conversation_of(
    name: str,
    messages: Iterable[Message],
    label: str,
    place: Place,
    notes: Notes,
    gap_hours: float,
    usual: Sequence[str] = (),
    questions: tuple[Question, ...] = (),
) -> Conversation | None:
    """A conversation of these messages; None, and a note, when there are none."""
    sessions = sessions_of(messages, gap_hours)
    if not sessions:
        notes.skipped(place, "no messages; the conversation is left out")
        return None
    note_backwards(sessions, place, notes)
    speakers = speakers_of(sessions, usual)
    return Conversation(name, speakers, sessions, questions, source_format=label)


def named_after(candidates: Iterable[object], fallback: str) -> str:
    """The first usable name among ``candidates``, on one line; else ``fallback``."""
    for value in candidates:
        if isinstance(value, str) and value.strip():
            return shorten(one_line(value.strip()), 80)
    return fallback


def numbered(name: str, position: int, total: int) -> str:
    """A name for the conversation at ``position``: the file's stem, numbered if one of many."""
    return stem(name) if total == 1 else f"{stem(name)} {position + 1}"


def settled(
    found: Sequence[tuple[Conversation, Place]], expected: str, notes: Notes
) -> tuple[Conversation, ...]:
    """Conversations with distinct ids; LoadError when there are none."""
    if not found:
        lost = next((note for note in notes if note.kind == "skipped"), None)
        what = "The file was read, but it has no messages"
        if lost is not None:
            what = f"{what}; the first problem is at {shown(lost.place)}: {lost.what}"
        raise LoadError(what, "", expected, "export the conversation again, with its messages")
    conversations = with_distinct_ids([conversation for conversation, _ in found])
    for fresh, (old, place) in zip(conversations, found, strict=True):
        if fresh.id != old.id:
            what = f"{quoted(old.id)} is taken by another conversation; called {quoted(fresh.id)}"
            notes.repaired(place, what)
    return conversations


def read_each(
    rows: Sequence[tuple[Place, object]],
    read: Callable[[dict[str, object], Place, int], Conversation | None],
    expected: str,
    notes: Notes,
) -> tuple[Conversation, ...]:
    """The conversations of a list of objects; ``read`` gets each with its place and row."""
    found: list[tuple[Conversation, Place]] = []
    for row, (place, raw) in enumerate(rows):
        if not isinstance(raw, dict):
            notes.skipped(place, f"expected {expected}, found {describe(raw)}")
        elif (conversation := read(raw, place, row)) is not None:
            found.append((conversation, place))
    return settled(found, expected, notes)


@dataclass(frozen=True, slots=True)
class Talk:
    """One chat of a file that holds several.

    ``titles`` may name it, the first usable one does; ``usual`` speakers come first.
    """

    titles: Sequence[object]
    messages: Sequence[Message]
    usual: Sequence[str] = ()


def read_talks(
    rows: Sequence[tuple[Place, object]],
    talk: Callable[[dict[str, object], Place, Notes], Talk | None],
    label: str,
    expected: str,
    name: str,
    options: Options,
) -> tuple[tuple[Conversation, ...], list[Note]]:
    """A conversation for each row that ``talk`` makes something of, with the notes.

    ``name`` is the file's: a chat without a title is called after it. Raises LoadError when
    there are no messages at all.
    """
    notes = Notes()

    def one(raw: dict[str, object], place: Place, row: int) -> Conversation | None:
        found = talk(raw, place, notes)
        if found is None:
            return None
        title = named_after(found.titles, numbered(name, row, len(rows)))
        return conversation_of(
            title, found.messages, label, place, notes, options.gap_hours, usual=found.usual
        )

    return read_each(rows, one, expected, notes), notes


def titled(item: Item, *keys: str) -> Entry:
    """A chat as a list of them shows it: its name; how long it is, only reading tells."""
    own = item.scalars()
    return Entry(named_after([own.get(key) for key in keys], ""), None, None)


def rows_of(document: object) -> list[tuple[Place, object]]:
    """The items of a list, or the document as the only one, each with its place."""
    if isinstance(document, list):
        return [((row,), raw) for row, raw in enumerate(document)]
    return [((), document)]


def words(value: object, place: Place, notes: Notes) -> str | None:
    """A message's words: a text, a number, or the text parts of a list of blocks.

    None, with a note, for anything else. Blocks that are no text (images, calls of tools)
    are left out and counted.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        notes.repaired(place, "a number was read as text")
        return str(value)
    if isinstance(value, list):
        parts = [part for block in value if (part := _part(block)) is not None]
        if left := len(value) - len(parts):
            notes.skipped(place, f"{counted(left, 'part')} without text left out")
        return "\n".join(parts) if parts else None
    notes.skipped(place, f"expected a text, found {describe(value)}; the message is left out")
    return None


def _part(block: object) -> str | None:
    value = block.get("text") if isinstance(block, dict) else block
    return value if isinstance(value, str) else None


def speaker_named(value: object, place: Place, notes: Notes) -> str:
    """The speaker's name, or "Unknown" with a note."""
    if isinstance(value, str) and value.strip():
        return one_line(value.strip())
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    notes.repaired(place, f"expected a speaker's name, found {describe(value)}; called Unknown")
    return "Unknown"


def note_left_out(counts: Counter[str], place: Place, notes: Notes) -> None:
    """One note on messages that are no part of the talk, by kind: ``3 system, 12 tool``."""
    if counts:
        kinds = ", ".join(f"{count:,} {one_line(shorten(kind))}" for kind, count in counts.items())
        notes.skipped(place, f"messages left out: {kinds}")
