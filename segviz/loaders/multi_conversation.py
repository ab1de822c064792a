"""What a file of several conversations asks for: names and distinct ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from segviz.conversation import Conversation, with_distinct_ids
from segviz.loaders.chat import Message, note_backwards, oldest_first, sessions_of, speakers_of
from segviz.loaders.document import Options, Place
from segviz.loaders.errors import LoadError
from segviz.loaders.report import Note, Notes, shown
from segviz.text.captions import describe, one_line, quoted, shorten


def rows_of(document: object) -> list[tuple[Place, object]]:
    """The items of a list, or the document as the only one, each with its place."""
    if isinstance(document, list):
        return [((row,), raw) for row, raw in enumerate(document)]
    return [((), document)]


# --- names ---------------------------------------------------------------------------


def stem(name: str) -> str:
    """The file's name without its ending."""
    return (name[: name.rfind(".")] if name.rfind(".") > 0 else name).strip() or "conversation"


def named_after(candidates: Iterable[object], fallback: str) -> str:
    """The first usable name among ``candidates``, on one line; else ``fallback``."""
    for value in candidates:
        if isinstance(value, str) and value.strip():
            return shorten(one_line(value.strip()), 80)
    return fallback


def numbered(name: str, position: int, total: int) -> str:
    """A name for the conversation at ``position``: the file's stem, numbered if one of many."""
    return stem(name) if total == 1 else f"{stem(name)} {position + 1}"


def unused(wanted: str, taken: Collection[str]) -> str:
    """``wanted``, or with ``#2``, ``#3`` … behind it the first that is not ``taken``."""
    fresh, count = wanted, 1
    while fresh in taken:
        count += 1
        fresh = f"{wanted}#{count}"
    return fresh


def known_id(value: object) -> str:
    """An id as a data set writes it, a text or a whole number; "" for anything else."""
    known = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value).strip() if known else ""


def id_under(raw: dict[str, object], key: str, name: str, place: Place, notes: Notes) -> str:
    """The id under ``key``; where there is none the file's stem, with a note."""
    if found := known_id(raw.get(key)):
        return found
    there = describe(raw[key]) if key in raw else "nothing"
    what = f"expected a name, found {there}; named {quoted(stem(name))} after the file"
    notes.repaired((*place, key), what)
    return stem(name)


# --- all conversations of a file -----------------------------------------------------


def settled(
    found: Sequence[tuple[Conversation, Place]], expected: str, notes: Notes, *key: str
) -> tuple[Conversation, ...]:
    """Conversations with distinct ids; LoadError when there are none. Each stands with its place;
    where ids have a ``key`` there, notes on them name it."""
    if not found:
        raise nothing_usable(expected, notes)
    conversations = with_distinct_ids([conversation for conversation, _ in found])
    for fresh, (old, place) in zip(conversations, found, strict=True):
        if fresh.id != old.id:
            what = f"{quoted(old.id)} is taken by another conversation; called {quoted(fresh.id)}"
            notes.repaired((*place, *key), what)
    return conversations


def nothing_usable(expected: str, notes: Sequence[Note]) -> LoadError:
    """The error of a file without a turn, with the first record that was left out."""
    first = next((note for note in notes if note.kind == "skipped"), None)
    lost = f"; the first problem is at {shown(first.place)}: {first.what}" if first else ""
    what = f"The file was read, but it has no messages{lost}"
    return LoadError(what, "", expected, "export the conversation again, with its messages")


Chat = tuple[str, Sequence[Message], Place]
"""Name, messages and place of a conversation to be."""


def read_chats(
    chats: Iterable[Chat],
    label: str,
    options: Options,
    notes: Notes,
    expected: str = "messages",
    usual: Sequence[str] = (),
) -> tuple[Conversation, ...]:
    """The conversations of the chats that have messages; those without are noted. The ``usual``
    speakers come first. LoadError when there is no message at all."""
    found: list[tuple[Conversation, Place]] = []
    for name, messages, place in chats:
        sessions = sessions_of(oldest_first(messages, place, notes), options.gap_hours)
        if not sessions:
            notes.skipped(place, "no messages; the conversation is left out")
            continue
        note_backwards(sessions, place, notes)
        speakers = speakers_of(sessions, usual)
        found.append((Conversation(name, speakers, sessions, source_format=label), place))
    return settled(found, expected, notes)
