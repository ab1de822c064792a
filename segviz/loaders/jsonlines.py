"""JSON Lines, and JSON documents written one behind the other."""

from __future__ import annotations

import json
import re

from segviz.loaders.clean import keep_repeats
from segviz.loaders.document import JsonLines, PlainText
from segviz.loaders.notes import Notes

_SPACE = re.compile(r"\s*+")
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=keep_repeats)


def several_documents(text: PlainText) -> tuple[JsonLines, Notes] | None:
    """The objects and lists in the text, one per line or one after the other.

    A line that holds neither is skipped and noted. None when fewer than half of the lines
    do, and the documents do not follow each other either: then this is something else.
    """
    notes = Notes()
    found, filled = JsonLines(), 0
    found.lines = []
    for line, words in text.lines():
        if not words.strip():
            continue
        filled += 1
        if words.lstrip()[0] not in "{[":
            notes.skipped((line,), "the line is left out: it holds no object and no list")
            continue
        try:
            value = _DECODER.decode(words.strip())
        except (ValueError, RecursionError) as error:
            notes.skipped((line,), f"the line is left out: {_reason(error)}")
            continue
        found.append(value)
        found.lines.append(line)
    if found and len(found) * 2 >= filled:
        return found, notes
    return _consecutive(text.text)


def _reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON in column {error.colno}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "a number with thousands of digits"


def _consecutive(text: str) -> tuple[JsonLines, Notes] | None:
    """Documents written over several lines each; None unless all of the text is such."""
    found = JsonLines()
    found.lines = []
    position, line = 0, 1
    while (start := _end_of_space(text, position)) < len(text):
        line += text.count("\n", position, start)
        try:
            value, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict | list):
            return None
        found.append(value)
        found.lines.append(line)
        line += text.count("\n", start, position)
    return (found, Notes()) if len(found) > 1 else None


def _end_of_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
