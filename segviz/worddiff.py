"""Assembly: what changed between two annotations, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal

Piece = tuple[Literal["same", "gone", "new"], str]

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]", re.UNICODE)


def word_diff(before: str, after: str) -> list[Piece]:
    """Pieces in reading order: kept, removed and added text.

    Joining the ``same`` and ``gone`` pieces gives ``before``, ``same`` and ``new`` gives
    ``after``, exactly.
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    pieces: list[Piece] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(("same", "".join(old[a:b])))
            continue
        if b > a:
            pieces.append(("gone", "".join(old[a:b])))
        if d > c:
            pieces.append(("new", "".join(new[c:d])))
    return pieces
