"""Resolves times named in a sentence: "last week", "in May 2023", "on 3 May", "two years ago"."""

from __future__ import annotations

import calendar
import re
from datetime import datetime, timedelta

Interval = tuple[datetime, datetime]

_MONTHS = {
    name.lower(): i
    for names in (calendar.month_name, calendar.month_abbr)
    for i, name in enumerate(names)
    if name
} | {"sept": 9}
_DAYS = {name.lower(): i for i, name in enumerate(calendar.day_name)}
_NUMBERS = {
    word: i
    for i, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
} | {"a": 1, "an": 1, "few": 3, "couple": 2}
_MONTH = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:19|20)\d\d"
_COUNT = r"(\d{1,2}|" + "|".join(_NUMBERS) + ")(?: of)?"
_UNIT = "(day|week|month|year)"

_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},?(?: ({_YEAR}))?", re.I)
_MONTH_FIRST = re.compile(rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,? ({_YEAR}))?", re.I)
# "may" and "march" are verbs more often than months, so a month alone wants a capital.
_MONTH_ALONE = re.compile(rf"\b({'|'.join(calendar.month_name[1:])})\b,?(?: (?:of )?({_YEAR}))?")
_ISO = re.compile(rf"\b({_YEAR})-(\d\d)-(\d\d)\b")
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


def resolve(text: str, now: datetime | None) -> tuple[Interval, str] | None:
    """Returns the first kind of time ``text`` names, as a half-open interval of whole days, and the
    words that name it; None where it names none, or only one relative to an unknown now.

    A date without a year or month is the latest such date up to ``now``.
    """
    beside = _BESIDE.search(text)
    if beside and (anchor := resolve(text[beside.end() :], now)):
        around, words = anchor
        if text.startswith(words, beside.end()):
            try:
                before = beside[2].lower() == "before"
                return _next_to(around, beside[1].lower(), before), beside.group() + words
            except (ValueError, OverflowError):
                pass
    for pattern, read in (
        (_TWICE, _twice),
        (_ISO, _iso),
        (_DAY_FIRST, _day_first),
        (_MONTH_FIRST, _month_first),
        (_DAY_ALONE, _day_alone),
        (_AWAY, _away),
        (_NEAR, _near),
        (_WEEKDAY, _weekday),
        (_SPAN, _span),
        (_MONTH_ALONE, _month_alone),
        (_YEAR_ALONE, _year_alone),
    ):
        found = pattern.search(text)
        if found is None:
            continue
        try:
            interval = read(found, now)
        except (ValueError, OverflowError):
            continue
        if interval is not None:
            return interval, found.group()
    return None


def named_day(interval: Interval) -> str:
    """An interval as a reader would write it: ``2023-05-07``, or first and last day."""
    first, last = interval[0].date(), (interval[1] - timedelta(days=1)).date()
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def _days(start: datetime, count: int = 1) -> Interval:
    midnight = datetime(start.year, start.month, start.day)
    return midnight, midnight + timedelta(days=count)


def _month(year: int, month: int) -> Interval:
    return _days(datetime(year, month, 1), calendar.monthrange(year, month)[1])


def _dated(day: int, month: int, year: str | None, now: datetime | None) -> Interval | None:
    if year:
        return _days(datetime(int(year), month, day))
    if now is None:
        return None
    found = datetime(now.year, month, day)
    return _days(found if found <= now else datetime(now.year - 1, month, day))


def _iso(found: re.Match[str], now: datetime | None) -> Interval | None:
    return _days(datetime(int(found[1]), int(found[2]), int(found[3])))


def _day_first(found: re.Match[str], now: datetime | None) -> Interval | None:
    return _dated(int(found[1]), _MONTHS[found[2].lower()], found[3], now)


def _month_first(found: re.Match[str], now: datetime | None) -> Interval | None:
    return _dated(int(found[2]), _MONTHS[found[1].lower()], found[3], now)


def _month_alone(found: re.Match[str], now: datetime | None) -> Interval | None:
    month = _MONTHS[found[1].lower()]
    if found[2]:
        return _month(int(found[2]), month)
    return None if now is None else _month(now.year - (month > now.month), month)


def _year_alone(found: re.Match[str], now: datetime | None) -> Interval | None:
    year = int(found[1])
    return datetime(year, 1, 1), datetime(year + 1, 1, 1)


def _day_alone(found: re.Match[str], now: datetime | None) -> Interval | None:
    if now is None:
        return None
    day = int(found[1])
    month = now if day <= now.day else now.replace(day=1) - timedelta(days=1)
    return _days(month.replace(day=day))


def _away(found: re.Match[str], now: datetime | None) -> Interval | None:
    if now is None:
        return None
    count, unit = (found[2], found[3]) if found[1] else (found[4], found[5])
    number = _NUMBERS.get(count.lower()) or int(count)
    by, unit = number if found[1] else -number, unit.lower()
    if unit == "day":
        return _days(now + timedelta(days=by))
    if unit == "week":
        return _days(now + timedelta(days=7 * by - 3), 7)
    return _shifted(now, by, unit)


def _twice(found: re.Match[str], now: datetime | None) -> Interval | None:
    if now is None:
        return None
    what, by = found[1].lower(), -2 if found[2].lower() == "before last" else 2
    if what in _DAYS:
        return _days(_on(what, now, by < 0) + timedelta(days=7 * by // 2))
    return _spanned(what, by, now)


def _next_to(interval: Interval, what: str, before: bool) -> Interval:
    """Returns the day, weekend, weekday, week, month or year before or after an interval."""
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
    """Returns the closest such weekday before or after ``now``."""
    away = (_DAYS[weekday] - now.weekday()) % 7
    return now + timedelta(days=away - 7 if before else away or 7)


def _shifted(now: datetime, by: int, unit: str) -> Interval:
    """Returns the whole month or year ``by`` of them after the current one."""
    if unit == "year":
        return datetime(now.year + by, 1, 1), datetime(now.year + by + 1, 1, 1)
    months = now.year * 12 + now.month - 1 + by
    return _month(months // 12, months % 12 + 1)


def _near(found: re.Match[str], now: datetime | None) -> Interval | None:
    if now is None:
        return None
    away = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(found[1].lower(), 0)
    return _days(now + timedelta(days=away))


def _weekday(found: re.Match[str], now: datetime | None) -> Interval | None:
    return None if now is None else _days(_on(found[2].lower(), now, found[1].lower() == "last"))


def _span(found: re.Match[str], now: datetime | None) -> Interval | None:
    by = {"last": -1, "past": -1, "this": 0, "next": 1}[found[1].lower()]
    return None if now is None else _spanned(found[2].lower(), by, now)


def _spanned(unit: str, by: int, now: datetime) -> Interval:
    """Returns the calendar week, weekend, month or year ``by`` of them after the current one."""
    if not unit.startswith("week"):
        return _shifted(now, by, unit)
    monday = now - timedelta(days=now.weekday() - 7 * by)
    return _days(monday, 7) if unit == "week" else _days(monday + timedelta(days=5), 2)
