"""Reads RealMem (AvatarMemory/RealMemBench): a file is a conversation with many sessions.

A turn with ``is_query`` is a question, asked at that turn: the memory then knows neither that turn
nor any later one. The assistant's next turn is the gold answer. Its ``memory_used`` names extracted
memories, each with the text of the turn it was extracted from; that turn is the evidence. If no
single turn has that text, the memory's ``session_uuid`` is unresolved evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from segviz.conversation import Conversation, Question, Session, Turn
from segviz.loaders.chat import Names, WrittenSession, flagged, read_sessions, speakers_of
from segviz.loaders.document import Options, Place
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import nothing_usable, stem
from segviz.loaders.questions import note_late_evidence, read_category
from segviz.loaders.report import Notes
from segviz.text.captions import describe, quoted

LABEL = "RealMem"

_Sources = Mapping[tuple[str, str], set[str]]


def matches(document: object) -> bool:
    """Returns True if the document has ``dialogues`` with ``dialogue_turns``."""
    return any(isinstance(raw, dict) and "dialogue_turns" in raw for raw in _dialogues(document))


def read(document: object, name: str, options: Options) -> Reading:
    """Reads the file as one conversation."""
    dialogues, notes = _dialogues(document), Notes()
    written: list[WrittenSession] = []
    for row, raw in enumerate(dialogues):
        session, place = f"session_{row + 1}", ("dialogues", row)
        if isinstance(raw, dict):
            turns, here = raw.get("dialogue_turns"), (*place, "dialogue_turns")
            date = raw.get("current_time"), (*place, "current_time")
            written.append(WrittenSession(session, turns, here, *date))
        else:
            written.append(
                WrittenSession(session, raw or "null", place)
            )  # noted: no list of messages
    names, example = Names("content", "speaker"), "2025-12-19 (Friday)"
    sessions = read_sessions(written, names, example, ("dialogues",), options, notes)
    if not sessions:
        raise nothing_usable("turns such as {speaker, content} in dialogue_turns", notes)
    speakers = speakers_of(sessions, ("User", "Assistant"))
    questions = _questions(dialogues, sessions, notes)
    return (Conversation(stem(name), speakers, sessions, questions, LABEL),), notes


def _dialogues(document: object) -> list[object]:
    dialogues = document.get("dialogues") if isinstance(document, dict) else None
    return dialogues if isinstance(dialogues, list) else []


def _questions(
    dialogues: list[object], sessions: Sequence[Session], notes: Notes
) -> tuple[Question, ...]:
    """Reads the turns marked as queries; ``Question.index`` counts unusable queries, too."""
    turns = {turn.id: turn for session in sessions for turn in session.turns}
    sources = _sources(dialogues, turns)
    queries = [
        (row, at, block)
        for row, raw in enumerate(dialogues)
        if isinstance(raw, dict) and isinstance(block := raw.get("dialogue_turns"), list)
        for at, item in enumerate(block)
        if flagged(item, "is_query")
    ]
    questions = []
    for index, (row, at, block) in enumerate(queries):
        place: Place = ("dialogues", row, "dialogue_turns", at)
        query = turns.get(f"S{row + 1}:{at + 1}")
        answer = turns.get(f"S{row + 1}:{at + 2}")
        kind = read_category(block[at].get("category_name"), (*place, "category_name"), notes)
        if query is None or not query.text.strip():
            notes.skipped(place, "a query without words; the question is left out")
        elif answer is None or answer.speaker != "Assistant":
            notes.repaired(place, "no turn of the assistant follows; kept without answer")
            questions.append(Question(index, query.text, None, kind, (), asked_at=query.id))
        else:
            evidence = _evidence(block[at + 1], sources, (*place[:-1], at + 1), notes)
            questions.append(
                Question(index, query.text, answer.text, kind, *evidence, asked_at=query.id)
            )
    note_late_evidence(questions, turns, ("dialogues",), notes)
    return tuple(questions)


def _sources(dialogues: list[object], turns: Mapping[str, Turn]) -> _Sources:
    """Maps an extracted memory (its ``session_uuid`` and text) to the turns it may come from."""
    spoken: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for turn in turns.values():
        spoken[turn.id.partition(":")[0], turn.text.strip()].add(turn.id)
    sources: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for row, raw in enumerate(dialogues):
        memories = raw.get("extracted_memory") if isinstance(raw, dict) else None
        for memory in memories if isinstance(memories, list) else ():
            match raw, memory:
                case (
                    {"session_uuid": str(uuid)},
                    {"content": str(words), "source_content_snapshot": str(text)},
                ) if text.strip():
                    sources[uuid, words] |= spoken[f"S{row + 1}", text.strip()]
    return sources


def _evidence(
    answer: dict[str, object], sources: _Sources, place: Place, notes: Notes
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the turns behind the memories that an answer used, and the sessions of the rest."""
    found: dict[str, None] = {}
    unresolved: dict[str, None] = {}
    seen = set()
    for key in ("memory_used", "memory_session_uuids"):
        value = answer.get(key)
        if not isinstance(value, list | None):
            notes.repaired((*place, key), f"expected a list, found {describe(value)}; left out")
        for row, item in enumerate(value if isinstance(value, list) else ()):
            memory = item if isinstance(item, dict) else {"session_uuid": item}
            uuid, words = memory.get("session_uuid"), memory.get("content")
            here = (*place, key, row)
            if not isinstance(uuid, str):
                notes.repaired(here, f"expected a session_uuid, found {describe(uuid)}; left out")
                continue
            if isinstance(words, str) and len(ids := sources.get((uuid, words), set())) == 1:
                found.update(dict.fromkeys(ids))
            elif key == "memory_used" or uuid not in seen:
                unresolved[uuid] = None
                what = f"could not find the turn behind {quoted(uuid)}; kept as unresolved evidence"
                notes.repaired(here, what)
            seen.add(uuid)
    return tuple(found), tuple(unresolved)


LOADER = Loader(
    LABEL,
    matches,
    read,
    ("day_first",),
    about=(
        "a persona: dialogues with dates, queries asked at their place, the turns behind memories",
        "extracted memories, schedules",
    ),
)
