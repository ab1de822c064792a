"""Compares texts of nodes: two texts by lines and words, several texts by sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from segviz.text.words import PIECE

Piece = tuple[Literal["same", "gone", "new"], str]

# A line end is a separate part: the last line of a text has none and still equals the same line.
_LINE = re.compile(r"[^\n]+|\n")
_TOKEN = re.compile(rf"\s+|{PIECE}|[^\w\s]")

# Less similar lines are shown as one removed and one added, because a word diff of different
# sentences is unreadable.
_MIN_SIMILARITY = 0.6

# Most pairs of equal parts, one from either text, that are aligned: the work grows with them,
# without bound for long texts of few words.
_MOST_PAIRS = 60_000


def word_diff(before: str, after: str) -> list[Piece]:
    """Compares two texts; returns pieces in reading order that are the same, gone or new.

    ``same`` and ``gone`` pieces joined give ``before``, ``same`` and ``new`` pieces give ``after``.
    Equal lines are one piece. If a line became a similar line, their words are compared. Parts that
    are too long and repetitive to align are gone and new as a whole.
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


# Sentences of a line, with the space that follows; a line end is a part of its own.
_SENTENCE = re.compile(r"\n|[^\n.!?。！？]*[.!?。！？]+[^\S\n]*|[^\n.!?。！？]+")
_SPEAKER = re.compile(r"[^\n:]{1,60}: ")

# Shorter sentences ("Thanks!") are said again without being read twice.
_REPEATED_FROM = 4


def repeats(texts: Sequence[str]) -> list[list[Piece]]:
    """Marks in each text the sentences that occur in an earlier text, except very short ones.

    Args:
        texts: the texts, in the order in which they are read.

    Returns:
        Pieces of each text, which joined give the text: ``gone`` for sentences that occur earlier,
        else ``same``.
    """
    read: set[str] = set()
    lines: list[list[Piece]] = []
    for text in texts:
        pieces: list[Piece] = []
        here: set[str] = set()
        # A sentence is known by its words, whoever the speaker; it is no repetition within a text.
        for part in _SENTENCE.findall(text):
            words = _SPEAKER.sub("", part, count=1).lower().split()
            key = " ".join(words) if len(words) >= _REPEATED_FROM else ""
            pieces.append(("gone" if key in read else "same", part))
            here.add(key)
        read |= here - {""}
        lines.append(pieces)
    return lines


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Aligns two sequences; yields pairs of runs: equal ones, or an old one and its replacement."""
    if not _alignable(old, new):
        yield list(old), list(new)
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        yield list(old[a:b]), list(new[c:d])


def _alignable(old: Sequence[str], new: Sequence[str]) -> bool:
    count = Counter(new)
    return sum(count[part] for part in old) <= _MOST_PAIRS
