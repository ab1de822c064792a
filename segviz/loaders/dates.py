"""LoCoMo's one date format, read without the machine's locale."""

from __future__ import annotations

import re
from datetime import datetime

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
