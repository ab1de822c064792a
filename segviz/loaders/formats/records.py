"""Records of messages: a list or JSON Lines of objects with a text and a speaker, or Parquet.

Also an object that holds such a list under a usual key. Which key means what is told as in
``segviz.loaders.columns``.
"""

from __future__ import annotations

from segviz.loaders.columns import Placed, guess, read_rows, settle
from segviz.loaders.document import Options
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import rows_of

LABEL = "records (JSON, JSON Lines, Parquet)"

_HOLDERS = ("messages", "turns", "utterances", "dialogue", "dialog", "conversation", "chat", "data")
_LOOKED_AT = 50


def matches(document: object) -> bool:
    """Whether most of the first records have a key for a text and one more with a meaning."""
    rows = [raw for _, raw in _rows(document)[:_LOOKED_AT] if isinstance(raw, dict)]
    known = [(raw, guess(list(raw))) for raw in rows]
    fits = [(raw, keys) for raw, keys in known if "text" in keys and len(keys) > 1]
    spoken = any(isinstance(raw[keys["text"]], str | list) for raw, keys in fits)
    return spoken and len(fits) * 2 >= len(rows)


def read(document: object, name: str, options: Options) -> Reading:
    """One conversation, or one per value of its column. NeedsColumns when no key means a text."""
    rows = _rows(document)
    keys = dict.fromkeys(
        key for _, raw in rows[:_LOOKED_AT] if isinstance(raw, dict) for key in raw
    )
    columns = settle(list(keys), options.columns)
    conversations, notes = read_rows(rows, columns, name, LABEL, options)
    notes.headers = tuple(keys)
    return conversations, notes


def has_rows(document: object) -> bool:
    """Whether there is a list of objects, whatever their keys."""
    return any(isinstance(raw, dict) for _, raw in _rows(document)[:_LOOKED_AT])


def _rows(document: object) -> Placed:
    if isinstance(document, list):
        return rows_of(document)
    if isinstance(document, dict):
        for key in _HOLDERS:
            if isinstance(block := document.get(key), list):
                return [((key, row), raw) for row, raw in enumerate(block)]
    return []


LOADER = Loader(LABEL, matches, read, ("columns", "day_first", "gap_hours"))
