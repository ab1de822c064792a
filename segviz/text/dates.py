"""Reads dates and times: the one reader for all formats, notes and questions.

:func:`read_time` reads a time as programs write it: a number since 1970, ISO 8601, ``2023/05/28
(Sun) 19:47``, months in English words. :class:`Fields` has three numbers (``03/04/2025``) whose
order is decided once for a whole file. :func:`resolve` finds a time that a sentence names: "last
week", "in May 2023", "on 3 May", "two years ago". Nothing depends on the machine's locale or clock.
A missing year, month or day is never guessed.
"""

from __future__ import annotations

import calendar
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, Literal

Interval = tuple[datetime, datetime]

YEARS = range(1980, 2101)
"""Legal years of a message; programs that know no time write 1970."""

_LONGEST = 80
_EPOCH = datetime(1970, 1, 1)
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
"""Limits and divisors of seconds, milli-, micro- and nanoseconds since 1970. The size decides:
1e11 s is the year 5138, 1e11 ms is 1973."""

MONTH_NAMES = (
    "January February March April May June July August September October November December"
).split()
_MONTH_NAMES = f"(?:{'|'.join(MONTH_NAMES)})"
_MONTHS = {"sept": 9} | {
    name: i
    for i, whole in enumerate(map(str.lower, MONTH_NAMES), start=1)
    for name in (whole, whole[:3])
}
_DAYS = {
    name: i
    for i, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())
}
_NUMBERS = {
    word: i
    for i, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
} | {"a": 1, "an": 1, "few": 3, "couple": 2}
_ELSEWHERE = (
    "januar januari janvier enero gennaio janeiro január tammikuu ocak styczeń stycznia|"
    "februar februari février febrero febbraio fevereiro február helmikuu şubat luty lutego|"
    "märz maart mars marzo março március maaliskuu mart marzec marca|"
    "april avril abril aprile április huhtikuu nisan kwiecień kwietnia|"
    "mai mei maj mayo maggio maio május toukokuu mayıs maja|"
    "juni juin junio giugno junho június kesäkuu haziran czerwiec czerwca|"
    "juli juillet julio luglio julho július heinäkuu temmuz lipiec lipca|"
    "august augusti augustus août agosto augusztus elokuu ağustos sierpień sierpnia|"
    "september septembre septiembre settembre setembro szeptember syyskuu eylül wrzesień września|"
    "oktober octobre octubre ottobre outubro október lokakuu ekim październik października|"
    "november novembre noviembre novembro marraskuu kasım listopad listopada|"
    "dezember december décembre diciembre dicembre dezembro joulukuu aralık grudzień grudnia"
)
"""Months in other languages, for dates that programs write; sentences are read in English."""

_FOREIGN = {
    name: i for i, names in enumerate(_ELSEWHERE.split("|"), start=1) for name in names.split()
}
_WRITTEN_OUT = re.compile(
    r"(?:[^\W\d_]+,?\s)?(?:(\d{1,2})(?:\.?\s(?:de\s)?([^\W\d_]{3,})\.?\s(?:de\s)?(\d{4})"
    r"|-([^\W\d_]{3,})-(\d{2}|\d{4}))"
    r"|(\d{4})\.?\s([^\W\d_]{3,})\s(\d{1,2})\.?(?:,?\s[^\W\d_]+)?),?(?:\s(.*))?"
)
_MONTH = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:19|20)\d\d"
_COUNT = r"(\d{1,2}|" + "|".join(_NUMBERS) + ")(?: of)?"
_UNIT = "(day|week|month|year)"

_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},?(?: ({_YEAR}))?", re.I)
_MONTH_FIRST = re.compile(rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,? ({_YEAR}))?", re.I)
# "may" and "march" are verbs more often than months, so a month without a day needs a capital.
_MONTH_ALONE = re.compile(rf"\b({'|'.join(MONTH_NAMES)})\b,?(?: (?:of )?({_YEAR}))?")
_ISO = re.compile(rf"\b({_YEAR})-(\d\d)-(\d\d)\b")
_YEAR_FIRST = re.compile(rf"\b({_YEAR})[-/.](\d\d?)[-/.](\d\d?)\b")
_YEAR_ALONE = re.compile(rf"\b({_YEAR})\b")
_DAY_ALONE = re.compile(r"\bon the (\d{1,2})(?:st|nd|rd|th)\b", re.I)
_AWAY = re.compile(rf"\b(?:(in)(?: a)? {_COUNT} {_UNIT}s?|{_COUNT} {_UNIT}s? ago)\b", re.I)
_NEAR = re.compile(r"\b(yesterday|today|tonight|this morning|last night|tomorrow)\b", re.I)
_SPAN = re.compile(r"\b(last|this|next|past) (week(?:end)?|month|year)\b", re.I)
_WEEKDAY = re.compile(rf"\b(last|this|next) ({'|'.join(_DAYS)})\b", re.I)
_TWICE = re.compile(
    rf"\b(week(?:end)?|month|year|{'|'.join(_DAYS)}) (before last|after next)\b", re.I
)
_BESIDE = re.compile(
    rf"\b(day|week(?:end)?|month|year|{'|'.join(_DAYS)}) (before|after) (?:the )?", re.I
)


# --- a text that is a time ------------------------------------------------------------

_NUMBER = re.compile(r"[0-9]{9,20}(?:\.[0-9]{1,9})?")
_QUOTED_DAY = re.compile(r"^'([^']+)'(?: [A-Za-z]+)?$")
_DASHED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ASIDE = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|\b(?:at|on)\b|,"
)
_JOINED = re.compile("(?<=[a-z])-|-(?=[a-z])|-(?=[0-9]{4}$)")


def read_time(value: object) -> datetime | None:
    """Returns the time of a message, with its zone if the text names one.

    Reads seconds, milli-, micro- and nanoseconds since 1970 (numbers and texts), ISO 8601,
    ``2023/05/28 (Sun) 19:47``, ``29.12.2023, 22:42:04``, the order of China, Japan and Korea
    (``2023年5月8日 下午1:56``) and months in words (``1:56 pm on 8 May, 2023``). Without a time the
    day's first minute is meant. None for anything else, for impossible times and, unless the month
    is a word, for years outside ``YEARS``.
    """
    time = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        time = _from_epoch(float(value)) if abs(value) < 1e20 else None
    elif isinstance(value, str) and len(value) < _LONGEST:
        text = unicodedata.normalize("NFKC", value).strip()
        if _NUMBER.fullmatch(text):
            time = _from_epoch(float(text))
        else:
            text = _QUOTED_DAY.sub(r"\1", text)
            if (named := _in_words(text) or _written_out(text)) is not None:
                return named
            time = _from_iso(text) or _in_order(text)
    return time if time is not None and time.year in YEARS else None


def _from_epoch(number: float) -> datetime | None:
    """Reads seconds since 1970, or milli-, micro- or nanoseconds, which are larger numbers."""
    if not math.isfinite(number) or number <= 0:
        return None
    seconds = next(number / divisor for limit, divisor in _UNITS if number < limit)
    return _EPOCH + timedelta(seconds=seconds)


def _from_iso(text: str) -> datetime | None:
    """Reads an ISO date or time; None for other texts."""
    try:
        return datetime.fromisoformat(text) if _DASHED.match(text) else None
    except ValueError:
        return None


@lru_cache(256)  # a line is parsed twice, and many lines of a file have the same date
def _in_words(raw: str) -> datetime | None:
    """Reads ``8 May 2023``, ``Monday, May 8th, 2023``, ``Mon, 8 May 2023 13:56:00 +0200``."""
    text = _JOINED.sub(" ", raw.lower())
    date = _DAY_FIRST.search(text) or _MONTH_FIRST.search(text)
    if date is None or not date[3]:
        return None
    day, month = (date[1], date[2]) if date[1].isdecimal() else (date[2], date[1])
    rest = " ".join(_ASIDE.sub(" ", f"{text[: date.start()]} {text[date.end() :]}").split())
    clock = _TIME.fullmatch(rest or "0:00")
    if clock is None:
        return None
    try:
        at = _clock(clock.groups()[:5])
        return datetime(int(date[3]), _MONTHS[month], int(day), *at, tzinfo=_zone(clock[6]))
    except ValueError:
        return None


@lru_cache(256)
def _written_out(raw: str) -> datetime | None:
    """Reads ``17-May-20``, ``2025. február 15., szombat 21:54:36 UTC``, ``15 de marzo de 2025``."""
    match = _WRITTEN_OUT.fullmatch(raw.lower())
    if match is None:
        return None
    day, year = match[1] or match[8], match[3] or match[5] or match[6]
    month = match[2] or match[4] or match[7]
    number = _MONTHS.get(month) or _FOREIGN.get(month)
    clock = _TIME.fullmatch(match[9] or "0:00")
    if number is None or clock is None:
        return None
    try:
        at, zone = _clock(clock.groups()[:5]), _zone(clock[6])
        return datetime(int(year) + 2000 * (len(year) < 3), number, int(day), *at, tzinfo=zone)
    except ValueError:
        return None


def _clock(groups: Sequence[str | None]) -> tuple[int, int, int]:
    """Returns hour, minute and second from the groups of ``_CLOCK``; ValueError for 13 pm."""
    before, hours, minutes, seconds, after = groups
    hour, half = int(hours or 0), before or after
    if half:
        if hour > 12:
            raise ValueError("no such hour")
        afternoon = half[0] in "pP" or half in _AFTERNOON
        hour = hour % 12 + (12 if afternoon else 0)
    return hour, int(minutes or 0), int(seconds or 0)


def _zone(written: str | None = None) -> timezone | None:
    """Returns the zone of +0200, +02:00, Z, UTC or GMT; None without one."""
    if not written or written[0] not in "+-":
        return UTC if written else None
    digits = written[1:].replace(":", "")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-ahead if written[0] == "-" else ahead)


def is_clock(text: str) -> bool:
    """Returns True for a time of a day without its date: ``10:14``, ``3:50 pm``."""
    return len(text) < _LONGEST and _TIME.fullmatch(text.strip()) is not None


def at_clock(day: datetime, text: str) -> datetime | None:
    """Returns a clock's time on a day; None if the text is no clock (:func:`is_clock`)."""
    match = _TIME.fullmatch(text.strip())
    try:
        at = _clock(match.groups()[:5]) if match else None
        return at and datetime(day.year, day.month, day.day, *at, tzinfo=day.tzinfo)
    except ValueError:
        return None


def _in_order(text: str) -> datetime | None:
    """Reads dates of three numbers in a known order, with or without a time and a weekday.

    The year of four digits is first (``2023/05/28 (Sun) 19:47``), or it is last after dots, and the
    day is first (``29.12.2023, 22:42``). None for any other text.
    """
    fields = read_fields(_WEEKDAYS.sub(" ", text))
    if fields is None:
        return None
    if len(fields.numbers[0]) == 4:
        return fields.read("ymd")
    return fields.read("dmy") if fields.mark == "." and len(fields.numbers[2]) == 4 else None


# --- three numbers -------------------------------------------------------------------

Order = Literal["ymd", "dmy", "mdy"]

_FORENOON = "पूर्वाह्न π.μ. πμ ص 上午 午前 오전 凌晨 早上 清晨 ÖÖ SA".split()
_AFTERNOON = "अपराह्न μ.μ. μμ م 下午 午後 오후 中午 傍晚 晚上 ÖS CH".split()
HALF = rf"([ap]\.?\s?m\b\.?|(?:{'|'.join(_FORENOON + _AFTERNOON)})(?![^\W\d_]))"
_DATE = (
    r"([0-9]{1,4})\s?([./-]|[年년])\s?([0-9]{1,2})\s?(?:\2|[月월])\s?([0-9]{1,4})"
    r"(?:\.|\s?[日일])?"
)
_CLOCK = (
    rf"(?:klo\s|um\s|at\s|à\s|às\s|kl\.?\s)?\s*(?:{HALF}\s*)?"
    r"([0-9]{1,2})(?:[:.h]|\s?[時时点點시]\s?)([0-9]{2})"
    rf"(?:(?:[:.]|[分분]\s?)([0-9]{{2}})[秒초]?)?[分분]?(?:\s*{HALF})?"
)
_GAP = r"(?:,?[\sT]+|(?<=[日일]))"
_ZONE = r"(?:\s?(z|utc|gmt|[+-]\d\d:?\d\d))?"
_TIME = re.compile(_CLOCK + _ZONE, re.IGNORECASE)
_ZONED = re.compile(rf":\d\d\S*?{_ZONE[:-1]}$", re.IGNORECASE)
_WEEKDAYS = re.compile(
    r"(?:(?<!\s)\s++)?+\([^()]*\)|\s?(?:(?:星期|週|周)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일)"
)
_WHOLE = re.compile(rf"\s*{_DATE}(?:{_GAP}{_CLOCK}{_ZONE})?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fields:
    """Date of three numbers whose order may be unknown, such as 03/04/2025.

    ``mark`` is the sign between the ``numbers``, ``clock`` the hour, minute and second, ``zone``
    the zone, None if it is not written.
    """

    numbers: tuple[str, str, str]
    mark: str
    clock: tuple[int, int, int]
    zone: timezone | None = None

    def read(self, order: Order) -> datetime | None:
        """Returns the date if its numbers are in this order; None if no such date exists."""
        by_name = dict(zip(order, self.numbers, strict=True))
        if len(by_name["m"]) > 2 or len(by_name["d"]) > 2 or len(by_name["y"]) == 3:
            return None
        year = int(by_name["y"]) + (2000 if len(by_name["y"]) < 3 else 0)
        year -= 543 if 2500 < year < 2650 else 0  # Buddhist years
        month, day = int(by_name["m"]), int(by_name["d"])
        try:
            if year in _PERSIAN:
                whole = date.fromordinal(_persian_ordinal(year, month, day))
                year, month, day = whole.year, whole.month, whole.day
            time = datetime(year, month, day, *self.clock, tzinfo=self.zone)
            return time if year in YEARS else None
        except ValueError:
            return None


_PERSIAN = range(1380, 1431)
"""Years of the Persian calendar, from 2001 to 2052, in which nobody of another calendar chats."""


def _persian_ordinal(year: int, month: int, day: int) -> int:
    """Returns the proleptic Gregorian ordinal of a date of the Persian (Solar Hijri) calendar.

    The leap years follow the cycle of 33 years, which is exact for the years of ``_PERSIAN``.
    Raises ValueError if the month has no such day.
    """

    def is_leap(year: int) -> bool:
        return (25 * year + 11) % 33 < 8

    days = [31] * 6 + [30] * 5 + [29 + is_leap(year)]
    if not (1 <= month <= 12 and 1 <= day <= days[month - 1]):
        raise ValueError(f"there is no day {day} in month {month} of {year}")
    begun = sum(365 + is_leap(each) for each in range(_PERSIAN.start, year))
    return date(2001, 3, 21).toordinal() + begun + sum(days[: month - 1]) + day - 1


def read_fields(text: str) -> Fields | None:
    """Reads ``03/04/2025 10:14``, ``28.12.23, 20:02:11``, ``3-4-25`` …; None for anything else."""
    match = _WHOLE.fullmatch(text) if len(text) < _LONGEST else None
    if match is None:
        return None
    first, mark, second, third, *clock = match.groups()
    with suppress(ValueError):  # an hour such as 13 pm
        return Fields((first, second, third), mark, _clock(clock[:5]), _zone(clock[5]))
    return None


def read_times(
    values: Sequence[object], day_first: bool | None = None
) -> tuple[list[datetime | None], list[str]]:
    """Returns the time of each value, and notes for the user about uncertain dates and zones.

    Values are read by :func:`read_time`. Dates such as 03/04/2025 are read in the order that all
    values share (:func:`order_of`).
    """
    times, notes = [read_time(value) for value in values], []
    # Dates of three numbers, which one order must fit.
    ambiguous = {
        row: fields
        for row, value in enumerate(values)
        if times[row] is None
        and isinstance(value, str)
        and (fields := read_fields(_WEEKDAYS.sub(" ", unicodedata.normalize("NFKC", value[:80]))))
        and (fields.read("dmy") or fields.read("mdy"))
    }
    order, why = order_of(list(ambiguous.values()), day_first)
    if why:
        notes.append(why)
    if order is not None:
        for row, fields in ambiguous.items():
            times[row] = fields.read(order)
    # Some programs write a zone and others do not.
    written = [value for value, moment in zip(values, times, strict=True) if moment]
    clocks = [value for value in written if isinstance(value, str) and ":" in value]
    zoned = sum(_ZONED.search(value.strip()) is not None for value in clocks)
    if 0 < zoned < len(clocks):
        what = f"{zoned:,} of {len(clocks):,} times name a zone"
        notes.append(f"{what}; the others are compared with them as if they were in UTC")
    return times, notes


def order_of(dates: Sequence[Fields], day_first: bool | None) -> tuple[Order | None, str]:
    """Returns the order of day, month and year that all dates share, and a note if it is uncertain.

    The order follows from numbers above 12, from the reading in which times run forward, or from
    dots, as nobody writes months first with dots. ``day_first`` is the user's choice; it does not
    overrule a leading year. The order is None if nothing decides.
    """
    if not dates:
        return None, ""
    if all(len(date.numbers[0]) == 4 for date in dates):
        return "ymd", ""
    if day_first is not None:
        return ("dmy" if day_first else "mdy"), ""
    example = date_as_written(dates[0])
    # The order in which all numbers are dates, else that of nearly all.
    orders: tuple[Order, Order] = ("dmy", "mdy")
    read = [[time for date in dates if (time := date.read(order))] for order in orders]
    day_fits, month_fits = map(len, read)
    likely: Order = "dmy" if day_fits >= month_fits else "mdy"
    if left := len(dates) - max(day_fits, month_fits):
        if left * 20 <= len(dates):
            what = f"{left:,} of {len(dates):,} dates do not fit the others' order of numbers"
            return likely, what
        why = "some dates have the day first, others the month"
        return None, f"{why} (such as {example}); read without dates"
    if day_fits != month_fits:
        return likely, ""
    # Times run forward, so the order with fewer steps back is the right one.
    instants = [[time.replace(tzinfo=time.tzinfo or UTC) for time in times] for times in read]
    day_back, month_back = (sum(a > b for a, b in pairwise(times)) for times in instants)
    if day_back != month_back:
        return ("dmy" if day_back < month_back else "mdy"), ""
    # Dots stand after the day first; 5/5/2025 is the same day in both orders.
    equal = all(date.numbers[0].lstrip("0") == date.numbers[1].lstrip("0") for date in dates)
    if equal or all(date.mark == "." for date in dates):
        return "dmy", ""
    what = f"{example} may have the day or the month first, and nothing in the file decides"
    return None, f"{what}; read without dates until their order is said (day_first)"


def date_as_written(date: Fields) -> str:
    """Returns a date as it was written, without its time: ``03/04/2025``."""
    return date.mark.join(date.numbers)


# --- a time that a sentence names ------------------------------------------------------

_BEGIN = rf"\d{{1,2}} (?:{_MONTH_NAMES} )?(?:\d{{4}} )?to "
_FORM = rf"(?:before |{_BEGIN})?(?:\d{{1,2}} )?(?:{_MONTH_NAMES} )?\d{{4}}"
_ADDED = re.compile(rf" \({_FORM}\)")
_BRACKETED = re.compile(
    r"\b(yesterday|today|tonight|morning|night|tomorrow|ago|week(?:end)?|month|year|last|next"
    rf"|{'|'.join(_DAYS)}|\d{{1,2}}(?:st|nd|rd|th)){_ADDED.pattern}",
    re.I,
)


def dated(text: str, now: datetime) -> str:
    """Writes a date in brackets behind each time that is relative to ``now``.

    "I ran yesterday." becomes "I ran yesterday (7 May 2023).", "last month" "last month (April
    2023)". "A few days ago" names no day for sure, but one to count from: "(before 8 May 2023)".
    "In two weeks" and "the past year" get none: they may say how long something takes. A time that
    has a date in brackets keeps it, so the function is idempotent.
    """
    taken: list[tuple[int, int, str]] = []
    # A surer pattern comes first, and another one that overlaps it is no time of its own.
    for pattern, read in _READERS.items():
        for match in pattern.finditer(text) if pattern in _RELATIVE else ():
            start, stop = match.span()
            vague = _VAGUE.match(match.group()) or text[stop : stop + 1] in ("'", "’")
            if (
                vague
                or _ADDED.match(text, stop)
                or any(start < end and begin < stop for begin, end, _ in taken)
            ):
                continue
            with suppress(ValueError, OverflowError):
                rough = _ROUGH.match(match.group())
                if interval := _days(now) if rough else read(match, now):
                    added = ("before " if rough else "") + _in_brackets(interval)
                    taken.append((start, stop, f" ({added})"))
    for _, stop, added in sorted(taken, reverse=True):
        text = text[:stop] + added + text[stop:]
    return text


def undated(text: str) -> str:
    """Returns a text without the dates that :func:`dated` wrote."""
    return _BRACKETED.sub(r"\1", text) if ")" in text else text


def _in_brackets(interval: Interval) -> str:
    """Formats an interval as ``7 May 2023``, ``April 2023``, ``2022`` or ``1 to 7 May 2023``."""
    first, last = interval[0].date(), (interval[1] - timedelta(days=1)).date()
    month, year = f"{MONTH_NAMES[last.month - 1]} {last.year}", str(last.year)
    if first == last:
        return f"{last.day} {month}"
    if interval == _shifted(interval[0], 0, "year"):
        return year
    if interval == _shifted(interval[0], 0, "month"):
        return month
    begin = str(first.day)
    if first.month != last.month:
        begin += f" {MONTH_NAMES[first.month - 1]}"
    if first.year != last.year:
        begin += f" {first.year}"
    return f"{begin} to {last.day} {month}"


def resolve(text: str, now: datetime | None) -> tuple[Interval, str] | None:
    """Finds a time that a sentence names, as a half-open interval of whole days.

    A date without a year or month is the latest such date up to ``now``.

    Args:
        text: the sentence.
        now: the time of the sentence; None if unknown.

    Returns:
        The interval and the words that name it. None if the sentence names no time, or only times
        relative to an unknown ``now``.
    """
    # "the week before 9 May": a time beside another one, which is found first.
    beside = _BESIDE.search(text)
    if beside and (anchor := resolve(text[beside.end() :], now)):
        around, words = anchor
        if text.startswith(words, beside.end()):
            with suppress(ValueError, OverflowError):
                before = beside[2].lower() == "before"
                return _next_to(around, beside[1].lower(), before), beside.group() + words
    # The first pattern that names a possible date decides; surer patterns come first.
    for pattern, read in _READERS.items():
        match = pattern.search(text)
        if match is None or (now is None and pattern in _RELATIVE):
            continue
        with suppress(ValueError, OverflowError):
            if (interval := read(match, now)) is not None:
                return interval, match.group()
    return None


def days_in(text: str) -> Iterator[tuple[tuple[int, int], tuple[int | None, int, int]]]:
    """Yields the dates with a day that a text names, in order: place, and year, month and day.

    The place is start and stop; the year is None if the text leaves it out.
    """
    matches = [(m.span(), m[1], m[2], m[3]) for m in _YEAR_FIRST.finditer(text)]
    matches += [(m.span(), m[3], m[2], m[1]) for m in _DAY_FIRST.finditer(text)]
    matches += [(m.span(), m[3], m[1], m[2]) for m in _MONTH_FIRST.finditer(text)]
    end = 0
    for (start, stop), year, named, day in sorted(matches, key=itemgetter(0)):
        month = int(named) if named.isdecimal() else _MONTHS[named.lower()]
        if start >= end and 1 <= month <= 12 and 1 <= int(day) <= 31:
            yield (start, stop), (int(year) if year else None, month, int(day))
            end = stop


def month_of(word: str) -> str:
    """Returns the whole name of a month in lower case; any other word as it is."""
    number = _MONTHS.get(word)
    return MONTH_NAMES[number - 1].lower() if number else word


def named_day(interval: Interval) -> str:
    """Formats an interval as ``2023-05-07``, or as ``2023-05-01 to 2023-05-07``."""
    first, last = interval[0].date(), (interval[1] - timedelta(days=1)).date()
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def day_in_words(day: date) -> str:
    """Formats a day as ``Sunday 7 May 2023``."""
    weekday = [*_DAYS][day.weekday()].capitalize()
    return f"{weekday} {day.day} {MONTH_NAMES[day.month - 1]} {day.year}"


def _days(start: datetime, count: int = 1) -> Interval:
    midnight = datetime(start.year, start.month, start.day)
    return midnight, midnight + timedelta(days=count)


def _month(year: int, month: int) -> Interval:
    return _days(datetime(year, month, 1), calendar.monthrange(year, month)[1])


def _dated(day: int, month: int, year: str | None, now: datetime | None) -> Interval | None:
    """Returns a day with its year, else the last such day before now; None if now is unknown."""
    if year:
        return _days(datetime(int(year), month, day))
    if now is None:
        return None
    this_year = datetime(now.year, month, day)
    return _days(this_year if this_year <= now else datetime(now.year - 1, month, day))


def _month_alone(match: re.Match[str], now: datetime | None) -> Interval | None:
    month = _MONTHS[match[1].lower()]
    if match[2]:
        return _month(int(match[2]), month)
    return None if now is None else _month(now.year - (month > now.month), month)


def _day_alone(match: re.Match[str], now: datetime) -> Interval:
    day = int(match[1])
    month = now if day <= now.day else now.replace(day=1) - timedelta(days=1)
    return _days(month.replace(day=day))


def _away(match: re.Match[str], now: datetime) -> Interval:
    """Returns the time that is a number of units before or after now."""
    ahead, ahead_count, ahead_unit, ago_count, ago_unit = match.groups()
    count = ahead_count if ahead else ago_count
    unit = (ahead_unit if ahead else ago_unit).lower()
    number = _NUMBERS.get(count.lower()) or int(count)
    by = number if ahead else -number
    if unit == "day":
        return _days(now + timedelta(days=by))
    if unit == "week":
        return _days(now + timedelta(days=7 * by - 3), 7)
    return _shifted(now, by, unit)


def _twice(match: re.Match[str], now: datetime) -> Interval:
    what, by = match[1].lower(), -2 if match[2].lower() == "before last" else 2
    if what in _DAYS:
        return _days(_on(what, now, by < 0) + timedelta(days=7 * by // 2))
    return _spanned(what, by, now)


def _next_to(interval: Interval, what: str, before: bool) -> Interval:
    """Returns the day, weekday, week, month … (``what``) just before an interval, or just after."""
    first, last = interval[0], interval[1] - timedelta(days=1)
    edge, by = (first, -1) if before else (last, 1)
    if what == "day":
        return _days(edge + timedelta(days=by))
    if what == "week":
        return _days(edge - timedelta(days=7) if before else interval[1], 7)
    if what == "weekend":
        return _days(_on("saturday", edge - timedelta(days=before), before), 2)
    return _days(_on(what, edge, before)) if what in _DAYS else _shifted(edge, by, what)


def _on(weekday: str, now: datetime, before: bool) -> datetime:
    """Returns the last ``weekday`` before ``now``, or the first one after it."""
    away = (_DAYS[weekday] - now.weekday()) % 7
    return now + timedelta(days=away - 7 if before else away or 7)


def _shifted(now: datetime, by: int, unit: str) -> Interval:
    """Returns the month or year that is ``by`` months or years after that of ``now``."""
    if unit == "year":
        return datetime(now.year + by, 1, 1), datetime(now.year + by + 1, 1, 1)
    months = now.year * 12 + now.month - 1 + by
    return _month(months // 12, months % 12 + 1)


def _spanned(unit: str, by: int, now: datetime) -> Interval:
    """Returns the week, weekend, month or year that is ``by`` of them after that of ``now``."""
    if not unit.startswith("week"):
        return _shifted(now, by, unit)
    monday = now - timedelta(days=now.weekday() - 7 * by)
    return _days(monday, 7) if unit == "week" else _days(monday + timedelta(days=5), 2)


_NEAREST = {"yesterday": -1, "last night": -1, "tomorrow": 1}
_STEPS = {"last": -1, "past": -1, "this": 0, "next": 1}

_READERS: dict[re.Pattern[str], Callable[[re.Match[str], Any], Interval | None]] = {
    _TWICE: _twice,
    _ISO: lambda match, now: _days(datetime.fromisoformat(match[0])),
    _DAY_FIRST: lambda match, now: _dated(int(match[1]), _MONTHS[match[2].lower()], match[3], now),
    _MONTH_FIRST: lambda match, now: _dated(
        int(match[2]), _MONTHS[match[1].lower()], match[3], now
    ),
    _DAY_ALONE: _day_alone,
    _AWAY: _away,
    _NEAR: lambda match, now: _days(now + timedelta(days=_NEAREST.get(match[1].lower(), 0))),
    _WEEKDAY: lambda match, now: _days(_on(match[2].lower(), now, match[1].lower() == "last")),
    _SPAN: lambda match, now: _spanned(match[2].lower(), _STEPS[match[1].lower()], now),
    _MONTH_ALONE: _month_alone,
    _YEAR_ALONE: lambda match, now: _shifted(datetime(int(match[1]), 1, 1), 0, "year"),
}
"""Functions of a match and ``now`` by pattern, in the order in which they are tried."""

_VAGUE = re.compile(r"in\b|past (?!weekend)", re.I)
"""Relative times that may be durations."""

_ROUGH = re.compile(r"(?:few|couple)\b", re.I)
"""Relative times of no certain number of days, weeks, months or years."""

_RELATIVE = {_TWICE, _DAY_ALONE, _AWAY, _NEAR, _WEEKDAY, _SPAN}
"""Patterns of times that mean nothing without ``now``."""
