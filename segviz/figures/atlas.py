"""The question atlas: what became of every question's gold evidence under several settings or in
several systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from segviz.evaluate.outcomes import Outcomes

FOUND, COVERED, MISSED = "●", "◐", "○"
"""Marks of a gold turn: in a retrieved node of one unit, in a wider one only, in neither."""

_MANY = 6
"""Of more gold turns marks are counted, not repeated."""

Fate = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class AtlasRow:
    """A question by its ``place``: ``fates`` in the order of the columns, and the ``change`` from
    the first column to the one in focus, in half turns: found counts 2, covered 1."""

    place: int
    fates: tuple[Fate, ...]
    change: int


def atlas(columns: Mapping[str, Outcomes], focus: str, places: Sequence[int]) -> list[AtlasRow]:
    """The questions at ``places`` that have gold evidence, those first whose fate changes most from
    the first column to ``focus`` (gains before losses), then those that change most anywhere."""
    names = list(columns)
    rows = []
    for place in places:
        fates = tuple(columns[name].fates[place] for name in names)
        if fates[0][2]:
            worth = [_worth(fate) for fate in fates]
            change = worth[names.index(focus)] - worth[0]
            most = max(abs(one - worth[0]) for one in worth)
            rows.append(((-abs(change), change < 0, -most), AtlasRow(place, fates, change)))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def _worth(fate: Fate) -> int:
    return 2 * fate[0] + fate[1]


def marks(fate: Fate) -> str:
    """A mark for each gold turn, or how many of each where there are many."""
    found, covered, whole = fate
    counts = ((FOUND, found), (COVERED, covered), (MISSED, whole - found - covered))
    if whole <= _MANY:
        return "".join(mark * count for mark, count in counts)
    return " ".join(f"{mark}{count}" for mark, count in counts if count)


def won(change: int) -> str:
    """Whether a question is won or lost by what changes, "" for neither."""
    return "won" if change > 0 else "lost" if change < 0 else ""


def atlas_sentence(rows: Sequence[AtlasRow], base: str, focus: str) -> str:
    """How many questions gain and lose gold evidence from the first column to the one in focus."""
    gains, losses = (sum(sign * row.change > 0 for row in rows) for sign in (1, -1))
    told = f"Of {len(rows)} questions with gold evidence {gains} are won and {losses} lost"
    return f"{told} by {focus} against {base}; the others keep what they had."
