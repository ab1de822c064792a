"""Dates of the ``contextual`` relevance: matches dates in a question with those of the units."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from segviz.text import dates

Floats = NDArray[np.float64]
_MONTHS = ["", *map(str.lower, dates.MONTH_NAMES)]
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS[1:])})\b", re.I)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_ORDER = ("first", "second", "third", "fourth", "last")
_PART = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
_INSIDE = re.compile(
    rf"\b(?:({'|'.join(_ORDER)}) (week|weekend)|({'|'.join(_PART)}))(?: (?:of|in))?[ -]"
    rf"({'|'.join(_MONTHS[1:])})(?:,? (?:of )?((?:19|20)\d\d))?",
    re.I,
)
_AFTER = 7  # days; ours: people mention an event within a week


class SessionDates:
    """Dates of the units of a memory, to be matched with the dates in a question."""

    def __init__(self, times: Sequence[datetime | None]) -> None:
        """Splits the times of the units, None if unknown, into columns of year, month and day."""
        known = [time and time.replace(tzinfo=None) for time in times]
        self._now = max(filter(None, known), default=None)
        rows = [(t.year, t.month, t.day, t.toordinal()) if t else (0, 0, 0, 0) for t in known]
        self._year, self._month, self._day, self._date = np.array(rows, np.int64).reshape(-1, 4).T

    def weights(self, question: str) -> Floats:
        """Sums, for each unit, the inverse document frequencies of the question's matching dates.

        A question may name years, months, days of a month, and spans inside a month, which match
        the week after them, too. If it names none, its relative days ("last week") count from the
        last unit. Returns float64 (units,).
        """
        names = dict.fromkeys(_MONTH.findall(question))
        # In lower case "may" is a verb.
        months = [_MONTHS.index(name.lower()) for name in names if name != "may"]
        # A number is a day only next to a month: "2 dogs in total" has no date.
        days = [int(day) for day in _DAY.findall(question)] if months else []
        # Each entry marks the units whose session matches one date of the question.
        meant = [
            *(self._year == int(year) for year in dict.fromkeys(_YEAR.findall(question))),
            *(self._month == each for each in dict.fromkeys(months)),
            *((self._day == each) & np.isin(self._month, months) for each in dict.fromkeys(days)),
        ]
        # A span without a year matches in every year.
        for span in _INSIDE.finditer(question):
            years = [int(span[5])] if span[5] else sorted({*self._year.tolist()} - {0})
            inside = np.zeros(len(self._date), dtype=np.bool_)
            for year in years:
                first, end = (day.toordinal() for day in span_inside(span, year))
                inside |= (first <= self._date) & (self._date < end + _AFTER)
            meant.append(inside)
        if not meant and (relative := dates.resolve(question, self._now)):
            first, end = (each.toordinal() for each in relative[0])
            meant = [(first <= self._date) & (self._date < end)]
        units = np.zeros(len(self._date))
        for each in meant:
            # The idf of BM25: a date that few units have says more.
            if matching := np.count_nonzero(each):
                units += each * np.log1p((len(units) - matching + 0.5) / (matching + 0.5))
        return units


def span_inside(span: re.Match[str], year: int) -> tuple[date, date]:
    """Returns the first day of a span inside a month, and the day after its last.

    "First weekend of October" is its first Saturday and Sunday, "last week of August" its last
    seven days, "mid-May" the 11th to 20th.
    """
    month = _MONTHS.index(span[4].lower())
    start, length = date(year, month, 1), calendar.monthrange(year, month)[1]
    if span[3]:
        part = _PART[span[3].lower()]
        return start + timedelta(10 * part), start + timedelta(
            length if part == 2 else 10 * part + 10
        )
    place, what = _ORDER.index(span[1].lower()), span[2].lower()
    if what == "week":
        first = start + timedelta(length - 7 if place == 4 else 7 * place)
        return first, first + timedelta(7)
    saturday = start + timedelta((5 - start.weekday()) % 7)
    weekends = (length - saturday.day) // 7
    first = saturday + timedelta(7 * (weekends if place == 4 else place))
    return first, first + timedelta(2)
