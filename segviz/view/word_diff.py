"""Compares two annotations line by line, then word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

Piece = tuple[Literal["same", "gone", "new"], str]

# A line end is a separate part: the last line of a text has none and still equals the same line.
_LINE = re.compile(r"[^\n]+|\n")
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]", re.UNICODE)

# Less similar lines are shown as one removed and one added, because a word diff of different
# sentences is unreadable.
_MIN_SIMILARITY = 0.6

# Most pairs of equal parts, one from either text, that are aligned: the work grows with them,
# without bound for long texts of few words.
_MOST_PAIRS = 60_000


def word_diff(before: str, after: str) -> list[Piece]:
    """Returns pieces in reading order: same, removed and added text.

    Joining the ``same`` and ``gone`` pieces gives ``before``, ``same`` and ``new`` gives ``after``,
    exactly. Common lines stay whole; if a line became a similar one, its words are compared. Parts
    too long and too repetitive to align are removed and added whole.
    """
    pieces: list[Piece] = []
    for old, new in _opcodes(_LINE.findall(before), _LINE.findall(after)):
        if old == new:
            pieces.append(("same", "".join(old)))
            continue
        a, b = (_TOKEN.findall("".join(lines)) for lines in (old, new))
        similar = (
            _alignable(a, b)
            and SequenceMatcher(None, a, b, autojunk=False).ratio() >= _MIN_SIMILARITY
        )
        for gone, fresh in _opcodes(a, b) if similar else [(old, new)]:
            if gone == fresh:
                pieces.append(("same", "".join(gone)))
                continue
            if gone:
                pieces.append(("gone", "".join(gone)))
            if fresh:
                pieces.append(("new", "".join(fresh)))
    return pieces


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yields aligned runs of both sequences; equal runs are equal lists."""
    if not _alignable(old, new):
        yield list(old), list(new)
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        yield list(old[a:b]), list(new[c:d])


def _alignable(old: Sequence[str], new: Sequence[str]) -> bool:
    count = Counter(new)
    return sum(count[part] for part in old) <= _MOST_PAIRS
