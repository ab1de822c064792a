"""Mend what JSON allows but text cannot hold: control characters, lone surrogates,
repeated keys. Works on the parsed document, with a stack instead of recursion."""

from __future__ import annotations

import re
from collections import Counter

from segviz.loaders.captions import counted, quoted
from segviz.loaders.notes import Notes, Place

# C0 and C1 controls and DEL, without tab, line feed, carriage return and NEL (U+0085),
# which are white space; and surrogates, which no encoder accepts.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


class RepeatedKeys(dict[str, object]):
    """An object in which keys stood more than once (``repeated``: key -> how often)."""

    repeated: dict[str, int]


def keep_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """``object_pairs_hook``: the last of equal keys wins, and the repetition is remembered."""
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    marked = RepeatedKeys(plain)
    counts = Counter(key for key, _ in pairs)
    marked.repeated = {key: count for key, count in counts.items() if count > 1}
    return marked


def printable(text: str) -> tuple[str, int]:
    """The text with every unprintable character as U+FFFD, and how many there were."""
    return _UNPRINTABLE.subn("\ufffd", text)


def clean(document: object) -> tuple[object, Notes]:
    """Make every string of the document printable, in place; one note per mended string."""
    notes = Notes()
    root: dict[str, object] = {"": document}
    # The root is wrapped so that a document that is a bare string needs no case of its own.
    stack: list[tuple[dict[str, object] | list[object], Place]] = [(root, ())]

    def visit(value: object, place: Place) -> object:
        if isinstance(value, str):
            value, count = printable(value)
            if count:
                notes.repaired(place, replaced(count))
        elif isinstance(value, dict | list):
            stack.append((value, place))
        return value

    while stack:
        node, place = stack.pop()
        if isinstance(node, dict):
            _clean_keys(node, place, notes)
            for key, value in node.items():
                # Replacing the value of a key that is there is safe while iterating.
                node[key] = visit(value, () if node is root else (*place, key))
        else:
            node[:] = [visit(value, (*place, row)) for row, value in enumerate(node)]
    return root[""], notes


def _clean_keys(node: dict[str, object], place: Place, notes: Notes) -> None:
    if isinstance(node, RepeatedKeys):
        for key, count in node.repeated.items():
            name, _ = printable(key)
            what = f"the key {quoted(name)} stands here {count} times; the last one is used"
            notes.repaired((*place, name), what)
    if not any(_UNPRINTABLE.search(key) for key in node):
        return
    items = list(node.items())
    node.clear()
    for key, value in items:
        name, count = printable(key)
        if count:
            notes.repaired((*place, name), f"in the key: {replaced(count)}")
        if name in node:
            what = f"the key {quoted(name)} stands here twice; the last one is used"
            notes.repaired((*place, name), what)
        node[name] = value


def replaced(count: int) -> str:
    """What a note says of that many unprintable characters."""
    noun = "control character or lone surrogate"
    return f"{counted(count, noun, 'control characters or lone surrogates')} replaced by U+FFFD"
