"""Reads RealMem (AvatarMemory/RealMemBench): a file is a conversation with many sessions.

A turn with ``is_query`` is a question, asked at that turn: the memory then knows neither that turn
nor any later one. The assistant's next turn is the gold answer. Its ``memory_used`` names extracted
memories, each with the text of the turn it was extracted from; that turn is the evidence. If no
single turn has that text, the memory's ``session_uuid`` is unresolved evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from segviz.loaders.chat import flagged
from segviz.loaders.columns import Keys, read_chats, session_block
from segviz.loaders.document import Options, Place
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import WrittenChat, stem
from segviz.loaders.questions import WrittenQuestion
from segviz.loaders.report import Notes

LABEL = "RealMem"
_NAMES = {"text": "content", "speaker": "speaker"}

_Sources = Mapping[tuple[str, str], set[str]]


def matches(document: object) -> bool:
    """Returns True if the document has ``dialogues`` with ``dialogue_turns``."""
    return any(isinstance(raw, dict) and "dialogue_turns" in raw for raw in _dialogues(document))


def read(document: object, name: str, options: Options) -> Reading:
    """Reads the file as one conversation."""
    dialogues, notes = _dialogues(document), Notes()
    chat = WrittenChat(stem(name), ("dialogues",), example="2025-12-19 (Friday)")
    for row, raw in enumerate(dialogues):
        session, place = f"session_{row + 1}", ("dialogues", row)
        if isinstance(raw, dict):
            turns, here = raw.get("dialogue_turns"), (*place, "dialogue_turns")
            date = raw.get("current_time"), (*place, "current_time")
            chat.blocks.append(session_block(session, turns, here, notes, *date))
        else:  # noted: it is no list of messages
            chat.blocks.append(session_block(session, raw or "null", place, notes))
    chat.asked = list(_questions(chat, _sources(dialogues), notes))
    expected = "turns such as {speaker, content} in dialogue_turns"
    return read_chats([chat], Keys(_NAMES, _NAMES), LABEL, options, notes, expected), notes


def _dialogues(document: object) -> list[object]:
    dialogues = document.get("dialogues") if isinstance(document, dict) else None
    return dialogues if isinstance(dialogues, list) else []


def _questions(chat: WrittenChat, sources: _Sources, notes: Notes) -> Iterator[WrittenQuestion]:
    """Yields the turns marked as queries, with the answer and evidence in the next turn."""
    for number, block in enumerate(chat.blocks, start=1):
        rows: list[tuple[Place, Any]] = list(block.rows)
        turns = {place[-1]: raw for place, raw in rows}
        for place, raw in rows:
            if not flagged(raw, "is_query"):
                continue
            at = int(place[-1])
            reply = turns.get(at + 1, {})
            answer, text = reply.get("content"), raw.get("content")
            question = {
                "question": text,
                "category_name": raw.get("category_name"),
                "asked_at": f"S{number}:{at + 1}",
            }
            if not isinstance(text, str) or not text.strip():
                yield WrittenQuestion(place, None)
            elif reply.get("speaker") != "Assistant" or not isinstance(answer, str):
                notes.repaired(place, "no turn of the assistant follows; kept without answer")
                yield WrittenQuestion(place, question)
            else:
                question |= {"answer": answer, "memory_used": _evidence(reply, sources)}
                yield WrittenQuestion((*place[:-1], at + 1), question)


def _sources(dialogues: list[object]) -> _Sources:
    """Maps an extracted memory (``session_uuid``, text) to the turns it may stem from."""
    sources: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for row, raw in enumerate(dialogues, start=1):
        dialogue = raw if isinstance(raw, dict) else {}
        turns, memories = dialogue.get("dialogue_turns"), dialogue.get("extracted_memory")
        spoken: defaultdict[str, set[str]] = defaultdict(set)
        for at, turn in enumerate(turns if isinstance(turns, list) else (), start=1):
            match turn:
                case {"content": str(text)} if text.strip():
                    spoken[text.strip()].add(f"S{row}:{at}")
        for memory in memories if isinstance(memories, list) else ():
            match memory:
                case {"content": str(words), "source_content_snapshot": str(text)}:
                    sources[str(dialogue.get("session_uuid")), words] |= spoken[text.strip()]
    return sources


def _evidence(reply: dict[str, object], sources: _Sources) -> list[object]:
    """Returns the turns behind the memories that a reply used, and the sessions of the rest."""
    cited: list[object] = []
    named: set[str] = set()
    for key in ("memory_used", "memory_session_uuids"):
        value = reply.get(key)
        for memory in value if isinstance(value, list) else [] if value is None else [value]:
            match memory:
                case {"session_uuid": str(uuid), "content": str(words)}:
                    turns = sources.get((uuid, words), set())
                    turn = next(iter(turns)) if len(turns) == 1 else uuid
                    if turn == uuid or turn not in cited:
                        cited.append(turn)
                    named.add(uuid)
                case {"session_uuid": uuid}:
                    cited.append(uuid)
                case str(uuid) if uuid in named:
                    pass
                case _:
                    cited.append(memory)
    return cited


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
