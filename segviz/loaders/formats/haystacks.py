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

from collections.abc import Iterator

from segviz.conversation import Entry
from segviz.loaders.chat import flagged
from segviz.loaders.columns import Keys, read_chats, session_block
from segviz.loaders.decode import literal
from segviz.loaders.document import Options, Place, PlainText
from segviz.loaders.json_scanner import Item
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import WrittenChat, id_under, known_id, numbered, rows_of
from segviz.loaders.questions import WrittenQuestion
from segviz.loaders.report import Notes
from segviz.text.captions import counted, describe

_NAMES = {"text": "content", "speaker": "role"}
_EXAMPLE = "2023/05/28 (Sun) 19:47"
_HAYSTACK = "haystack_sessions"
_TIME = "Chat Time:"


# --- LongMemEval -----------------------------------------------------------------------


def _read_instances(document: object, name: str, options: Options) -> Reading:
    """Reads LongMemEval: a conversation and a question for each instance."""
    notes, chats = Notes(), list[WrittenChat]()
    for place, raw in rows_of(document):
        blocks = raw.get(_HAYSTACK) if isinstance(raw, dict) else None
        if isinstance(raw, dict) and isinstance(blocks, list):
            chats.append(_instance(raw, blocks, place, name, notes))
        elif isinstance(raw, dict) and _HAYSTACK in raw:
            what = f"expected a list of sessions, found {describe(blocks)}"
            notes.skipped((*place, _HAYSTACK), what)
        else:
            notes.skipped(place, f"expected an instance with {_HAYSTACK}, found {describe(raw)}")
    expected = f"turns such as {{role, content}} in {_HAYSTACK}"
    keys = Keys(_NAMES, _NAMES)
    return read_chats(chats, keys, "LongMemEval", options, notes, expected), notes


def _instance(
    raw: dict[str, object], blocks: list[object], place: Place, name: str, notes: Notes
) -> WrittenChat:
    """Reads an instance: dated sessions, and a question with the turns marked as its evidence."""
    inner: Place = (*place, _HAYSTACK)
    at: Place = (*place, "haystack_dates")
    dates = listed if isinstance(listed := raw.get("haystack_dates"), list) else []
    if len(dates) != len(blocks):
        sizes = f"{counted(len(dates), 'date')} for {counted(len(blocks), 'session')}"
        notes.repaired(at, f"{sizes}; joined by position")
    # A date and its place for each session; sessions beyond the dates have none.
    dated = [(date, (*at, row)) for row, date in enumerate(dates)] + [(None, ())] * len(blocks)
    sessions = [
        session_block(f"session_{row + 1}", block, (*inner, row), notes, *dated[row])
        for row, block in enumerate(blocks)
    ]
    marked = [
        f"S{row}:{number}"
        for row, block in enumerate(blocks, start=1)
        for number, item in enumerate(block if isinstance(block, list) else (), start=1)
        if flagged(item, "has_answer")
    ]
    question = {**raw, "evidence": marked} if marked else {**raw, **_cited(raw)}
    if str(raw.get("question_id")).endswith("_abs"):
        question |= {"category": "abstention", "answer_session_ids": None}
    own = id_under(raw, "question_id", name, place, notes)
    asked = [WrittenQuestion(place, question)]
    return WrittenChat(own, inner, sessions, asked=asked, example=_EXAMPLE)


def _cited(raw: dict[str, object]) -> dict[str, object]:
    """Returns the field ``answer_session_ids`` with each id replaced by ``session_<position>``.

    Returns {} if the instance does not list its session ids.
    """
    names, cited = raw.get("haystack_session_ids"), raw.get("answer_session_ids")
    if not isinstance(names, list) or not isinstance(cited, list):
        return {}
    order = {known_id(name): f"session_{row}" for row, name in enumerate(names, start=1)}
    return {"answer_session_ids": [order.get(known_id(name), name) for name in cited]}


def _entry(item: Item) -> Entry:
    """Returns id, question and numbers of sessions and turns of an instance, without parsing it.

    The lists at depth 2 of a LongMemEval instance are its sessions, the objects at depth 3 its
    turns.
    """
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
    """Reads MemoryAgentBench: a conversation for each row."""
    notes, chats = Notes(), list[WrittenChat]()
    rows = rows_of({"context": document.text} if isinstance(document, PlainText) else document)
    for number, (place, raw) in enumerate(rows):
        if isinstance(raw, dict):
            chats.append(_row(raw, place, numbered(name, number, len(rows)), notes))
        else:
            notes.skipped(place, f"expected a row (an object), found {describe(raw)}")
    expected = "a row with context, questions and answers"
    keys = Keys(_NAMES, _NAMES)
    return read_chats(chats, keys, "MemoryAgentBench", options, notes, expected), notes


def _row(raw: dict[str, object], place: Place, name: str, notes: Notes) -> WrittenChat:
    """Reads a row: its sessions, each with the date that its text names before it."""
    here: Place = (*place, "context")
    chat = WrittenChat(name, here, asked=_questions(raw, place, notes), example=_EXAMPLE)
    date: tuple[object, Place] = (None, ())  # the date of the next session, and its place
    for part in _parts(raw.get("context"), here, notes):
        if isinstance(part, str):
            date = part.removeprefix(_TIME).strip(), here
        else:
            session = f"session_{len(chat.blocks) + 1}"
            chat.blocks.append(session_block(session, part, here, notes, *date))
            date = None, ()
    return chat


def _parts(context: object, place: Place, notes: Notes) -> list[object]:
    """Returns the times and chats in a row's context, in order."""
    parts = context
    if isinstance(context, str):
        parts, mended = literal(context)
        notes.take(mended, within=place)
    pairs = parts if isinstance(parts, list) else []
    if not pairs:
        notes.skipped(place, "the context is no list of chats; it may be a document, or cut off")
    if all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    ):
        # Also seen: [['Chat Time: …', [turns]], …].
        return [part for pair in pairs for part in pair]
    return list(pairs)


def _questions(raw: dict[str, object], place: Place, notes: Notes) -> list[WrittenQuestion]:
    """Returns the questions of a row; answers, categories and haystacks are parallel lists."""
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
    return asked


def _marked(haystack: object) -> Iterator[str]:
    """Yields the texts of the turns marked ``has_answer`` in the sessions of one question."""
    for session in haystack if isinstance(haystack, list) else ():
        for turn in session if isinstance(session, list) else ():
            if flagged(turn, "has_answer") and isinstance(text := turn.get("content"), str):
                yield text


LONGMEMEVAL = Loader(
    "LongMemEval",
    lambda document: any(
        isinstance(raw, dict) and _HAYSTACK in raw for _, raw in rows_of(document)
    ),
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
