"""Dates of sessions as the data sets write them, read without the machine's locale; and
notes on sessions that come too early or have no turns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise

from segviz.conversation import Session
from segviz.loaders.captions import counted, describe, listed, quoted
from segviz.loaders.notes import Notes, Place

_MONTHS = {
    "january": 1,
    "february": 2,
    "march": 3,
    "april": 4,
    "may": 5,
    "june": 6,
    "july": 7,
    "august": 8,
    "september": 9,
    "october": 10,
    "november": 11,
    "december": 12,
}

_FORMAT = re.compile(
    r"([0-9]{1,2}):([0-9]{2})\s*([ap])m\s+on\s+([0-9]{1,2})\s+([a-z]+),?\s+([0-9]{4})",
    re.IGNORECASE,
)

# Possessive, so that long runs of spaces cost one pass.
_NUMERIC = re.compile(
    r"([0-9]{4})([/-])([0-9]{1,2})\2([0-9]{1,2})"
    r"(?:\s*+\([^()]*+\))?(?:\s++([0-9]{1,2}):([0-9]{2}))?"
)


def read_date(raw: str) -> datetime | None:
    """``"1:56 pm on 8 May, 2023"`` as a naive datetime; None for anything else.

    12 am is 00, 12 pm is 12. English month names only. Impossible times (13:00 pm,
    31 February) are None too: better no date than a wrong one.
    """
    match = _FORMAT.fullmatch(raw.strip())
    if match is None:
        return None
    hour, minute, half, day, month, year = match.groups()
    if not 1 <= int(hour) <= 12 or month.lower() not in _MONTHS:
        return None
    hours = int(hour) % 12 + (12 if half in "pP" else 0)
    try:
        return datetime(int(year), _MONTHS[month.lower()], int(day), hours, int(minute))
    except ValueError:
        return None


def read_numeric_date(raw: str) -> datetime | None:
    """``"2023/05/28 (Sun) 19:47"`` or ``"2025-12-19 (Friday)"``, naive; None for anything else.

    The weekday is not looked at, in whatever language it is written. Without a time the
    day's first minute is meant. Impossible dates are None, as in ``read_date``.
    """
    match = _NUMERIC.fullmatch(raw.strip())
    if match is None:
        return None
    year, _, month, day, hour, minute = match.groups(default="0")
    try:
        return datetime(int(year), int(month), int(day), int(hour), int(minute))
    except ValueError:
        return None


_DAY = re.compile(r"(?:[a-z]+,\s+)?([0-9]{1,2})\s+([a-z]+),?\s+([0-9]{4})", re.IGNORECASE)
_MONTH = re.compile(r"(?:[a-z]+,\s+)?([a-z]+)\s+([0-9]{1,2}),?\s+([0-9]{4})", re.IGNORECASE)


def read_day(raw: str) -> datetime | None:
    """``"8 May 2023"``, ``"Monday, 8 May, 2023"`` or ``"May 8, 2023"``; None for anything else."""
    text = raw.strip()
    if match := _DAY.fullmatch(text):
        day, month, year = match.groups()
    elif match := _MONTH.fullmatch(text):
        month, day, year = match.groups()
    else:
        return None
    if month.lower() not in _MONTHS:
        return None
    try:
        return datetime(int(year), _MONTHS[month.lower()], int(day))
    except ValueError:
        return None


def numeric_start(
    value: object, example: str, place: Place, notes: Notes
) -> tuple[datetime | None, str]:
    """A session's start and its date as written; a note when that is not like ``example``."""
    raw = value if isinstance(value, str) else ""
    start = read_numeric_date(raw)
    if start is None:
        found = quoted(raw) if raw else "nothing" if value is None else describe(value)
        notes.repaired(place, f'expected a date like "{example}", found {found}; kept without date')
    return start, raw


def note_backwards(sessions: Iterable[Session], place: Place, notes: Notes) -> None:
    """One note when sessions, kept in file order, are dated before the one they follow."""
    dated = [(session.start, session.id) for session in sessions if session.start]
    back = [name for (before, _), (start, name) in pairwise(dated) if start < before]
    if back:
        what = f"{counted(len(back), 'session')} dated before the previous one ({listed(back)})"
        notes.repaired(place, f"{what}; kept in file order")


def note_empty(sessions: list[str], place: Place, notes: Notes) -> None:
    """One note for all sessions without turns."""
    if sessions:
        what = f"{counted(len(sessions), 'session')} without turns ({listed(sessions)})"
        notes.skipped(place, what)
