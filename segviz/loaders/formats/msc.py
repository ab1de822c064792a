"""Multi-Session Chat (ParlAI): JSON Lines of ``{previous_dialogs, dialog, personas, …}``.

Made after the published reading code and tested on lines made alike; the files were not at
hand. A line is one conversation: its previous dialogs and its own are the sessions. Where
no ``id`` names the speaker, ``Speaker 1`` and ``Speaker 2`` take turns. There are no dates:
``time_back`` ("3 days ago") or ``time_num`` and ``time_unit`` are kept as the date as written.
"""

from __future__ import annotations

from segviz.conversation import Conversation
from segviz.loaders.captions import describe
from segviz.loaders.chat import Message, words
from segviz.loaders.document import Options
from segviz.loaders.multi_conversation import Talk, read_talks, rows_of
from segviz.loaders.notes import Note, Notes, Place

LABEL = "Multi-Session Chat"

_SPEAKERS = ("Speaker 1", "Speaker 2")
_EXPECTED = "a chat (an object with previous_dialogs and dialog)"


def matches(document: object) -> bool:
    """Whether the document, or an item of it, has ``dialog`` and ``previous_dialogs``."""
    return any(
        isinstance(raw, dict) and "previous_dialogs" in raw and "dialog" in raw
        for _, raw in rows_of(document)
    )


def read(
    document: object, name: str, options: Options
) -> tuple[tuple[Conversation, ...], list[Note]]:
    """One conversation per line, called by its ``initial_data_id``.

    Raises LoadError when none has words.
    """
    return read_talks(rows_of(document), _talk, LABEL, _EXPECTED, name, options)


def _talk(raw: dict[str, object], place: Place, notes: Notes) -> Talk:
    facts = raw.get("metadata")
    own = facts.get("initial_data_id") if isinstance(facts, dict) else None
    return Talk((own, raw.get("initial_data_id")), _dialogs(raw, place, notes), _SPEAKERS)


def _dialogs(raw: dict[str, object], place: Place, notes: Notes) -> list[Message]:
    before = raw.get("previous_dialogs")
    messages: list[Message] = []
    if isinstance(before, list):
        for row, part in enumerate(before):
            here = (*place, "previous_dialogs", row)
            if isinstance(part, dict):
                messages += _dialog(part, row + 1, here, notes)
            else:
                notes.skipped(here, f"expected a dialog (an object), found {describe(part)}")
    elif before is not None:
        what = f"expected a list of dialogs, found {describe(before)}"
        notes.skipped((*place, "previous_dialogs"), what)
    return messages + _dialog(raw, 0, place, notes)


def _dialog(raw: dict[str, object], session: int, place: Place, notes: Notes) -> list[Message]:
    block, inner = raw.get("dialog"), (*place, "dialog")
    if not isinstance(block, list):
        notes.skipped(inner, f"expected a list of turns, found {describe(block)}")
        return []
    when = _when(raw)
    messages = []
    for row, item in enumerate(block):
        own = item if isinstance(item, dict) else {"text": item}
        text = words(own.get("text"), (*inner, row, "text"), notes)
        if text is not None:
            named = own.get("id")
            speaker = named if named in _SPEAKERS else _SPEAKERS[row % 2]
            messages.append(Message(str(speaker), text, raw=when, session=str(session)))
    return messages


def _when(raw: dict[str, object]) -> str:
    back, number, unit = raw.get("time_back"), raw.get("time_num"), raw.get("time_unit")
    if isinstance(back, str):
        return back
    if isinstance(number, int) and isinstance(unit, str):
        return f"{number} {unit}"
    return ""
