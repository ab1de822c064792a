"""Whole numbers as text, neighbours as a range, as a link holds them."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 8_000  # characters
_MOST = 100_000  # the largest number


def read_ranges(given: str) -> tuple[int, ...]:
    """The inverse of :func:`write_ranges`, ascending. ValueError for what is none."""
    shape = f"expected numbers from 0 to {_MOST} or ranges of them, as in 0-4,9"
    if len(given) > _LONGEST:
        raise ValueError(f"longer than {_LONGEST} characters")
    found: set[int] = set()
    whole = 0
    for each in given.split(","):
        first, _, last = each.partition("-")
        try:
            low, high = int(first), int(last or first)
        except ValueError:
            raise ValueError(shape) from None
        whole += high - low  # ranges that repeat would take long
        if not 0 <= low <= high <= _MOST or whole > _MOST:
            raise ValueError(shape)
        found.update(range(low, high + 1))
    return tuple(sorted(found))


def write_ranges(indices: Iterable[int]) -> str:
    """Whole numbers as text, neighbours as a range: ``0-4,9``."""
    runs: list[list[int]] = []
    for index in sorted(set(indices)):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(f"{low}" if low == high else f"{low}-{high}" for low, high in runs)
