"""Dates and times as many programs write them, as naive datetimes, without the machine's locale.

What a date is written in decides who reads it: numbers since 1970 and ISO 8601 by plain
arithmetic and the standard library, months in English words (``1:56 pm on 8 May, 2023``,
``Mon, May 8, 2023``) by dateutil, three numbers (``03/04/2025``) here. dateutil is not asked
about the last: it swaps day and month wherever that makes a date, one date at a time, and one
rule must hold for a whole file; nor about texts that leave a part open, which it fills from
today. Better no date than a wrong one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from segviz.conversation import Session
from segviz.loaders.captions import counted, describe, listed, quoted
from segviz.loaders.document import Place
from segviz.loaders.report import Notes

YEARS = range(1980, 2101)
"""Years a message may be from; 1970 is what programs write that know no time."""

_LONGEST = 80
_EPOCH = datetime(1970, 1, 1)
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
"""Seconds, milli-, micro- and nanoseconds since 1970, told by their size: up to what, divided
by what. 1e11 s is the year 5138, 1e11 ms is 1973."""

_NUMBER = re.compile(r"[0-9]{9,20}(?:\.[0-9]{1,9})?")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_time(value: object) -> datetime | None:
    """The time of a message in UTC, or as written where no zone is given.

    Reads seconds, milli-, micro- and nanoseconds since 1970 (numbers and texts), ISO 8601,
    ``2023/05/28 (Sun) 19:47``, ``29.12.2023, 22:42:04`` and months in words. None for
    anything else, for impossible times and for years outside ``YEARS``.
    """
    found = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = _from_epoch(float(value)) if abs(value) < 1e20 else None
    elif isinstance(value, str) and len(value) < _LONGEST:
        text = value.strip()
        if _NUMBER.fullmatch(text):
            found = _from_epoch(float(text))
        else:
            found = _from_iso(text) if _ISO.match(text) else read_words(text)
            found = found or read_numeric_date(text) or _with_dots(text)
    return found if found is not None and found.year in YEARS else None


def _from_epoch(number: float) -> datetime | None:
    if not math.isfinite(number) or number <= 0:
        return None
    seconds = next(number / divisor for limit, divisor in _UNITS if number < limit)
    return _EPOCH + timedelta(seconds=seconds)


def _from_iso(text: str) -> datetime | None:
    try:
        return _naive(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def _naive(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


# --- months in words -----------------------------------------------------------------

_LOCOMO = re.compile(r"[0-9]{1,2}:[0-9]{2}\s*[ap]m\s+on\s.*", re.IGNORECASE | re.DOTALL)
_CLOCK = re.compile(r"\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:\s*[ap]m\b)?(?: [+-][0-9]{4}$)?")
_JOINED = re.compile(r"[0-9][./:-]+[0-9]|[^\sa-z0-9,./-]")
_DIGITS, _LETTERS = re.compile(r"[0-9]+"), re.compile(r"[a-z]+")
_HOUR_0 = re.compile(r"\b00?:[0-9:]+\s*[ap]m")
_MONTHS = frozenset("jan feb mar apr may jun jul aug sep oct nov dec".split())
_WORD = re.compile(
    r"(?:january|february|march|april|june|july|august|sept|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun"
    r"|at|on|of|st|nd|rd|th|utc|gmt)"
)


def read_date(raw: str) -> datetime | None:
    """LoCoMo's ``"1:56 pm on 8 May, 2023"``; None for anything else, as in ``read_words``."""
    return read_words(raw) if _LOCOMO.fullmatch(raw.strip()) else None


@lru_cache(256)  # a line is asked about twice, and many lines of a file have one date
def read_words(raw: str) -> datetime | None:
    """A date with the month in English and a year of four digits, with or without a time.

    ``8 May 2023``, ``Monday, May 8th, 2023``, ``Mon, 8 May 2023 13:56:00 +0200`` (then in
    UTC). None for anything else and for impossible times (13:00 pm, 31 February).
    """
    text = raw.strip().replace("\u202f", " ").lower()
    year = _year(text) if len(text) < _LONGEST and text.isascii() else None
    if year is None:
        return None
    from dateutil import parser  # 20 ms, and only files with such dates need it

    try:
        # Small letters but for zones: of AT it would make a zone; and of 0099 the year 1999.
        found = parser.parse(text.replace("utc", "UTC").replace("gmt", "UTC"))
        return _naive(found.replace(year=year))
    except (ValueError, OverflowError):
        return None


def _year(text: str) -> int | None:
    """The year of a text that leaves nothing to dateutil's guess, else None. One month, one day,
    one year, at most one time and known words; no hour 0 of twelve, which it takes."""
    rest, clocks = _CLOCK.subn(" ", text)
    numbers = sorted(_DIGITS.findall(rest), key=len)
    if clocks > 1 or len(numbers) != 2 or len(numbers[0]) > 2 or len(numbers[1]) != 4:
        return None
    words = _LETTERS.findall(rest)
    if sum(word[:3] in _MONTHS for word in words) != 1 or _JOINED.search(rest):
        return None
    known = all(word in _MONTHS or _WORD.fullmatch(word) for word in words)
    return int(numbers[1]) if known and not _HOUR_0.search(text) else None


# --- three numbers -------------------------------------------------------------------

Order = Literal["ymd", "dmy", "mdy"]

DATE = r"([0-9]{1,4})\s?([./-])\s?([0-9]{1,2})\s?\2\s?([0-9]{1,4})\.?"
CLOCK = (
    r"(?:klo\s|um\s|at\s|à\s|às\s|kl\.?\s)?\s*"
    r"([0-9]{1,2})[:.h]([0-9]{2})(?:[:.]([0-9]{2}))?"
    r"(?:\s*(?:([ap])\.?\s?m\b\.?|([صم])\b|([قب])\.?\s?ظ\b\.?))?"
)
_WEEKDAY = re.compile(r"\s*\([^()]*\)")
_WHOLE = re.compile(rf"\s*{DATE}(?:,?[\sT]+{CLOCK})?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fields:
    """The numbers of a date in the order they are written, the mark between, and the time."""

    numbers: tuple[str, str, str]
    mark: str
    clock: tuple[int, int, int]

    def read(self, order: Order, years: range = YEARS) -> datetime | None:
        """The date in this order; None when there is no such day or time, or no such year."""
        by_name = dict(zip(order, self.numbers, strict=True))
        if len(by_name["m"]) > 2 or len(by_name["d"]) > 2 or len(by_name["y"]) == 3:
            return None
        year = int(by_name["y"]) + (2000 if len(by_name["y"]) < 3 else 0)
        month, day = int(by_name["m"]), int(by_name["d"])
        try:
            if years is YEARS and year in _SOLAR_HIJRI:
                return _solar_hijri(year, month, day, self.clock)
            if years is YEARS and year - _BUDDHIST in years:
                year -= _BUDDHIST
            return datetime(year, month, day, *self.clock) if year in years else None
        except ValueError:
            return None


_BUDDHIST = 543
"""Years by which Thai calendars are ahead."""

_SOLAR_HIJRI = range(1380, 1425)
"""Years of Iran's calendar from 2001 on. From 1430 on years are rather lunar, of another calendar
whose months begin when the moon is seen: no dates are better than dates a day off."""


def _solar_hijri(year: int, month: int, day: int, clock: tuple[int, int, int]) -> datetime:
    """The time of a date of Iran's calendar: six months of 31 days, then of 30, with leap years by
    the cycle of 33 years, which holds from 1799 to 2256. ValueError for impossible days."""
    leap = year % 33 in (1, 5, 9, 13, 17, 22, 26, 30)
    length = 31 if month <= 6 else 30 if month <= 11 or leap else 29
    if not (1 <= month <= 12 and 1 <= day <= length):
        raise ValueError("no such day")
    since = year + 1595
    past = 365 * since + (since // 33) * 8 + (since % 33 + 3) // 4
    before = (month - 1) * 31 if month <= 7 else (month - 7) * 30 + 186
    return datetime.fromordinal(past + before + day - 356_033) + timedelta(
        hours=clock[0], minutes=clock[1], seconds=clock[2]
    )


def fields_of(groups: Sequence[str | None]) -> Fields | None:
    """From the groups of ``DATE`` and ``CLOCK``; None for an hour such as 13 pm."""
    first, mark, second, third, hours, minutes, seconds, *halves = groups
    hour, half = int(hours or 0), next(filter(None, halves), None)
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "pPمب" else 0)
    numbers = (first or "", second or "", third or "")
    return Fields(numbers, mark or "", (hour, int(minutes or 0), int(seconds or 0)))


def read_fields(text: str) -> Fields | None:
    """``03/04/2025 10:14``, ``28.12.23, 20:02:11``, ``3-4-25`` …; None for anything else."""
    match = _WHOLE.fullmatch(text) if len(text) < _LONGEST else None
    return fields_of(match.groups()) if match else None


def read_numeric_date(raw: str) -> datetime | None:
    """``"2023/05/28 (Sun) 19:47"`` or ``"2025-12-19 (Friday)"``, naive; None for anything else.

    The weekday is not looked at, in whatever language it is written. Without a time the
    day's first minute is meant. Impossible dates are None, as in ``read_date``.
    """
    if len(text := raw.strip()) >= _LONGEST:
        return None
    fields = read_fields(_WEEKDAY.sub("", text))
    if fields is None or len(fields.numbers[0]) != 4 or fields.mark == ".":
        return None
    return fields.read("ymd", range(1, 10_000))


def _with_dots(text: str) -> datetime | None:
    """``29.12.2023, 22:42:04``: with dots and the whole year last, the day is first."""
    fields = read_fields(text)
    if fields is None or fields.mark != "." or len(fields.numbers[2]) != 4:
        return None
    return fields.read("dmy")


def order_of(dates: Sequence[Fields], day_first: bool | None) -> tuple[Order | None, str]:
    """The order that all dates share, and what to tell the user where it is not certain.

    Told from numbers above 12, from which reading makes the times run forward, or from dots
    (nobody writes months first with dots). ``day_first`` is the user's word; it does not
    overrule a year that stands first.
    """
    if not dates:
        return None, ""
    if all(len(date.numbers[0]) == 4 for date in dates):
        return "ymd", ""
    if day_first is not None:
        return ("dmy" if day_first else "mdy"), ""
    example = date_as_written(dates[0])
    day, month = (sum(date.read(order) is not None for date in dates) for order in ("dmy", "mdy"))
    if day != month and (day == len(dates) or month == len(dates)):
        return ("dmy" if day > month else "mdy"), ""
    if day != len(dates) and month != len(dates):
        best: Order = "dmy" if day >= month else "mdy"
        left = len(dates) - max(day, month)
        if left * 20 <= len(dates):
            return best, f"{left:,} of {len(dates):,} dates do not fit the others' order of numbers"
        why = "some dates have the day first, others the month"
        return None, f"{why} (such as {example}); read without dates"
    back = {order: _steps_back(dates, order) for order in ("dmy", "mdy")}
    if back["dmy"] != back["mdy"]:
        return ("dmy" if back["dmy"] < back["mdy"] else "mdy"), ""
    if all(date.mark == "." for date in dates):
        return "dmy", ""
    if all(date.numbers[0].lstrip("0") == date.numbers[1].lstrip("0") for date in dates):
        return "dmy", ""
    what = f"{example} may have the day or the month first, and nothing in the file tells"
    return None, f"{what}; read without dates until their order is said (day_first)"


def date_as_written(date: Fields) -> str:
    """The three numbers with their mark between."""
    return date.mark.join(date.numbers)


def _steps_back(dates: Sequence[Fields], order: Order) -> int:
    times = [date.read(order) for date in dates]
    return sum(a > b for a, b in pairwise(time for time in times if time is not None))


# --- what is noted of the dates of sessions ------------------------------------------


def session_start(
    value: object,
    example: str,
    place: Place,
    notes: Notes,
    read: Callable[[str], datetime | None] = read_numeric_date,
) -> tuple[datetime | None, str]:
    """A session's start and its date as written; a note when that is not like ``example``."""
    raw = value if isinstance(value, str) else ""
    start = read(raw)
    if start is None:
        found = quoted(raw) if raw else "nothing" if value is None else describe(value)
        notes.repaired(place, f'expected a date like "{example}", found {found}; kept without date')
    return start, raw


def note_backwards(
    sessions: Iterable[Session], place: Place, notes: Notes, order: str = "file"
) -> None:
    """One note when sessions, kept in that order, are dated before the one they follow."""
    dated = [(session.start, session.id) for session in sessions if session.start]
    back = [name for (before, _), (start, name) in pairwise(dated) if start < before]
    if back:
        what = f"{counted(len(back), 'session')} dated before the previous one ({listed(back)})"
        notes.repaired(place, f"{what}; kept in {order} order")


def note_empty(sessions: list[str], place: Place, notes: Notes) -> None:
    """One note for all sessions without turns."""
    if sessions:
        what = f"{counted(len(sessions), 'session')} without turns ({listed(sessions)})"
        notes.skipped(place, what)
