"""Phrases for messages about a user's file: short, literal, never the whole content."""

from __future__ import annotations

import math
import re
import unicodedata
from itertools import islice

EXCERPT = 40
"""Most characters of a file's content that a message may show."""

_KEYS = 8
_LINE_BREAKS = re.compile("[\t\r\n\x85\u2028\u2029]")
_JOINERS = "\u200d\ufe0e\ufe0f"
# C0 and C1 controls and DEL, without tab, line feed, carriage return and NEL (U+0085),
# which are white space; and surrogates, which no encoder accepts.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


def printable(text: str) -> tuple[str, int]:
    """Replaces control characters and lone surrogates by U+FFFD; also returns their number."""
    return _UNPRINTABLE.subn("\ufffd", text)


def shorten(text: str, limit: int = EXCERPT, tail: int = 0) -> str:
    """Cuts a text, between whole signs, to ``limit`` characters: beginning, ellipsis, ``tail``."""
    if len(text) <= limit:
        return text
    head = limit - tail - 1
    while head > 1 and _clings(text, head):
        head -= 1
    stop = len(text) - tail
    while stop < len(text) and _clings(text, stop):
        stop += 1
    return f"{text[:head]}…{text[stop:]}"


def clipped(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters of a text and an ellipsis, cut between words."""
    if len(text) <= limit:
        return text
    kept = text[:limit]
    words = [kept] if text[limit].isspace() else kept.rsplit(maxsplit=1)
    return f"{(words[0] if len(words) > 1 else kept).rstrip()} …"


def _clings(text: str, position: int) -> bool:
    """Returns True if the character at ``position`` belongs to the one before it."""
    return (
        unicodedata.combining(text[position]) != 0
        or text[position] in _JOINERS
        or text[position - 1] == "\u200d"
    )


def one_line(text: str) -> str:
    """Returns the text with a space for every tab and line break."""
    return _LINE_BREAKS.sub(" ", text)


def quoted(text: str) -> str:
    """Returns an excerpt of a text in quotes, with line breaks and bidi controls as escapes."""
    return repr(shorten(text))


def counted(number: int, noun: str, plural: str = "") -> str:
    """Returns number and noun: ``1 turn``, ``2 turns``; with ``plural``, ``1,234 entries``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Returns seconds in words: ``3.2 ms``, ``1 second``, ``40 seconds`` or ``3 minutes``."""
    if seconds < 0.95:
        return f"{1000 * seconds:.1f} ms"
    if seconds < 90:
        return counted(round(seconds), "second")
    return f"{seconds / 60:,.0f} minutes"


def size(number: int) -> str:
    """Formats a number of bytes as ``12.3 MB``, in units of 1024."""
    if number < 1024:
        return f"{number} bytes"
    for unit, power in (("kB", 1), ("MB", 2)):
        if number < 1024 ** (power + 1):
            return f"{number / 1024**power:.1f} {unit}".replace(".0 ", " ")
    return f"{number / 1024**3:.2f} GB"


def listed(names: list[str]) -> str:
    """Joins one or two names, or the first and last of more names: ``a, b`` or ``a … z``."""
    return ", ".join(names) if len(names) < 3 else f"{names[0]} … {names[-1]}"


def describe(value: object) -> str:
    """Describes one level of a JSON value: ``a list of 12 objects with keys a, b``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "a text" if value.strip() else "an empty text"
    if isinstance(value, int | float):
        return "a number" if math.isfinite(value) else "a number that is not finite"
    if isinstance(value, dict):
        return f"an object with {_keys(value)}"
    if isinstance(value, list):
        return _list(value)
    return type(value).__name__


def _list(value: list[object]) -> str:
    """Describes a list by the number and the common kind of its items."""
    if not value:
        return "an empty list"
    kinds = ((dict, "object"), (str, "text"), (list, "list"), (object, "item"))
    noun = next(noun for kind, noun in kinds if all(isinstance(item, kind) for item in value))
    keys = f" with {_keys(value[0])}" if isinstance(value[0], dict) and noun == "object" else ""
    return f"a list of {counted(len(value), noun)}{keys}"


def _keys(value: dict[str, object]) -> str:
    if not value:
        return "no keys"
    names = [one_line(shorten(key)) for key in islice(value, _KEYS)]
    more = ", …" if len(value) > _KEYS else ""
    return f"{'key' if len(value) == 1 else 'keys'} {', '.join(names)}{more}"
