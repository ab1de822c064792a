"""Makes conversations of the chats in a file, with names and distinct ids."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from segviz.conversation import Conversation, Question, Session, with_distinct_ids
from segviz.loaders.chat import (
    Message,
    in_sessions,
    note_backwards,
    note_split,
    oldest_first,
    session_of,
    speakers_of,
)
from segviz.loaders.document import Options, Place
from segviz.loaders.errors import LoadError
from segviz.loaders.questions import (
    WrittenQuestion,
    note_late_evidence,
    read_questions,
    turn_index,
    unique_index,
)
from segviz.loaders.report import Notes, shown
from segviz.text.captions import describe, one_line, quoted, shorten


def rows_of(document: object) -> list[tuple[Place, object]]:
    """Returns the items of a list with their places; any other document is the only item."""
    if isinstance(document, list):
        return [((row,), raw) for row, raw in enumerate(document)]
    return [((), document)]


# --- names ---------------------------------------------------------------------------


def stem(name: str) -> str:
    """Returns a file's name without its extension."""
    return (name[: name.rfind(".")] if name.rfind(".") > 0 else name).strip() or "conversation"


def named_after(candidates: Iterable[object], fallback: str) -> str:
    """Returns the first text that is not blank, on one line; ``fallback`` if there is none."""
    for value in candidates:
        if isinstance(value, str) and value.strip():
            return shorten(one_line(value.strip()), 80)
    return fallback


def numbered(name: str, position: int, total: int) -> str:
    """Names a conversation after its file, with a number if the file holds several."""
    return stem(name) if total == 1 else f"{stem(name)} {position + 1}"


def known_id(value: object) -> str:
    """Returns an id as text if it is a string or a whole number; else ""."""
    known = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value).strip() if known else ""


def id_under(raw: dict[str, object], key: str, fallback: str, place: Place, notes: Notes) -> str:
    """Returns an object's id under a key; without an id the file's name, with a note."""
    if name := known_id(raw.get(key)):
        return name
    there = describe(raw[key]) if key in raw else "nothing"
    what = f"expected a name, found {there}; named {quoted(stem(fallback))} after the file"
    notes.repaired((*place, key), what)
    return stem(fallback)


# --- all conversations of a file -----------------------------------------------------


def _distinct(
    placed: Sequence[tuple[Conversation, Place]], expected: str, notes: Notes
) -> tuple[Conversation, ...]:
    """Returns the conversations with distinct ids; adds a note for each changed id.

    ``placed`` has each conversation with its place in the file. If it is empty, raises LoadError
    with the first record that was left out.
    """
    if not placed:
        first = next((note for note in notes if note.kind == "skipped"), None)
        lost = f"; the first problem is at {shown(first.place)}: {first.what}" if first else ""
        what = f"The file was read, but it has no messages{lost}"
        raise LoadError(what, "", expected, "export the conversation again, with its messages")
    conversations = with_distinct_ids([conversation for conversation, _ in placed])
    for fresh, (old, place) in zip(conversations, placed, strict=True):
        if fresh.id != old.id:
            what = f"{quoted(old.id)} is taken by another conversation; called {quoted(fresh.id)}"
            notes.repaired(place, what)
    return conversations


@dataclass(slots=True)
class Block:
    """Consecutive messages of a chat, as records with their places in the file.

    ``began`` is the time of the block, used if none of its messages has a time. ``left`` counts the
    messages left out, by kind. If the block is a session of a data set, ``name`` is its id,
    ``began`` its date and ``at`` the place of the date.
    """

    rows: Sequence[tuple[Place, object]]
    began: object = None
    left: Counter[str] = field(default_factory=Counter)
    name: str = ""
    at: Place = ()


@dataclass(slots=True)
class WrittenChat:
    """Chat as a file writes it: ``messages``, or ``blocks`` of records to read them from.

    Several blocks are its sessions. ``others`` counts messages on branches that are not shown. If
    ``nameless`` is True, no speaker is named and two alternate. ``asked`` are the questions about
    the chat. In a data set, the order and the ids of the file are kept, ``example`` is a date in
    its style, and ``finish`` adds what only this data set has.
    """

    name: str
    place: Place
    blocks: list[Block] = field(default_factory=list)
    others: int = 0
    nameless: bool = False
    asked: list[WrittenQuestion] = field(default_factory=list)
    example: str = ""
    finish: Callable[[Conversation], Conversation] = lambda made: made
    messages: list[Message] = field(default_factory=list)


def conversations_of(
    chats: Iterable[WrittenChat],
    label: str,
    options: Options,
    notes: Notes,
    expected: str = "messages",
    usual: Sequence[str] = (),
) -> tuple[Conversation, ...]:
    """Makes conversations of the chats that have messages; the others get a note.

    Speakers with ``usual`` names come first. Raises LoadError if no chat has a message.
    """
    placed: list[tuple[Conversation, Place]] = []
    for chat in chats:
        # A data set keeps its order, its sessions and its ids.
        given = bool(chat.example)
        ordered = chat.messages if given else oldest_first(chat.messages, chat.place, notes)
        gap_hours = math.inf if given else options.gap_hours
        blocks = in_sessions(ordered, gap_hours)
        if not blocks:
            notes.skipped(chat.place, "no messages; the conversation is left out")
            continue
        sessions = tuple(
            session_of(number, block, given) for number, block in enumerate(blocks, start=1)
        )
        note_split(blocks, gap_hours, chat.place, notes)
        note_backwards(sessions, chat.place, notes)
        speakers = speakers_of(sessions, usual)
        questions = _questions(chat, blocks, sessions, notes) if chat.asked else ()
        made = Conversation(chat.name, speakers, sessions, questions, label)
        placed.append((chat.finish(made), chat.place))
    return _distinct(placed, expected, notes)


def _questions(
    chat: WrittenChat,
    blocks: Sequence[Sequence[Message]],
    sessions: Sequence[Session],
    notes: Notes,
) -> tuple[Question, ...]:
    """Reads questions whose evidence names messages by their ids or by their texts.

    A question asked after a session gets the moment of the next session's first turn.
    """
    turns = [turn for session in sessions for turn in session.turns]
    messages = [message for block in blocks for message in block]
    # What evidence may cite: a turn's text, its id in any spelling, or the message's own id.
    index = unique_index((turn.text, turn.id) for turn in turns)
    index |= turn_index(turn.id for turn in turns)
    pairs = zip(messages, turns, strict=True)
    index |= unique_index((message.id, turn.id) for message, turn in pairs)
    # The first turn of the next session, by the name of a session.
    starts = zip(blocks, sessions, strict=True)
    steps = pairwise((block[0].session, session.turns[0].id) for block, session in starts)
    moments = {name: start for (name, _), (_, start) in steps}
    timed = [
        each._replace(raw={**each.raw, "asked_at": moments[each.after]})
        if isinstance(each.raw, dict) and each.after in moments
        else each
        for each in chat.asked
    ]
    questions = read_questions(timed, index, notes)
    note_late_evidence(questions, (turn.id for turn in turns), chat.place, notes)
    return questions
