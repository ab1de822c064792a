"""Messages as the OpenAI API takes them: lists of ``{role, content}``.

A file is one such list, an object with ``messages``, a list of these, or JSON Lines of
either (as for fine-tuning). There are no times, only an order. Left out and counted:
messages of systems, developers and tools, and calls of tools without words.
"""

from __future__ import annotations

from typing import TypeGuard

from segviz.loaders.captions import describe
from segviz.loaders.chat import spoken
from segviz.loaders.document import Options, Place
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import named_after, numbered, read_chats, rows_of
from segviz.loaders.report import Notes

LABEL = "OpenAI messages"

_EXPECTED = "messages such as {role, content}"


def matches(document: object) -> bool:
    """Whether the document is, or holds, a list of ``{role, content}``."""
    if _is_chat(document):
        return True
    return any(_is_chat(item) or _is_chat(_inside(item)) for _, item in rows_of(document))


def read(document: object, name: str, options: Options) -> Reading:
    """One conversation per list of messages. Raises LoadError when none has words."""
    notes = Notes()
    found = _chats(document, notes)
    chats = [
        (
            named_after((title,), numbered(name, row, len(found))),
            spoken(messages, place, notes),
            place,
        )
        for row, (place, title, messages) in enumerate(found)
    ]
    return read_chats(chats, LABEL, options, notes, _EXPECTED, ("user", "assistant")), notes


def _is_chat(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list) and any(
        isinstance(item, dict) and isinstance(item.get("role"), str) and "content" in item
        for item in value
    )


def _inside(item: object) -> object:
    return item.get("messages") if isinstance(item, dict) else None


def _chats(document: object, notes: Notes) -> list[tuple[Place, object, list[object]]]:
    """Every list of messages with its place and, where there is one, its title."""
    if _is_chat(document):
        return [((), None, document)]
    chats: list[tuple[Place, object, list[object]]] = []
    for place, item in rows_of(document):
        block = _inside(item)
        if isinstance(item, list):
            chats.append((place, None, item))
        elif isinstance(item, dict) and isinstance(block, list):
            title = item.get("title") or item.get("id")
            chats.append(((*place, "messages"), title, block))
        else:
            notes.skipped(place, f"expected a list of messages, found {describe(item)}")
    return chats


LOADER = Loader(LABEL, matches, read)
