"""Reads LongMemEval, and the rows of MemoryAgentBench that are made of it.

LongMemEval (xiaowu0162/LongMemEval; oracle, S, M) has one question per instance, on a haystack of
sessions in parallel lists. Session ids repeat, and their prefix ``answer_`` reveals the gold
sessions, so sessions and turns are named by their positions. The evidence are the turns with
``has_answer: true``, else the sessions of ``answer_session_ids``. A ``question_id`` that ends in
``_abs`` marks an abstention: its answer says that the conversation does not mention it.

MemoryAgentBench has many questions per row: ``{context, questions, answers, metadata}``. This
reader was written after the data card and tested on rows made alike. ``context`` is the Python text
of a list, ``['Chat Time: 2022/11/17 (Thu) 12:04', [{'role': …, 'content': …}, …], …]``; it is
parsed as a literal, never run. The turns with ``has_answer`` in ``metadata.haystack_sessions`` are
found in the context by their text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from segviz.conversation import Conversation, Entry, Question, Session
from segviz.loaders.chat import Names, WrittenSession, flagged, read_sessions, speakers_of
from segviz.loaders.decode import literal
from segviz.loaders.document import Options, Place, PlainText
from segviz.loaders.json_scanner import Item
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import (
    id_under,
    known_id,
    numbered,
    read_each,
    rows_of,
)
from segviz.loaders.questions import WrittenQuestion, read_questions, turn_index, unique_index
from segviz.loaders.report import Notes
from segviz.text.captions import counted, describe

_NAMES = Names("content", "role")
_USUAL = ("user", "assistant")
_EXAMPLE = "2023/05/28 (Sun) 19:47"
_HAYSTACK = "haystack_sessions"
_TIME = "Chat Time:"


# --- LongMemEval -----------------------------------------------------------------------


def _is_instance(document: object) -> bool:
    return any(isinstance(raw, dict) and _HAYSTACK in raw for _, raw in rows_of(document))


def _read_instances(document: object, name: str, options: Options) -> Reading:
    notes = Notes()
    read = partial(_instance, name=name, options=options, notes=notes)
    expected = f"turns such as {{role, content}} in {_HAYSTACK}"
    return read_each(rows_of(document), read, expected, notes, "question_id"), notes


def _instance(
    place: Place, raw: object, name: str, options: Options, notes: Notes
) -> Conversation | None:
    if not isinstance(raw, dict) or _HAYSTACK not in raw:
        notes.skipped(place, f"expected an instance with {_HAYSTACK}, found {describe(raw)}")
        return None
    blocks, inner = raw[_HAYSTACK], (*place, _HAYSTACK)
    if not isinstance(blocks, list):
        notes.skipped(inner, f"expected a list of sessions, found {describe(blocks)}")
        return None
    dates, at = raw.get("haystack_dates"), (*place, "haystack_dates")
    dates = dates if isinstance(dates, list) else []
    if len(dates) != len(blocks):
        sizes = f"{counted(len(dates), 'date')} for {counted(len(blocks), 'session')}"
        notes.repaired(at, f"{sizes}; joined by position")
    written = [
        WrittenSession(f"session_{row + 1}", block, (*inner, row), *_at(dates, row, at))
        for row, block in enumerate(blocks)
    ]
    sessions = read_sessions(written, _NAMES, _EXAMPLE, inner, options, notes)
    if not sessions:
        return None
    marked = [
        f"S{row}:{number}"
        for row, block in enumerate(blocks, start=1)
        for number, item in enumerate(block if isinstance(block, list) else (), start=1)
        if flagged(item, "has_answer")
    ]
    index = turn_index(turn.id for session in sessions for turn in session.turns)
    names = raw.get("haystack_session_ids")
    for row, session in enumerate(names if isinstance(names, list) else (), start=1):
        index[known_id(session)] = f"session_{row}"
    question = {**raw, "evidence": marked} if marked else raw
    if str(raw.get("question_id")).endswith("_abs"):
        question = {**question, "category": "abstention", "answer_session_ids": None}
    return Conversation(
        id=id_under(raw, "question_id", name, place, notes),
        speakers=speakers_of(sessions, _USUAL),
        sessions=sessions,
        questions=read_questions([WrittenQuestion(place, question)], index, notes),
        source_format="LongMemEval",
    )


def _at(dates: Sequence[object], row: int, place: Place) -> tuple[object, Place]:
    return (dates[row], (*place, row)) if row < len(dates) else (None, ())


def _entry(item: Item) -> Entry:
    """Describes an instance from its outline, in which sessions nest 2 levels deep, turns 3."""
    own = item.scalars()
    question = own.get("question")
    about = question if isinstance(question, str) else ""
    return Entry(known_id(own.get("question_id")), item.lists[2], item.objects[3], about)


# --- MemoryAgentBench ------------------------------------------------------------------


def _is_row(document: object) -> bool:
    if isinstance(document, PlainText):
        return document.text.lstrip()[:200].startswith((f"['{_TIME}", f'["{_TIME}'))
    keys = {"context", "questions", "answers"}
    return any(isinstance(raw, dict) and keys <= raw.keys() for _, raw in rows_of(document))


def _read_rows(document: object, name: str, options: Options) -> Reading:
    notes = Notes()
    raw = {"context": document.text} if isinstance(document, PlainText) else document
    rows = rows_of(raw)
    names = {place: numbered(name, row, len(rows)) for row, (place, _) in enumerate(rows)}
    read = partial(_row, names=names, options=options, notes=notes)
    return read_each(rows, read, "a row with context, questions and answers", notes), notes


def _row(
    place: Place, raw: object, names: dict[Place, str], options: Options, notes: Notes
) -> Conversation | None:
    if not isinstance(raw, dict):
        notes.skipped(place, f"expected a row (an object), found {describe(raw)}")
        return None
    written: list[WrittenSession] = []
    here: Place = (*place, "context")
    date: tuple[object, Place] = (None, ())
    for part in _parts(raw.get("context"), here, notes):
        if isinstance(part, str):
            date = part.removeprefix(_TIME).strip(), here
        else:
            written.append(WrittenSession(f"session_{len(written) + 1}", part, here, *date))
            date = None, ()
    sessions = read_sessions(written, _NAMES, _EXAMPLE, here, options, notes)
    if not sessions:
        return None
    questions = _questions(raw, sessions, place, notes)
    return Conversation(
        names[place], speakers_of(sessions, _USUAL), sessions, questions, "MemoryAgentBench"
    )


def _parts(context: object, place: Place, notes: Notes) -> list[object]:
    """Returns the times and chats in a row's context, in order."""
    parts = context
    if isinstance(context, str):
        parts, mended = literal(context)
        notes.take(mended, place)
    pairs = parts if isinstance(parts, list) else []
    if not pairs:
        notes.skipped(place, "the context is no list of chats; it may be a document, or cut off")
    if all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    ):
        # Also seen: [['Chat Time: …', [turns]], …].
        return [part for pair in pairs for part in pair]
    return list(pairs)


def _questions(
    raw: dict[str, object], sessions: Sequence[Session], place: Place, notes: Notes
) -> tuple[Question, ...]:
    """Reads the questions of a row, whose answers, categories and haystacks are parallel lists."""
    texts, facts = raw.get("questions"), raw.get("metadata")
    if texts is not None and not isinstance(texts, list):
        notes.skipped((*place, "questions"), f"expected a list, found {describe(texts)}")
    facts = facts if isinstance(facts, dict) else {}
    lists = (raw.get("answers"), facts.get("question_types"), facts.get(_HAYSTACK))
    asked = []
    for row, text in enumerate(texts if isinstance(texts, list) else ()):
        answers, kind, haystack = (
            each[row] if isinstance(each, list) and row < len(each) else None for each in lists
        )
        several = answers if isinstance(answers, list) else [answers]
        accepted = [str(each) for each in several if isinstance(each, str | int | float)]
        question = {
            "question": text,
            "answer": " / ".join(accepted) or None,
            "category": kind,
            "evidence": [{"text": marked} for marked in _marked(haystack)],
        }
        asked.append(WrittenQuestion((*place, "questions", row), question))
    turns = [turn for session in sessions for turn in session.turns]
    return read_questions(asked, unique_index((turn.text, turn.id) for turn in turns), notes)


def _marked(haystack: object) -> Iterator[str]:
    """Yields the texts of the turns marked ``has_answer`` in the sessions of one question."""
    for session in haystack if isinstance(haystack, list) else ():
        for turn in session if isinstance(session, list) else ():
            if flagged(turn, "has_answer") and isinstance(text := turn.get("content"), str):
                yield text


LONGMEMEVAL = Loader(
    "LongMemEval",
    _is_instance,
    _read_instances,
    ("day_first",),
    _entry,
    (
        "an instance (oracle, S, M): haystack with dates, question, turns with the answer",
        "the date of the question",
    ),
)

MEMORYAGENTBENCH = Loader(
    "MemoryAgentBench",
    _is_row,
    _read_rows,
    about=(
        "a row whose context is a list of chats (Parquet, JSON), with dates and questions",
        "rows whose context is a document",
    ),
)
