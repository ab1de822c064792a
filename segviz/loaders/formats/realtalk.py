"""REALTALK (danny911kr/REALTALK): LoCoMo's sessions at the top level, with other turns.

Written after a description of all ten files, which may not be passed on; tested on files
made alike. Turns hold ``clean_text`` and a time of their own, ``29.12.2023, 22:42:04`` (day
first); a session begins with its first turn. ``dia_id`` numbers skip and are kept. Evidence
is read by LoCoMo's rules; what names no turn stays unresolved.
"""

from __future__ import annotations

from itertools import islice

from segviz.conversation import Conversation, Session, distinct
from segviz.loaders.captions import describe
from segviz.loaders.dates import note_backwards, note_empty
from segviz.loaders.document import Options
from segviz.loaders.formats.locomo.evidence import turn_index
from segviz.loaders.formats.locomo.questions import read_questions
from segviz.loaders.formats.locomo.sessions import session_keys
from segviz.loaders.formats.locomo.turns import Draft, declared_id, read_turn, settle_ids
from segviz.loaders.messages import stem
from segviz.loaders.multi_conversation import rows_of, settled
from segviz.loaders.notes import Note, Notes, Place
from segviz.loaders.times import read_time

LABEL = "REALTALK"

_EXPECTED = "turns such as {speaker, clean_text, date_time} in session_1, session_2 …"

_Block = tuple[str, str, list[Draft]]


def matches(document: object) -> bool:
    """Whether the document, or an item of it, has sessions whose turns hold ``clean_text``."""
    return any(isinstance(raw, dict) and _is_realtalk(raw) for _, raw in rows_of(document))


def read(
    document: object, name: str, options: Options
) -> tuple[tuple[Conversation, ...], list[Note]]:
    """The conversation, called after the file. Raises LoadError when no turn is usable."""
    notes = Notes()
    found: list[tuple[Conversation, Place]] = []
    for place, raw in rows_of(document):
        if not isinstance(raw, dict) or not session_keys(raw):
            notes.skipped(place, f"expected a chat with session_1 …, found {describe(raw)}")
        elif (conversation := _conversation(raw, name, place, notes)) is not None:
            found.append((conversation, place))
    return settled(found, _EXPECTED, notes), notes


def _is_realtalk(raw: dict[str, object]) -> bool:
    blocks = (raw.get(key) for key in session_keys(raw))
    return any(
        isinstance(turn, dict) and "clean_text" in turn
        for block in blocks
        if isinstance(block, list)
        for turn in block
    )


def _conversation(
    raw: dict[str, object], name: str, place: Place, notes: Notes
) -> Conversation | None:
    blocks: list[_Block] = []
    reserved: set[str] = set()
    empty: list[str] = []
    for key in session_keys(raw):
        block = raw.get(key)
        if block is None or block == []:
            empty.append(key)
        elif not isinstance(block, list):
            notes.skipped((*place, key), f"expected a list of turns, found {describe(block)}")
        else:
            number = int(key.removeprefix("session_"))
            reserved.update(turn_id for item in block if (turn_id := declared_id(item)))
            if drafts := _drafts(block, number, (*place, key), notes):
                blocks.append((f"session_{number}", _first_date(raw, key, block), drafts))
    note_empty(empty, place, notes)
    if not blocks:
        return None
    turns = settle_ids((draft for *_, drafts in blocks for draft in drafts), reserved, notes)
    # session_7 and session_07 in one file: both are kept, under two names.
    names = distinct([key for key, *_ in blocks])
    sessions = tuple(
        Session(own, read_time(when), when, tuple(islice(turns, len(drafts))))
        for own, (_, when, drafts) in zip(names, blocks, strict=True)
    )
    note_backwards(sessions, place, notes)
    spoken = [turn for session in sessions for turn in session.turns]
    return Conversation(
        id=stem(name),
        speakers=tuple(dict.fromkeys([*_declared(raw), *(turn.speaker for turn in spoken)])),
        sessions=sessions,
        questions=read_questions(
            raw.get("qa"), (*place, "qa"), turn_index(turn.id for turn in spoken), notes
        ),
        source_format=LABEL,
    )


def _drafts(block: list[object], number: int, place: Place, notes: Notes) -> list[Draft]:
    """The usable turns by LoCoMo's rules, with ``clean_text`` as the text."""
    own = Notes()
    drafts = []
    for row, raw in enumerate(block):
        if isinstance(raw, dict):
            text = {"text": raw["clean_text"]} if "clean_text" in raw else {}
            raw = {**{key: raw[key] for key in raw if key != "text"}, **text}
        if (draft := read_turn(raw, number, row + 1, (*place, row), own)) is not None:
            drafts.append(draft)
    for note in own:
        here = tuple("clean_text" if step == "text" else step for step in note.place)
        notes.append(Note(note.kind, here, note.what))
    return drafts


def _first_date(raw: dict[str, object], key: str, block: list[object]) -> str:
    dates = [item.get("date_time") for item in block if isinstance(item, dict)]
    candidates = [*dates[:1], raw.get(f"{key}_date_time")]
    return next((date for date in candidates if isinstance(date, str)), "")


def _declared(raw: dict[str, object]) -> list[str]:
    """Declared speakers that also speak; the header spells names unlike the turns do."""
    names = raw.get("name")
    declared = [
        value.strip()
        for key in ("speaker_1", "speaker_2")
        if isinstance(names, dict) and isinstance(value := names.get(key), str)
    ]
    blocks = [raw.get(key) for key in session_keys(raw)]
    turns = [item for block in blocks if isinstance(block, list) for item in block]
    speakers = {str(item.get("speaker")).strip() for item in turns if isinstance(item, dict)}
    return [name for name in declared if name in speakers]
