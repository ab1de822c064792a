"""Converts the times of units to seconds that can be compared and subtracted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from segviz.conversation.units import Unit

DAY = 86_400.0
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Moment:
    """Time of a unit in ``seconds`` since 1970.

    ``dated`` is False if the unit has no time. Its seconds are then those of the unit before plus
    1, or 0 for the first unit.
    """

    seconds: float
    dated: bool


def seconds(when: datetime) -> float:
    """Returns a time as seconds since 1970; times with a zone are converted to UTC first."""
    naive = when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None)
    return (naive - _EPOCH).total_seconds()


def as_time(moment: float) -> datetime:
    """Returns the naive time that is this number of seconds after 1970; inverts ``seconds``."""
    return _EPOCH + timedelta(seconds=moment)


class Clock:
    """Clock that gives units their times, in order; :class:`Moment` describes units without one."""

    def __init__(self) -> None:
        self._last: float | None = None

    def tell(self, unit: Unit) -> Moment:
        """Returns the time of ``unit``, which must follow the unit of the last call."""
        if unit.time is not None:
            self._last = seconds(unit.time)
            return Moment(self._last, True)
        self._last = 0.0 if self._last is None else self._last + 1.0
        return Moment(self._last, False)


def moments(units: Iterable[Unit]) -> list[Moment]:
    """Returns the time of every unit, in order."""
    clock = Clock()
    return [clock.tell(unit) for unit in units]
