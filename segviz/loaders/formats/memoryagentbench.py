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

from segviz.conversation import Conversation, Question, Session
from segviz.loaders.chat import Written, read_sessions, speakers_of
from segviz.loaders.decode import clean
from segviz.loaders.document import Options, Place, PlainText
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import numbered, rows_of, settled
from segviz.loaders.questions import read_category
from segviz.loaders.report import Notes
from segviz.text.captions import counted, describe

LABEL = "MemoryAgentBench"

_TIME = "Chat Time:"
_EXPECTED = "a row with context, questions and answers"


def matches(document: object) -> bool:
    """Returns True for such a row, a list of rows, or the text of a context."""
    if isinstance(document, PlainText):
        return document.text.lstrip()[:200].startswith((f"['{_TIME}", f'["{_TIME}'))
    return any(
        isinstance(raw, dict) and {"context", "questions", "answers"} <= raw.keys()
        for _, raw in rows_of(document)
    )


def read(document: object, name: str, options: Options) -> Reading:
    """Reads one conversation per row; raises LoadError if no context can be read."""
    notes = Notes()
    raw = {"context": document.text} if isinstance(document, PlainText) else document
    rows = rows_of(raw)
    found: list[tuple[Conversation, Place]] = []
    for row, (place, raw) in enumerate(rows):
        if not isinstance(raw, dict):
            notes.skipped(place, f"expected {_EXPECTED}, found {describe(raw)}")
        elif sessions := _sessions(raw.get("context"), (*place, "context"), options, notes):
            conversation = Conversation(
                id=numbered(name, row, len(rows)),
                speakers=speakers_of(sessions, ("user", "assistant")),
                sessions=sessions,
                questions=_questions(raw, sessions, place, notes),
                source_format=LABEL,
            )
            found.append((conversation, place))
    return settled(found, _EXPECTED, notes), notes


def _sessions(context: object, place: Place, options: Options, notes: Notes) -> tuple[Session, ...]:
    written: list[Written] = []
    date: tuple[object, Place] = (None, ())
    for part in _literal(context, place, notes):
        if isinstance(part, str):
            date = part.removeprefix(_TIME).strip(), place
        else:
            written.append((part, place, *date))
            date = None, ()
    sessions = read_sessions(written, "role", "2022/11/17 (Thu) 12:04", place, options, notes)
    if not sessions:
        what = "no chats in the context (a document?); the row is left out"
        notes.skipped(place, what)
    return sessions


def _literal(context: object, place: Place, notes: Notes) -> list[object]:
    """Parses the list in the context; returns a list unchanged."""
    parts = context
    if isinstance(context, str) and context.lstrip().startswith("["):
        try:
            # Through JSON, tuples become lists, and values that JSON does not know are refused.
            parts, mended = clean(json.loads(json.dumps(ast.literal_eval(context.strip()))))
            notes.take(mended, place)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            notes.skipped(place, "the context is no Python list; it may be cut off")
    pairs = parts if isinstance(parts, list) else []
    if all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    ):
        # Also seen: [['Chat Time: …', [turns]], …].
        return [part for pair in pairs for part in pair]
    return list(pairs)


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
    """Returns the value at this place of a parallel list; None if there is none."""
    return values[row] if isinstance(values, list) and row < len(values) else None


def _marked(haystack: object) -> list[tuple[str, str]]:
    """Returns role and text of the turns with ``has_answer`` in one question's sessions."""
    found = []
    for session in haystack if isinstance(haystack, list) else ():
        for turn in session if isinstance(session, list) else ():
            match turn:
                case {"role": str(role), "content": str(words), "has_answer": True}:
                    found.append((role.strip(), words.strip()))
    return found


def _answer(value: object) -> str | None:
    """Returns the accepted answers, joined by " / "."""
    several = value if isinstance(value, list) else [value]
    texts = [str(each) for each in several if isinstance(each, str | int | float)]
    return " / ".join(texts) or None


_ABOUT = (
    "a row whose context is a list of chats (Parquet, JSON), with dates and questions",
    "rows whose context is a document",
)

LOADER = Loader(LABEL, matches, read, about=_ABOUT)
