"""Makes conversations of the chats in a file, with names and distinct ids."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from segviz.conversation import (
    Conversation,
    Corpus,
    Question,
    Session,
    StoredText,
    seconds,
    with_distinct_ids,
)
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
from segviz.text.captions import counted, describe, listed, one_line, quoted, shorten


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

    Several blocks are its sessions. ``others`` are messages on branches that are not shown,
    ``copies`` counts messages that the file repeats. ``titled`` is True if the name is a title. If
    ``nameless`` is True, no speaker is named and two alternate. ``asked`` are the questions about
    the chat. In a data set, the order and the ids of the file are kept, ``example`` is a date in
    its style, and ``finish`` adds what only this data set has.
    """

    name: str
    place: Place
    blocks: list[Block] = field(default_factory=list)
    others: list[object] = field(default_factory=list)
    nameless: bool = False
    copies: int = 0
    titled: bool = False
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


# --- all conversations as one --------------------------------------------------------

JOINED = "all conversations"
"""Id of the conversation that :func:`joined` makes."""


def joined(corpus: Corpus) -> Corpus:
    """Returns a corpus with one conversation: the sessions of all, in the order of their times.

    A corpus of one conversation stays as it is.

    Sessions name their conversation (``Session.chat``). Ids of sessions and turns get its number,
    ``C3:S1:2``; questions and facts follow them. Questions without a moment are asked at the end.

    Raises:
        LoadError: A session has no time.
    """
    conversations = tuple(corpus)  # each of a large file is read once
    if len(conversations) == 1:
        return corpus
    undated = [each.id for each in conversations if not all(s.start for s in each.sessions)]
    if undated:
        of = f"{counted(len(undated), 'conversation')} of {len(conversations)}"
        names = listed([quoted(shorten(name)) for name in undated])
        what = f"sessions have no time in {of} ({names}), so their order is unknown"
        remedy = "open the conversations one by one, or leave out those without times"
        raise LoadError(what, corpus.report.name, "a time in every session", remedy)
    sessions: list[Session] = []
    questions: list[Question] = []
    facts: list[StoredText] = []
    for number, each in enumerate(conversations, start=1):
        prefix = f"C{number}:"
        for session in each.sessions:
            turns = tuple(replace(turn, id=prefix + turn.id) for turn in session.turns)
            sessions.append(replace(session, id=prefix + session.id, turns=turns, chat=each.id))
        for one in each.questions:
            asked_at = one.asked_at and prefix + one.asked_at
            moved = replace(one, evidence=_all(prefix, one.evidence), asked_at=asked_at)
            if one.disputed and one.disputed.evidence is not None:
                cited = _all(prefix, one.disputed.evidence)
                moved = replace(moved, disputed=replace(one.disputed, evidence=cited))
            questions.append(replace(moved, index=len(questions)))
        for fact in each.observations:
            owner, sources = fact.session and prefix + fact.session, _all(prefix, fact.sources)
            facts.append(replace(fact, id=prefix + fact.id, session=owner, sources=sources))
    whole = Conversation(
        JOINED,
        tuple(dict.fromkeys(who for each in conversations for who in each.speakers)),
        tuple(sorted(sessions, key=lambda each: seconds(each.start) if each.start else 0.0)),
        tuple(questions),
        corpus.report.source_format,
        tuple(facts),
    )
    return Corpus((whole,), corpus.report)


def _all(prefix: str, ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(prefix + each for each in ids)
