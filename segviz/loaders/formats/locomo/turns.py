"""LoCoMo's turns: ``{speaker, dia_id, text, [blip_caption, img_url, query, …]}``.

Image URLs are neither kept nor fetched; the caption stands for the image, also where there is no
URL (316 turns of LoCoMo's file). Fields nobody knows are kept in ``extra``, as long as they are
single values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

from segviz.conversation import Turn
from segviz.loaders.chat import each_message, speaker_named, words
from segviz.loaders.document import Place
from segviz.loaders.multi_conversation import unused
from segviz.loaders.report import Notes

_KNOWN = frozenset({"speaker", "dia_id", "text", "blip_caption", "img_url", "query", "re-download"})
_MOST_EXTRA = 20
_LONGEST_EXTRA = 1_000


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


def read_turns(block: object, session: int, place: Place, notes: Notes) -> tuple[Draft, ...]:
    """The turns of a session that hold words or a caption; a note on each of the others."""
    drafts = []
    for here, raw in each_message(block, place, notes):
        caption = text_under("blip_caption", raw)
        text: str | None = ""
        if caption is None or raw.get("text") is not None:
            text = words(raw.get("text"), (*here, "text"), notes)
        if text is not None:
            own, spot = text_under("dia_id", raw), f"D{session}:{int(here[-1]) + 1}"
            speaker = speaker_named(raw.get("speaker"), (*here, "speaker"), notes)
            drafts.append(Draft(here, own, spot, speaker, text, caption, _extra(raw)))
    return tuple(drafts)


def text_under(key: str, raw: object) -> str | None:
    """What an object says under a key; None when it is missing, blank or no string."""
    value = raw.get(key) if isinstance(raw, dict) else None
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
            turn_id = unused(draft.fallback, taken)
            problem = "missing or unusable" if draft.declared is None else "a duplicate"
            what = f"the id is {problem}; the turn is called {turn_id}"
            notes.repaired((*draft.place, "dia_id"), what)
        owned.add(turn_id)
        taken.add(turn_id)
        yield Turn(turn_id, draft.speaker, draft.text, draft.caption, draft.extra)


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
