"""Dates of three numbers, whose order is the writer's: 03/04/2025 may be in March or April.

One rule holds for a whole file. It is told from numbers above 12, from which reading makes
the times run forward, or from dots (nobody writes months first with dots); where nothing
tells, there are no dates rather than wrong ones, and the user may say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal

from segviz.loaders.times import YEARS, from_parts

Order = Literal["ymd", "dmy", "mdy"]

DATE = r"([0-9]{1,4})\s?([./-])\s?([0-9]{1,2})\s?\2\s?([0-9]{1,4})\.?"
CLOCK = (
    r"(?:klo\s|um\s|at\s|à\s|às\s|kl\.?\s)?\s*"
    r"([0-9]{1,2})[:.h]([0-9]{2})(?:[:.]([0-9]{2}))?(?:\s*([ap])\.?\s?m\b\.?)?"
)
_WHOLE = re.compile(rf"\s*{DATE}(?:,?[\sT]+{CLOCK})?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fields:
    """The numbers of a date in the order they are written, the mark between, and the time."""

    numbers: tuple[str, str, str]
    mark: str
    clock: tuple[int, int, int]

    def read(self, order: Order) -> datetime | None:
        """The date in this order; None when there is no such day or time."""
        by_name = dict(zip(order, self.numbers, strict=True))
        if len(by_name["m"]) > 2 or len(by_name["d"]) > 2 or len(by_name["y"]) == 3:
            return None
        year = int(by_name["y"]) + (2000 if len(by_name["y"]) < 3 else 0)
        if year not in YEARS:
            return None
        return from_parts((year, int(by_name["m"]), int(by_name["d"])), self.clock)


def fields_of(groups: Sequence[str | None]) -> Fields | None:
    """From the groups of ``DATE`` and ``CLOCK``; None for an hour such as 13 pm."""
    first, mark, second, third, *clock = groups
    hours, minutes, seconds, half = clock
    hour = int(hours or 0)
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "pP" else 0)
    numbers = (first or "", second or "", third or "")
    return Fields(numbers, mark or "", (hour, int(minutes or 0), int(seconds or 0)))


def read_fields(text: str) -> Fields | None:
    """``03/04/2025 10:14``, ``28.12.23, 20:02:11``, ``3-4-25`` …; None for anything else."""
    match = _WHOLE.fullmatch(text) if len(text) < 80 else None
    return fields_of(match.groups()) if match else None


def order_of(dates: Sequence[Fields], day_first: bool | None) -> tuple[Order | None, str]:
    """The order that all dates share, and what to tell the user where it is not certain.

    ``day_first`` is the user's word; it does not overrule a year that stands first.
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
