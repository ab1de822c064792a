"""Named slices: questions of a data set that are measured by themselves, held in a link."""

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
    told = {name: _ranges(indices) for name, indices in slices.items()}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def read_slices(given: str) -> dict[str, tuple[int, ...]]:
    """The inverse of :func:`write_slices`. ValueError for what is none."""
    shape = 'expected names with ranges of questions, as in {"dates":"0-4,9"}'
    if len(given) > _LONGEST:
        raise ValueError(f"longer than {_LONGEST} characters")
    try:
        told = json.loads(given).items()
        return {_name(name): _indices(ranges.split(",")) for name, ranges in told}
    except UnicodeError:
        raise
    except (ValueError, AttributeError, RecursionError):
        raise ValueError(shape) from None


def _name(name: str) -> str:
    if not 0 < len(name) <= _NAME:
        raise ValueError(name)
    name.encode()
    return name


def _indices(ranges: Iterable[str]) -> tuple[int, ...]:
    found: set[int] = set()
    for each in ranges:
        first, _, last = each.partition("-")
        low, high = int(first), int(last or first)
        if not 0 <= low <= high <= _MOST:
            raise ValueError(each)
        found.update(range(low, high + 1))
    return tuple(sorted(found))


def _ranges(indices: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for index in sorted(set(indices)):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(f"{low}" if low == high else f"{low}-{high}" for low, high in runs)
