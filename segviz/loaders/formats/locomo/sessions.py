"""LoCoMo transcripts: ``session_<n>`` lists and ``session_<n>_date_time`` texts.

Sessions are read in the order of their numbers (as texts, session_10 would come before
session_2), wherever they stand in the file. ``session_1_summary``, ``events_session_1``
and other keys are ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, pairwise

from segviz.conversation import Session
from segviz.loaders.captions import counted, describe, listed, quoted
from segviz.loaders.dates import read_date
from segviz.loaders.formats.locomo.turns import Draft, declared_id, read_turn, settle_ids
from segviz.loaders.notes import Notes, Place

# Nine digits: enough for any session number, and harmless to int().
_KEY = re.compile(r"session_([0-9]{1,9})(_date_time)?")


@dataclass(frozen=True, slots=True)
class _Block:
    """A session before its turns have settled ids; ``key`` is its name in the file."""

    key: str
    number: int
    start: datetime | None
    raw_date: str
    drafts: tuple[Draft, ...]


def session_keys(transcript: dict[str, object]) -> list[str]:
    """Keys of sessions, dated ones without turns included, in numeric order."""
    keys = {
        f"session_{match[1]}": int(match[1]) for key in transcript if (match := _KEY.fullmatch(key))
    }
    return sorted(keys, key=lambda key: keys[key])


def read_sessions(transcript: dict[str, object], place: Place, notes: Notes) -> tuple[Session, ...]:
    """All sessions that have turns, with ids settled across the whole conversation."""
    blocks: list[_Block] = []
    reserved: set[str] = set()
    empty: list[str] = []
    for key in session_keys(transcript):
        raw = transcript.get(key)
        if raw is None or raw == []:
            empty.append(key)
        elif not isinstance(raw, list):
            what = f"expected a list of turns, found {describe(raw)}"
            notes.skipped((*place, key), what)
        else:
            number = int(key.removeprefix("session_"))
            drafts = _drafts(raw, number, (*place, key), notes)
            reserved.update(turn_id for item in raw if (turn_id := declared_id(item)))
            if drafts:
                start, raw_date = _date(transcript, key, place, notes)
                blocks.append(_Block(key, number, start, raw_date, drafts))
    _note_empty(transcript, empty, place, notes)
    _note_backwards(blocks, place, notes)
    return _settled(blocks, reserved, place, notes)


def _drafts(raw: list[object], number: int, place: Place, notes: Notes) -> tuple[Draft, ...]:
    read = (read_turn(item, number, row + 1, (*place, row), notes) for row, item in enumerate(raw))
    return tuple(draft for draft in read if draft is not None)


def _date(
    transcript: dict[str, object], key: str, place: Place, notes: Notes
) -> tuple[datetime | None, str]:
    name = f"{key}_date_time"
    value = transcript.get(name)
    raw = value if isinstance(value, str) else ""
    start = read_date(raw)
    if start is None:
        found = quoted(raw) if raw else describe(value) if name in transcript else "nothing"
        what = f'expected a date like "1:56 pm on 8 May, 2023", found {found}; kept without date'
        notes.repaired((*place, name), what)
    return start, raw


def _settled(
    blocks: Sequence[_Block], reserved: set[str], place: Place, notes: Notes
) -> tuple[Session, ...]:
    turns = settle_ids((draft for block in blocks for draft in block.drafts), reserved, notes)
    sessions = []
    seen: Counter[int] = Counter()
    for block in blocks:
        name = f"session_{block.number}"
        seen[block.number] += 1
        if seen[block.number] > 1:
            # session_7 and session_07 in one file: both are kept, under two names.
            name += f"#{seen[block.number]}"
            what = f"session {block.number} is there already; called {name}"
            notes.repaired((*place, block.key), what)
        own = tuple(islice(turns, len(block.drafts)))
        sessions.append(Session(name, block.start, block.raw_date, own))
    return tuple(sessions)


def _note_empty(transcript: dict[str, object], keys: list[str], place: Place, notes: Notes) -> None:
    dated = [key for key in keys if f"{key}_date_time" in transcript]
    undated = [key for key in keys if f"{key}_date_time" not in transcript]
    for group, noun in ((dated, "dated session"), (undated, "session")):
        if group:
            notes.skipped(place, f"{counted(len(group), noun)} without turns ({listed(group)})")


def _note_backwards(blocks: Sequence[_Block], place: Place, notes: Notes) -> None:
    dated = [(block.start, f"session_{block.number}") for block in blocks if block.start]
    back = [name for (before, _), (start, name) in pairwise(dated) if start < before]
    if back:
        what = f"{counted(len(back), 'session')} dated before the previous one ({listed(back)})"
        notes.repaired(place, f"{what}; kept in numeric order")
