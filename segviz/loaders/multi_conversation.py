"""What loaders of files with several chats share: names, and one conversation for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from segviz.conversation import Conversation, Entry, with_distinct_ids
from segviz.loaders.captions import describe, one_line, quoted, shorten
from segviz.loaders.chat import Message, conversation_of
from segviz.loaders.document import Options
from segviz.loaders.errors import LoadError
from segviz.loaders.items import Item
from segviz.loaders.messages import stem
from segviz.loaders.notes import Note, Notes, Place, shown


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
