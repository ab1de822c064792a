"""Turns of data sets, by one set of rules: LoCoMo, LongMemEval, RealMem, MemoryAgentBench.

``read_turn`` reads LoCoMo's ``{speaker, dia_id, text, [blip_caption, img_url, query, …]}``,
``read_messages`` those of role and content by the same rules. Image URLs are neither kept nor
fetched; the caption stands for the image, also where there is no URL (316 turns of LoCoMo's
file). Fields nobody knows are kept in ``extra``, as long as they are single values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from segviz.conversation import Session, Turn
from segviz.loaders.captions import counted, describe
from segviz.loaders.document import Place
from segviz.loaders.report import Notes

_KNOWN = frozenset({"speaker", "dia_id", "text", "blip_caption", "img_url", "query", "re-download"})
_MOST_EXTRA = 20
_LONGEST_EXTRA = 1_000

UNKNOWN = "Unknown"
"""The speaker of turns that name none."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn before ids are settled.

    ``declared`` is the file's id, if it is a usable string; ``fallback`` is
    ``D<session>:<position>``, 1-based, counting the turns that were skipped as well.
    """

    place: Place
    declared: str | None
    fallback: str
    speaker: str
    text: str
    caption: str | None
    extra: tuple[tuple[str, str | float | bool], ...] = ()


def read_turn(
    raw: object,
    session: int,
    position: int,
    place: Place,
    notes: Notes,
    speaker: str = "speaker",
    text: str = "text",
) -> Draft | None:
    """One turn, or None (and a note) when it holds neither words nor a caption.

    ``speaker`` and ``text`` are the keys under which these stand.
    """
    if not isinstance(raw, dict):
        notes.skipped(place, f"expected a turn (an object), found {describe(raw)}")
        return None
    caption = _caption(raw)
    words = _text(raw, text, caption, place, notes)
    if words is None:
        return None
    return Draft(
        place=place,
        declared=declared_id(raw),
        fallback=f"D{session}:{position}",
        speaker=_speaker(raw, speaker, place, notes),
        text=words,
        caption=caption,
        extra=_extra(raw),
    )


def declared_id(raw: object) -> str | None:
    """The turn's own ``dia_id``; None when it is missing, blank or no string."""
    value = raw.get("dia_id") if isinstance(raw, dict) else None
    return value.strip() or None if isinstance(value, str) else None


def settle_ids(drafts: Iterable[Draft], reserved: Iterable[str], notes: Notes) -> Iterator[Turn]:
    """Turns with ids unique in the conversation, in order.

    The first turn that declares an id owns it. Others get ``D<session>:<position>``, with
    ``#2``, ``#3`` … when that is ``reserved`` (declared anywhere, also by skipped turns:
    evidence that cites a lost turn must not point at another one).
    """
    owned: set[str] = set()
    taken = set(reserved)
    for draft in drafts:
        turn_id = draft.declared
        if turn_id is None or turn_id in owned:
            turn_id = _free(draft.fallback, taken)
            problem = "missing or unusable" if draft.declared is None else "a duplicate"
            what = f"the id is {problem}; the turn is called {turn_id}"
            notes.repaired((*draft.place, "dia_id"), what)
        owned.add(turn_id)
        taken.add(turn_id)
        yield Turn(turn_id, draft.speaker, draft.text, draft.caption, draft.extra)


def _free(wanted: str, taken: set[str]) -> str:
    fresh, count = wanted, 1
    while fresh in taken:
        count += 1
        fresh = f"{wanted}#{count}"
    return fresh


def _caption(raw: dict[str, object]) -> str | None:
    value = raw.get("blip_caption")
    return value.strip() or None if isinstance(value, str) else None


def _extra(raw: dict[str, object]) -> tuple[tuple[str, str | float | bool], ...]:
    """Unknown fields with a single value, of bounded number and length; numbers are finite."""
    found = [
        (name, value)
        for name, value in raw.items()
        if name not in _KNOWN and len(name) <= _LONGEST_EXTRA and _is_small(value)
    ]
    return tuple(found[:_MOST_EXTRA])


def _is_small(value: object) -> TypeGuard[str | float | bool]:
    if isinstance(value, str):
        return len(value) <= _LONGEST_EXTRA
    if isinstance(value, int):
        return value.bit_length() <= 64
    return isinstance(value, float) and math.isfinite(value)


def _speaker(raw: dict[str, object], key: str, place: Place, notes: Notes) -> str:
    value = raw.get(key)
    if isinstance(value, str) and value.strip():
        return value.strip()
    found = describe(value) if key in raw else "nothing"
    what = f"expected a speaker's name, found {found}; called {UNKNOWN}"
    notes.repaired((*place, key), what)
    return UNKNOWN


def _text(
    raw: dict[str, object], key: str, caption: str | None, place: Place, notes: Notes
) -> str | None:
    """The words; "" for an image without words; None (and a note) when unusable."""
    value = raw.get(key)
    here = (*place, key)
    if isinstance(value, str):
        return value
    if isinstance(value, dict | bool):
        notes.skipped(here, f"expected a text, found {describe(value)}; the turn is left out")
        return None
    if isinstance(value, int | float) and math.isfinite(value):
        notes.repaired(here, "a number was read as text")
        return str(value)
    if isinstance(value, list) and (parts := _text_parts(value)):
        left = len(value) - len(parts)
        rest = f"; {left} without text left out" if left else ""
        notes.repaired(here, f"{counted(len(parts), 'text part')} joined{rest}")
        return "\n".join(parts)
    if caption is not None:
        return ""
    found = describe(value) if key in raw else "nothing"
    what = f"expected a text, found {found}, and no image caption; the turn is left out"
    notes.skipped(here, what)
    return None


def _text_parts(blocks: list[object]) -> list[str]:
    """The texts of ``["…"]`` and ``[{"type": "text", "text": "…"}]``."""
    values = (block.get("text") if isinstance(block, dict) else block for block in blocks)
    return [value for value in values if isinstance(value, str)]


# --- messages of role and content ------------------------------------------------------


def read_messages(
    block: object, speaker: str, session: int, place: Place, notes: Notes
) -> tuple[Turn, ...]:
    """The usable turns of ``[{<speaker>: …, content: …}, …]``, read by LoCoMo's rules."""
    if not isinstance(block, list):
        notes.skipped(place, f"expected a list of turns, found {describe(block)}")
        return ()
    turns = []
    for row, raw in enumerate(block):
        if isinstance(raw, dict):  # other keys mean nothing here, though LoCoMo knows them
            raw = {key: raw[key] for key in (speaker, "content") if key in raw}
        draft = read_turn(raw, session, row + 1, (*place, row), notes, speaker, "content")
        if draft is not None:
            turns.append(Turn(f"S{session}:{row + 1}", draft.speaker, draft.text))
    return tuple(turns)


def flagged(raw: object, key: str, place: Place, notes: Notes) -> bool:
    """Whether a turn bears this mark: true, and nothing else, does; absent is no mark."""
    value = raw.get(key) if isinstance(raw, dict) else None
    if not isinstance(value, bool | None):
        what = f"expected true or false, found {describe(value)}; read as false"
        notes.repaired((*place, key), what)
    return value is True


def speakers_of(sessions: Sequence[Session], usual: Sequence[str]) -> tuple[str, ...]:
    """Who speaks: the ``usual`` ones first, in that order, then others as they appear."""
    there = dict.fromkeys(turn.speaker for session in sessions for turn in session.turns)
    return tuple(sorted(there, key=lambda name: (*usual, name).index(name)))
