"""MemoryAgentBench's LongMemEval rows: ``{context, questions, answers, metadata}``.

Made after the data card and descriptions of the Parquet file, and tested on rows made
alike, as Parquet, JSON and JSON Lines. ``context`` is the Python text of
a flat list, ``['Chat Time: 2022/11/17 (Thu) 12:04', [{'role': …, 'content': …}, …], …]``,
and is read as a literal, never run. The turns marked ``has_answer`` in a question's
``metadata.haystack_sessions`` are found again in the context by their words. Rows whose
context is a document instead of chats are refused.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from datetime import datetime

from segviz.conversation import Conversation, Question, Session
from segviz.loaders.chat import note_backwards, read_messages, speakers_of
from segviz.loaders.decode import clean
from segviz.loaders.document import Options, Place, PlainText
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import numbered, rows_of, settled
from segviz.loaders.questions import read_category
from segviz.loaders.report import Notes
from segviz.text.captions import counted, describe
from segviz.text.dates import read_time

LABEL = "MemoryAgentBench"

LONGEST = 20_000_000
"""Most characters of a context; the published ones have 1.6 to 1.7 million."""

_TIME = "Chat Time:"
_EXPECTED = "a row with context, questions and answers"


def matches(document: object) -> bool:
    """Whether the document is such a row or a list of them, or the text of a context."""
    if isinstance(document, PlainText):
        return document.text.lstrip()[:200].startswith((f"['{_TIME}", f'["{_TIME}'))
    return any(
        isinstance(raw, dict) and {"context", "questions", "answers"} <= raw.keys()
        for _, raw in rows_of(document)
    )


def read(document: object, name: str, options: Options) -> Reading:
    """One conversation per row. Raises LoadError when no row has a readable context."""
    notes = Notes()
    raw = {"context": document.text} if isinstance(document, PlainText) else document
    rows = rows_of(raw)
    found: list[tuple[Conversation, Place]] = []
    for row, (place, raw) in enumerate(rows):
        if not isinstance(raw, dict):
            notes.skipped(place, f"expected {_EXPECTED}, found {describe(raw)}")
        elif sessions := _sessions(raw.get("context"), (*place, "context"), notes):
            note_backwards(sessions, (*place, "context"), notes)
            conversation = Conversation(
                id=numbered(name, row, len(rows)),
                speakers=speakers_of(sessions, ("user", "assistant")),
                sessions=sessions,
                questions=_questions(raw, sessions, place, notes),
                source_format=LABEL,
            )
            found.append((conversation, place))
    return settled(found, _EXPECTED, notes), notes


def _sessions(context: object, place: Place, notes: Notes) -> tuple[Session, ...]:
    parts = _literal(context, place, notes)
    sessions: list[Session] = []
    start: tuple[datetime | None, str] = (None, "")
    for part in parts:
        if isinstance(part, str):
            raw = part.removeprefix(_TIME).strip()
            start = (read_time(raw), raw)
            if start[0] is None:
                what = 'expected "Chat Time: 2022/11/17 (Thu) 12:04"; the session has no date'
                notes.repaired(place, what)
            continue
        number = len(sessions) + 1
        if turns := read_messages(part, "role", number, place, notes):
            sessions.append(Session(f"session_{number}", *start, turns))
        start = (None, "")
    if not sessions:
        what = "no chats in the context (a document?); the row is left out"
        notes.skipped(place, what)
    return tuple(sessions)


def _literal(context: object, place: Place, notes: Notes) -> list[object]:
    """The list that the context spells; also where it is one already."""
    if isinstance(context, list):
        parts: object = context
    elif not isinstance(context, str) or not context.lstrip().startswith("["):
        return []
    elif len(context) > LONGEST:
        what = f"the context has {len(context):,} characters, more than {LONGEST:,}"
        notes.skipped(place, what)
        return []
    else:
        try:
            # By way of JSON: tuples become lists, and what JSON does not know is refused.
            parts, mended = clean(json.loads(json.dumps(ast.literal_eval(context.strip()))))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            notes.skipped(place, "the context is no Python list; it may be cut off")
            return []
        for note in mended:
            notes.repaired(place, note.what)
    pairs = parts if isinstance(parts, list) else []
    if all(isinstance(pair, list) and len(pair) == 2 and _is_time(pair[0]) for pair in pairs):
        # Also seen: [['Chat Time: …', [turns]], …].
        return [part for pair in pairs for part in pair]
    return list(pairs)


def _is_time(part: object) -> bool:
    return isinstance(part, str) and part.startswith(_TIME)


def _questions(
    raw: dict[str, object], sessions: tuple[Session, ...], place: Place, notes: Notes
) -> tuple[Question, ...]:
    texts, answers, facts = raw.get("questions"), raw.get("answers"), raw.get("metadata")
    if not isinstance(texts, list):
        if texts is not None:
            what = f"expected a list, found {describe(texts)}; no questions"
            notes.skipped((*place, "questions"), what)
        return ()
    facts = facts if isinstance(facts, dict) else {}
    haystacks, kinds = facts.get("haystack_sessions"), facts.get("question_types")
    spoken: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for session in sessions:
        for turn in session.turns:
            spoken[turn.speaker, turn.text.strip()].append(turn.id)
    questions, lost = [], 0
    for row, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            notes.skipped((*place, "questions", row), f"expected a text, found {describe(text)}")
            continue
        marked = _marked(_at(haystacks, row))
        ids = [spoken.get(key, []) for key in marked]
        evidence = dict.fromkeys(found[0] for found in ids if len(found) == 1)
        lost += (open_ := sum(len(found) != 1 for found in ids))
        unresolved = (f"{counted(open_, 'turn')} not found in the context",) if open_ else ()
        answer = _answer(_at(answers, row))
        kind = read_category(_at(kinds, row), (*place, "metadata", "question_types", row), notes)
        questions.append(Question(row, text, answer, kind, tuple(evidence), unresolved))
    if lost:
        what = f"{counted(lost, 'turn')} with an answer not found once in the context"
        notes.repaired((*place, "metadata"), what)
    return tuple(questions)


def _at(values: object, row: int) -> object:
    """The value at this place of a parallel list; None where there is none."""
    return values[row] if isinstance(values, list) and row < len(values) else None


def _marked(haystack: object) -> list[tuple[str, str]]:
    """Role and words of the turns with ``has_answer`` in one question's sessions."""
    found = []
    for session in haystack if isinstance(haystack, list) else ():
        for turn in session if isinstance(session, list) else ():
            match turn:
                case {"role": str(role), "content": str(words), "has_answer": True}:
                    found.append((role.strip(), words.strip()))
    return found


def _answer(value: object) -> str | None:
    """The accepted answers, joined by " / "."""
    several = value if isinstance(value, list) else [value]
    texts = [str(each) for each in several if isinstance(each, str | int | float)]
    return " / ".join(texts) or None


LOADER = Loader(LABEL, matches, read)
