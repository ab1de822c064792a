"""Named slices: questions of a data set that are measured by themselves, held in a link; and
ranges, as which whole numbers stand there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

Slices = Mapping[str, tuple[int, ...]]
"""Name to the indices of its questions, ascending."""

_LONGEST = 8_000  # characters of all slices in a link
_NAME = 60
_MOST = 100_000  # the largest index


def write_slices(slices: Slices) -> str:
    """Slices as a part of a link: ``{"dates":"0-4,9"}``."""
    told = {name: write_ranges(indices) for name, indices in slices.items()}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def read_slices(given: str) -> dict[str, tuple[int, ...]]:
    """The inverse of :func:`write_slices`. ValueError for what is none."""
    shape = 'expected names with ranges of questions, as in {"dates":"0-4,9"}'
    if len(given) > _LONGEST:
        raise ValueError(f"longer than {_LONGEST} characters")
    try:
        told = json.loads(given).items()
        return {_name(name): read_ranges(ranges) for name, ranges in told}
    except UnicodeError:
        raise
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise ValueError(shape) from None


def _name(name: str) -> str:
    if not 0 < len(name) <= _NAME:
        raise ValueError(name)
    name.encode()
    return name


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
