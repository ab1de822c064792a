"""Gold evidence of LoCoMo questions: from what was written to turns that exist.

Of 2,821 references in the official file, six entries are malformed (``"D8:6; D9:17"``,
``"D:11:26"``, ``"D"``) and three well-formed ones name no turn as written (``"D30:05"``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# Nine digits are more than any conversation has turns, and harmless to int().
_REFERENCE = re.compile(r"D:?\s*([0-9]{1,9})\s*:\s*([0-9]{1,9})(?![0-9])")
_SEPARATORS = re.compile(r"[\s,;/&()\[\]]*")


@dataclass(frozen=True, slots=True)
class Resolved:
    """What one entry of an evidence list came to: ids of turns and leftovers, verbatim."""

    found: tuple[str, ...]
    unresolved: tuple[str, ...]


def turn_index(turn_ids: Iterable[str]) -> dict[str, str]:
    """Spelling -> turn id: each id as it stands, and without leading zeros (D1:05, D1:5)."""
    ids = tuple(turn_ids)
    index: dict[str, str] = {}
    for turn_id in ids:
        match = _REFERENCE.fullmatch(turn_id)
        if match:
            index.setdefault(_canonical(match), turn_id)
    index.update((turn_id, turn_id) for turn_id in ids)
    return index


def resolve(entry: str, index: Mapping[str, str]) -> Resolved:
    """Find the turns that ``entry`` names; ``index`` comes from ``turn_index``.

    An entry may hold several references. One that names no turn is kept as written; so is
    the whole entry when it holds more than references, a range like ``D1:3-D1:5`` for one.
    """
    exact = index.get(entry.strip())
    if exact is not None:
        return Resolved((exact,), ())
    found: list[str] = []
    unresolved: list[str] = []
    for match in _REFERENCE.finditer(entry):
        turn_id = index.get(_canonical(match))
        if turn_id is None:
            unresolved.append(match[0])
        else:
            found.append(turn_id)
    if not (found or unresolved) or not _SEPARATORS.fullmatch(_REFERENCE.sub("", entry)):
        unresolved = [entry]
    return Resolved(tuple(found), tuple(unresolved))


def _canonical(match: re.Match[str]) -> str:
    return f"D{int(match[1])}:{int(match[2])}"
