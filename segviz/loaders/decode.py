"""Decodes bytes into a document, with pure functions that raise nothing but LoadError.

``to_text`` finds the encoding. ``to_json`` parses; ``several_documents`` does so for JSON Lines.
``clean`` then repairs what JSON allows but texts cannot hold: control characters and lone
surrogates. pandas is not used for JSON Lines: one broken line makes ``read_json(lines=True)``
reject the file, where here only that line is left out.
"""

from __future__ import annotations

import ast
import codecs
import json
import math
import sys
from collections import Counter
from contextlib import suppress
from typing import Any

from segviz.loaders.budget import Budget
from segviz.loaders.document import JsonLines, Place, PlainText
from segviz.loaders.errors import LoadError, NotJson
from segviz.loaders.file_kinds import reject_binary, reject_text
from segviz.loaders.parquet import MAGIC, read_parquet
from segviz.loaders.report import Notes
from segviz.text.captions import counted, printable, quoted

_ANEW = "download it again or export it anew"
_TRIED = 200
"""Lines without an object or list after which a text is no JSON Lines."""

DEEPEST = 200
"""Most levels of lists and objects in a document."""


class RepeatedKeys(dict[str, object]):
    """JSON object in which keys occur more than once; ``repeated`` counts each of them."""

    repeated: dict[str, int]


def keep_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Makes an object of JSON's keys and values; records keys that occur more than once.

    It is an ``object_pairs_hook``. The last value of a repeated key counts.
    """
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    marked = RepeatedKeys(plain)
    counts = Counter(key for key, _ in pairs)
    marked.repeated = {key: count for key, count in counts.items() if count > 1}
    return marked


def _loads(text: str) -> object:
    # strict=False lets raw control characters through; clean() counts them.
    return json.loads(text, strict=False, object_pairs_hook=keep_repeats)


def read_document(data: bytes, budget: Budget | None = None) -> tuple[object, Notes]:
    """Parses bytes into a document (see ``segviz.loaders.document``), with notes on repairs.

    The ``budget`` limits the parts of the document, and what a Parquet table unpacks to. Text that
    is not JSON becomes ``PlainText``, with the error of the JSON parser. Raises LoadError for an
    empty file, another kind of file, and an empty document (null, [], {}).
    """
    budget = budget or Budget()
    if data.startswith(MAGIC):
        return _mended(read_parquet(data, budget), Notes())
    text, notes = to_text(data)
    text = text.removeprefix("\ufeff")
    try:
        if text.lstrip()[:1] in ("{", "["):
            budget.split(text.count("{") + text.count("["))
        document = to_json(text)
    except NotJson as error:
        budget.split(text.count("\n") + text.count("\r"))
        several = several_documents(PlainText(text, error))
        if several is None:
            text, count = printable(text)
            if count:
                notes.repaired((), replaced(count))
            return PlainText(text, error), notes
        document, more = several
        notes.take(more)
    return _mended(document, notes)


def _mended(document: object, notes: Notes) -> tuple[object, Notes]:
    """Repairs a document and adds the repairs to the notes; raises LoadError if it is empty."""
    document, more = clean(document)
    notes.take(more)
    if document is None or (isinstance(document, list | dict) and not document):
        raise LoadError("No conversation found in the file", remedy="choose another file")
    return document, notes


def to_text(data: bytes) -> tuple[str, Notes]:
    """Decodes bytes by their byte order mark, else as UTF-8, else as Windows-1252.

    UTF-16 and UTF-32 without the mark are recognized by their zero bytes. Reading as Windows-1252
    is noted as a repair. Raises LoadError for an empty file, for known binary formats, and for
    UTF-16 or UTF-32 that does not continue as such.
    """
    if not data:
        raise LoadError("The file is empty", remedy=_ANEW)
    reject_binary(data)
    notes = Notes()
    encoding = json.detect_encoding(data)
    if not encoding.startswith("utf-8"):
        try:
            # Lone surrogates pass here and are counted by clean(), as those of \ud800 escapes.
            return data.decode(encoding, "surrogatepass"), notes
        except UnicodeDecodeError:
            what = f"the file begins as {encoding.upper()} text but does not continue as such"
            raise LoadError(what, remedy=_ANEW) from None
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8"), notes
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    notes.repaired((), f"read as Windows-1252: the bytes are not UTF-8 (first in line {line})")
    return data.decode("cp1252", errors="replace"), notes


def to_json(text: str) -> object:
    """Parses standard JSON, with NaN and Infinity allowed.

    Raises NotJson with line and column for broken or truncated JSON. Raises LoadError for numbers
    of thousands of digits and for nesting beyond Python's limit.
    """
    reject_text(text)
    if not text.strip():
        raise LoadError("No conversation found in the file", remedy="choose another file")
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(text, error) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        # The only other complaint of the parser: Python's limit on digits of an integer.
        what, expected = "a number with thousands of digits", "numbers of at most 4,300 digits"
        raise LoadError(what, "", expected, "put it in quotes") from None


def _syntax_error(text: str, error: json.JSONDecodeError) -> NotJson:
    """Returns the error for text that is no JSON: plain text, cut off, or a place to correct."""
    if text.lstrip()[0] not in "[{":
        what, remedy = "plain text without speakers", 'write each message as a line "Name: words"'
        return NotJson(f"this is {what}", remedy=remedy)
    where = f"line {error.lineno}, column {error.colno}"
    if not text[error.pos :].strip() or error.msg.startswith("Unterminated string"):
        what = "not valid JSON: it looks cut off"
        return NotJson(what, where, "a complete JSON document", _ANEW)
    return NotJson(
        f"not valid JSON: {error.msg[0].lower()}{error.msg[1:]}",
        where,
        "double quotes, no comments and no comma before a closing bracket",
        "correct that place or export the file anew",
    )


# --- several documents in one file -----------------------------------------------------


def several_documents(text: PlainText) -> tuple[JsonLines, Notes] | None:
    """Parses JSON Lines: an object or list in each line.

    Other lines are left out, with a note. Returns None if fewer than half of the lines hold an
    object or list, because the text is then not JSON Lines.
    """
    notes = Notes()
    documents, filled = JsonLines(), 0
    documents.lines = []
    for line, words in text.lines():
        if not words.strip():
            continue
        filled += 1
        if filled > _TRIED and not documents:
            return None
        if words.lstrip()[0] not in "{[":
            notes.skipped((line,), "the line is left out: it holds no object and no list")
            continue
        try:
            documents.append(_loads(words.strip()))
            documents.lines.append(line)
        except json.JSONDecodeError as error:
            notes.skipped((line,), f"the line is left out: not valid JSON in column {error.colno}")
        except (ValueError, RecursionError):
            notes.skipped((line,), "the line is left out: a number or a nesting is too large")
    return (documents, notes) if documents and len(documents) * 2 >= filled else None


def literal(text: str) -> tuple[object, Notes]:
    """Parses a text that holds a list or object, in JSON or in Python's notation.

    Nothing is executed. Returns the value with notes on repairs; for any other text the value is
    None.
    """
    parsers = (json.loads, lambda text: json.loads(json.dumps(ast.literal_eval(text.strip()))))
    for parse in parsers if text.lstrip()[:1] in ("[", "{") else ():
        # Through JSON, Python's tuples become lists, and values that JSON does not know are
        # refused.
        with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return clean(parse(text))
    return None, Notes()


# --- repairs ---------------------------------------------------------------------------


def clean(document: object) -> tuple[object, Notes]:
    """Repairs a JSON document in place, with a note per repair.

    Unprintable characters are replaced and integers that no float can hold become None. Raises
    LoadError if lists and objects nest deeper than ``DEEPEST``.
    """
    notes, misread = Notes(), 0
    # Messenger and Instagram write UTF-8 as Latin-1; elsewhere "Ã©" may be what somebody typed.
    messenger = isinstance(document, dict) and {"participants", "messages"} <= document.keys()

    def walk(node: Any, place: Place) -> None:
        """Repairs the values under ``node`` in place.

        ``place`` begins with the 0 of ``root``, which the places in notes leave out.
        """
        nonlocal misread
        if len(place) > DEEPEST:
            raise _too_deep()
        if isinstance(node, dict):
            _clean_keys(node, place[1:], notes)
        # Replacing an existing value is safe while iterating.
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, dict | list):
                walk(value, (*place, key))
                continue
            if messenger and isinstance(value, str) and (better := _reread(value)) is not None:
                node[key] = value = better
                misread += 1
            if isinstance(value, str | int) and (mended := _mend(value)):
                node[key], what = mended
                notes.repaired((*place, key)[1:], what)

    root = [document]  # so that a bare string is no special case
    walk(root, ())
    if misread:
        what = f"{counted(misread, 'text')} repaired: UTF-8 had been decoded as Latin-1"
        notes.repaired((), what)
    return root[0], notes


def _reread(text: str) -> str | None:
    """Repairs UTF-8 that was decoded as Latin-1 ("Ã©" for "é"); returns None for other text."""
    if not text.isascii():
        with suppress(UnicodeError):
            return text.encode("latin-1").decode("utf-8")
    return None


def _mend(value: str | int) -> tuple[str | None, str] | None:
    """Returns the repaired value and its note; None if the value needs no repair.

    Characters that cannot be shown are replaced; a number too large for a float is read as missing.
    """
    if isinstance(value, str):
        text, count = printable(value)
        return (text, replaced(count)) if count else None
    if -_LARGEST <= value <= _LARGEST:
        return None
    digits = int(value.bit_length() * math.log10(2)) + 1
    return None, f"a number of some {digits:,} digits is read as missing"


_LARGEST = int(sys.float_info.max)


def _too_deep() -> LoadError:
    return LoadError("the JSON is nested too deeply", expected="a conversation file", remedy=_ANEW)


def _clean_keys(node: dict[str, object], place: Place, notes: Notes) -> None:
    """Repairs an object's keys in place; notes repeated keys and those with odd characters."""
    if isinstance(node, RepeatedKeys):
        for key, count in node.repeated.items():
            name, _ = printable(key)
            what = f"the key {quoted(name)} occurs {count} times here; the last one is used"
            notes.repaired((*place, name), what)
    if not any(printable(key)[1] for key in node):
        return
    items = list(node.items())
    node.clear()
    for key, value in items:
        name, count = printable(key)
        if count:
            notes.repaired((*place, name), f"in the key: {replaced(count)}")
        if name in node:
            what = f"the key {quoted(name)} occurs twice here; the last one is used"
            notes.repaired((*place, name), what)
        node[name] = value


def replaced(count: int) -> str:
    """Returns the words of a note that ``count`` unprintable characters were replaced."""
    noun = "control character or lone surrogate"
    return f"{counted(count, noun, 'control characters or lone surrogates')} replaced by U+FFFD"
