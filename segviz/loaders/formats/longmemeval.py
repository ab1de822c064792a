"""Reads LongMemEval (xiaowu0162/LongMemEval), oracle, S and M; an instance is a conversation.

A file is a list of instances or a single one. An instance has its own haystack in parallel lists,
joined by position. Session ids repeat, and the prefix ``answer_`` reveals the gold sessions. So
sessions are called ``session_<n>`` and turns ``S<n>:<m>`` by their 1-based places in the file,
counting those left out.

The evidence of the only question are the turns with ``has_answer: true``. If no turn is marked, the
sessions of ``answer_session_ids`` are kept as unresolved evidence. If ``question_id`` ends in
``_abs``, its answer says that the conversation does not mention it: the question then has no answer
here and the category ``abstention``.
"""

from __future__ import annotations

from collections.abc import Sequence

from segviz.conversation import Conversation, Entry, Question, Session
from segviz.loaders.chat import flagged, read_sessions, speakers_of
from segviz.loaders.document import Options, Place
from segviz.loaders.json_scanner import Item
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import id_under, known_id, rows_of, settled
from segviz.loaders.questions import read_answer, read_category
from segviz.loaders.report import Notes
from segviz.text.captions import counted, describe, listed

LABEL = "LongMemEval"

_SESSIONS = "haystack_sessions"
_EXPECTED = f"turns such as {{role, content}} in {_SESSIONS}"


def matches(document: object) -> bool:
    """Returns True if the document, or an item of it, has a haystack."""
    return any(isinstance(raw, dict) and _SESSIONS in raw for _, raw in rows_of(document))


def read(document: object, name: str, options: Options) -> Reading:
    """Reads one conversation per instance with at least one turn."""
    notes = Notes()
    found: list[tuple[Conversation, Place]] = []
    for place, raw in rows_of(document):
        if not isinstance(raw, dict) or _SESSIONS not in raw:
            what = f"expected an instance with {_SESSIONS}, found {describe(raw)}"
            notes.skipped(place, what)
            continue
        blocks, inner = raw[_SESSIONS], (*place, _SESSIONS)
        if not isinstance(blocks, list):
            notes.skipped(inner, f"expected a list of sessions, found {describe(blocks)}")
            continue
        conversation = _conversation(raw, blocks, place, name, options, notes)
        if conversation is None:
            notes.skipped(inner, "no usable turns; the conversation is left out")
        else:
            found.append((conversation, place))
    return settled(found, _EXPECTED, notes, "question_id"), notes


def _entry(item: Item) -> Entry:
    """Describes an instance for the list: sessions nest 2 levels down, turns 3."""
    own = item.scalars()
    question = own.get("question")
    about = question if isinstance(question, str) else ""
    return Entry(known_id(own.get("question_id")), item.lists[2], item.objects[3], about)


def _conversation(
    raw: dict[str, object],
    blocks: list[object],
    place: Place,
    name: str,
    options: Options,
    notes: Notes,
) -> Conversation | None:
    dates = _dates(raw, len(blocks), place, notes)
    dated = [(date, (*place, "haystack_dates", row)) for row, date in enumerate(dates)]
    dated += [(None, ())] * len(blocks)
    written = [(block, (*place, _SESSIONS, row), *dated[row]) for row, block in enumerate(blocks)]
    example = "2023/05/28 (Sun) 19:47"
    sessions = read_sessions(written, "role", example, (*place, _SESSIONS), options, notes)
    if not sessions:
        return None
    marked = [
        f"S{row}:{number}"
        for row, block in enumerate(blocks, start=1)
        for number, item in enumerate(block if isinstance(block, list) else (), start=1)
        if flagged(item, "has_answer")
    ]
    return Conversation(
        id=id_under(raw, "question_id", name, place, notes),
        speakers=speakers_of(sessions, ("user", "assistant")),
        sessions=sessions,
        questions=_questions(raw, sessions, marked, place, notes),
        source_format=LABEL,
    )


def _dates(raw: dict[str, object], size: int, place: Place, notes: Notes) -> list[object]:
    """Returns the list of dates unchanged; adds a note if its length differs from the sessions'."""
    dates = raw.get("haystack_dates")
    dates = dates if isinstance(dates, list) else []
    if len(dates) != size:
        what = f"{counted(len(dates), 'date')} for {counted(size, 'session')}; joined by position"
        notes.repaired((*place, "haystack_dates"), what)
    return dates


def _questions(
    raw: dict[str, object],
    sessions: Sequence[Session],
    marked: list[str],
    place: Place,
    notes: Notes,
) -> tuple[Question, ...]:
    """Reads the question by LoCoMo's rules; its marked turns are the evidence."""
    text = raw.get("question")
    if not isinstance(text, str) or not text.strip():
        what = f"expected the text of a question, found {describe(text)}"
        notes.skipped((*place, "question"), what)
        return ()
    there = {turn.id for session in sessions for turn in session.turns}
    found = tuple(turn_id for turn_id in marked if turn_id in there)
    lost = tuple(turn_id for turn_id in marked if turn_id not in there)
    if str(raw.get("question_id")).endswith("_abs"):
        return (Question(0, text, None, "abstention", found, lost),)
    if not (found or lost) and (lost := _cited(raw)):
        what = f"the evidence is named by session only ({listed(list(lost))}); kept as unresolved"
        notes.repaired((*place, "answer_session_ids"), what)
    answer = read_answer(raw.get("answer"), (*place, "answer"), notes)
    kind = read_category(raw.get("question_type"), (*place, "question_type"), notes)
    return (Question(0, text, answer, kind, found, lost),)


def _cited(raw: dict[str, object]) -> tuple[str, ...]:
    """Returns the sessions that hold the evidence by ``answer_session_ids``."""
    cited, names = raw.get("answer_session_ids"), raw.get("haystack_session_ids")
    order = (
        {known_id(name): row for row, name in enumerate(names, 1)}
        if isinstance(names, list)
        else {}
    )
    ids = map(known_id, cited) if isinstance(cited, list) else ()
    return tuple(f"session_{order[each]}" if each in order else each for each in ids if each)


_ABOUT = (
    "an instance (oracle, S, M): its haystack with dates, its question, the turns with the answer",
    "the date of the question",
)

LOADER = Loader(LABEL, matches, read, ("day_first",), _entry, _ABOUT)
