"""Times of single messages, as the many programs write them, in one comparable form."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

from segviz.loaders.dates import read_date, read_numeric_date

_EPOCH = datetime(1970, 1, 1)
_NUMBER = re.compile(r"[0-9]{9,20}(?:\.[0-9]{1,9})?")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FRACTION = re.compile(r"(\.[0-9]{6})[0-9]+")
_DAY_FIRST = re.compile(
    r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})"
    r"(?:,?\s++([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?"
)
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
"""Seconds, milli-, micro- and nanoseconds since 1970, told by their size: up to what, divided
by what. 1e11 s is the year 5138, 1e11 ms is 1973."""

YEARS = range(1980, 2101)
"""Years a message may be from; 1970 is what programs write that know no time."""


def read_time(value: object) -> datetime | None:
    """The time as a naive datetime in UTC, or as written where no zone is given.

    Reads seconds, milli-, micro- and nanoseconds since 1970 (numbers and texts), ISO 8601,
    ``29.12.2023, 22:42:04`` and the dates of ``segviz.loaders.dates``. None for anything
    else, for impossible times and for years outside ``YEARS``.
    """
    found = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = _from_epoch(float(value)) if abs(value) < 1e20 else None
    elif isinstance(value, str) and len(value) < 80:
        text = value.strip()
        if _NUMBER.fullmatch(text):
            found = _from_epoch(float(text))
        elif _ISO.match(text):
            found = _from_iso(text) or read_numeric_date(text)
        else:
            found = read_date(text) or read_numeric_date(text) or _from_day_first(text)
    return found if found is not None and found.year in YEARS else None


def from_parts(parts: tuple[int, int, int], clock: tuple[int, int, int]) -> datetime | None:
    """Year, month, day and hour, minute, second as a datetime; None when impossible."""
    try:
        return datetime(*parts, *clock)
    except ValueError:
        return None


def _from_epoch(number: float) -> datetime | None:
    if not math.isfinite(number) or number <= 0:
        return None
    seconds = next(number / divisor for limit, divisor in _UNITS if number < limit)
    return _EPOCH + timedelta(seconds=seconds)


def _from_iso(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(_FRACTION.sub(r"\1", text))
        return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
    except (ValueError, OverflowError):
        return None


def _from_day_first(text: str) -> datetime | None:
    match = _DAY_FIRST.fullmatch(text)
    if match is None:
        return None
    day, month, year, hour, minute, second = (int(part) for part in match.groups(default="0"))
    return from_parts((year, month, day), (hour, minute, second))
