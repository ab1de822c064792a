"""Bytes -> text -> document: pure functions that raise nothing but LoadError.

Three steps, in this order: ``to_text`` finds the encoding, ``to_json`` parses (or
``several_documents``, for JSON Lines), and ``clean`` mends what JSON allows but text cannot
hold: control characters, lone surrogates, repeated keys. Parquet files are read by
``segviz.loaders.parquet``. JSON Lines are ours and not pandas' because one broken line makes
``read_json(lines=True)`` give up the whole file; here it is left out, by its number.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from segviz.loaders.budget import DEEPEST, Budget
from segviz.loaders.captions import counted, quoted
from segviz.loaders.document import JsonLines, Place, PlainText
from segviz.loaders.errors import LoadError, NotJson
from segviz.loaders.file_kinds import reject_binary, reject_text, text_kind
from segviz.loaders.parquet import MAGIC, read_parquet
from segviz.loaders.report import Notes

_STRING_OR_LONG_NUMBER = re.compile(r'"(?:[^"\\]++|\\.)*+"|[0-9]{4301,}', re.DOTALL)
_CUT_NUMBER = re.compile(r"\.|[eE][+-]?")
_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_ANEW = "download it again or export it anew"
# C0 and C1 controls and DEL, without tab, line feed, carriage return and NEL (U+0085),
# which are white space; and surrogates, which no encoder accepts.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_WORDS = re.compile(r"\S")


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


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=keep_repeats)


def read_document(data: bytes, budget: Budget | None = None) -> tuple[object, Notes]:
    """The document in ``data`` (see ``segviz.loaders.document``) and what had to be mended.

    A packed table (Parquet) is unpacked within the ``budget``.
    A text that is no JSON comes back as ``PlainText``, which keeps the error for the case
    that no loader knows it. Raises LoadError for an empty file, another kind of file, and
    a document that holds nothing (null, [], {}).
    """
    if data.startswith(MAGIC):
        return _mended(read_parquet(data, budget or Budget(len(data))), Notes())
    text, notes = to_text(data)
    text = text.removeprefix("\ufeff")
    try:
        document = to_json(text)
    except NotJson as error:
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
    document, more = clean(document)
    notes.take(more)
    if document is None or (isinstance(document, list | dict) and not document):
        raise LoadError("No conversation found in the file", remedy="choose another file")
    return document, notes


def to_text(data: bytes) -> tuple[str, Notes]:
    """Decode by BOM (UTF-8, -16, -32), else strict UTF-8, else Windows-1252.

    UTF-16 and UTF-32 without BOM are told by their zero bytes. Leaving UTF-8 is noted as
    a repair. Raises LoadError for an empty file and for known kinds of binary file.
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
            what = f"the file begins as {encoding.upper()} text but does not go on as such"
            raise LoadError(what, remedy=_ANEW) from None
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8"), notes
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    try:
        text = data.decode("cp1252")
        notes.repaired((), f"read as Windows-1252: the bytes are not UTF-8 (first in line {line})")
    except UnicodeDecodeError:
        # Five byte values mean nothing in Windows-1252 either; the rest may well be UTF-8.
        text = data.decode("utf-8", errors="replace")
        notes.repaired((), f"bytes that are no UTF-8 replaced by U+FFFD (first in line {line})")
    return text, notes


def to_json(text: str) -> object:
    """Parse standard JSON, with NaN and Infinity allowed and repeated keys kept in mind.

    Raises NotJson with line and column for broken or cut off JSON and several documents in
    one file, and LoadError for numbers of thousands of digits and for nesting beyond
    Python's limit.
    """
    text = text.removeprefix("\ufeff")
    reject_text(text)
    if not text.strip():
        raise LoadError("No conversation found in the file", remedy="choose another file")
    try:
        # strict=False lets raw control characters through; clean() counts them.
        document: object = json.loads(text, strict=False, object_pairs_hook=keep_repeats)
    except json.JSONDecodeError as error:
        raise _syntax_error(text, error) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        # The only other complaint of the parser: Python's limit on digits of an integer.
        raise _number_error(text) from None
    return document


def _syntax_error(text: str, error: json.JSONDecodeError) -> NotJson:
    where = f"line {error.lineno}, column {error.colno}"
    if (reason := _cut_off(text, error)) is not None:
        return NotJson(
            f"not valid JSON: it looks cut off ({reason})",
            where,
            "a complete JSON document",
            _ANEW,
        )
    start = text.lstrip()[:1]
    hint = _hint(text, error.pos)
    if start == "#" or (start not in ("[", "{") and not hint):
        kind, remedy = text_kind(text)
        return NotJson(f"this is {kind}", remedy=remedy)
    if error.msg == "Extra data" and text[error.pos] in "[{":
        what = "several JSON documents in one file (JSON Lines)"
        return NotJson(what, where, remedy="put them into one list: [ …, … ]")
    if error.msg == "Extra data":
        hint = hint or "text follows after the end of the document"
    if hint == _TRAILING:  # Pythons since 3.13 point at the comma, others at the bracket behind it
        error = json.JSONDecodeError(error.msg, text, text.rindex(",", 0, error.pos + 1))
        where = f"line {error.lineno}, column {error.colno}"
    hint = hint or error.msg[0].lower() + error.msg[1:]
    return NotJson(
        f"not standard JSON: {hint}",
        where,
        "double quotes, no comments and no comma before a closing bracket",
        "correct that place or export the file anew",
    )


_TRAILING = "a trailing comma"


def _hint(text: str, position: int) -> str:
    """What people usually wrote who get a syntax error at ``position``; "" if unknown."""
    rest = text[position : position + 2]
    if rest[:1] == "'":
        return "single quotes instead of double quotes"
    if rest in ("//", "/*") or rest[:1] == "#":
        return "a comment"
    after = text[position : position + 200].removeprefix(",").lstrip()
    before = text[max(0, position - 200) : position].rstrip()
    if after[:1] in ("]", "}") and (rest[:1] == "," or before.endswith(",")):
        return _TRAILING
    return ""


def _cut_off(text: str, error: json.JSONDecodeError) -> str | None:
    """How the text ends too early, or None when the error lies elsewhere."""
    rest = text[error.pos :].rstrip(" \t\r\n")
    if error.msg.startswith("Unterminated string"):
        return "the text ends inside a string"
    if error.msg.startswith("Invalid \\") and '"' not in rest and len(rest) < 12:
        return "the text ends inside a string"
    if not rest:
        return "the text ends before the last bracket is closed"
    if error.msg == "Extra data":
        return None
    cut_number = text[: error.pos][-1:].isdigit() and _CUT_NUMBER.fullmatch(rest)
    if cut_number or any(word.startswith(rest) for word in _LITERALS):
        return "the text ends inside a value"
    return None


def _number_error(text: str) -> LoadError:
    where, size = "", "thousands of digits"
    for match in _STRING_OR_LONG_NUMBER.finditer(text):
        if not match[0].startswith('"'):
            line = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start())
            where, size = f"line {line}, column {column}", counted(len(match[0]), "digit")
            break
    return LoadError(
        f"a number with {size}", where, "numbers of at most 4,300 digits", "put it in quotes"
    )


# --- several documents in one file -----------------------------------------------------


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
    while match := _WORDS.search(text, position):
        start = match.start()
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


# --- what JSON allows but text cannot hold ---------------------------------------------


def printable(text: str) -> tuple[str, int]:
    """The text with every unprintable character as U+FFFD, and how many there were."""
    return _UNPRINTABLE.subn("\ufffd", text)


def clean(document: object) -> tuple[object, Notes]:
    """Make every string of the document printable and every number finite or missing, in place;
    one note per mended value. LoadError where it is nested beyond ``DEEPEST``.

    Walks in the order of the file, and holds the way from the root alone: of lists of many small
    ones, as large as the document itself, no second copy is made.
    """
    notes = Notes()
    # The root is wrapped so that a document that is a bare string needs no case of its own.
    root: dict[str, object] = {"": document}
    way: list[tuple[_Container, Iterator[tuple[Any, object]]]] = [(root, _items(root))]
    steps: list[str | int] = []  # where each container of the way stands
    while way:
        node, items = way[-1]
        for key, value in items:
            if isinstance(value, dict | list):
                if not value:
                    continue
                steps.append(key)
                if len(way) > DEEPEST:
                    raise _too_deep()
                if isinstance(value, dict):
                    _clean_keys(value, tuple(steps[1:]), notes)
                way.append((value, _items(value)))
                break
            if isinstance(value, str | int) and (mended := _mend(value)):
                node[key], what = mended
                notes.repaired((*steps, key)[1:], what)
        else:
            way.pop()
            del steps[-1:]
    return root[""], notes


def _mend(value: str | int) -> tuple[str | None, str] | None:
    """What stands for the value and what to say of it; None where it is well."""
    if isinstance(value, str):
        text, count = printable(value)
        return (text, replaced(count)) if count else None
    if -_LARGEST <= value <= _LARGEST:
        return None
    digits = int(value.bit_length() * math.log10(2)) + 1
    return None, f"a number of some {digits:,} digits is read as missing"


_Container = Any
_LARGEST = int(sys.float_info.max)


def _items(node: _Container) -> Iterator[tuple[Any, object]]:
    """Keys or positions with their values. Replacing a value that is there is safe meanwhile."""
    return iter(node.items()) if isinstance(node, dict) else enumerate(node)


def _too_deep() -> LoadError:
    return LoadError("the JSON is nested too deeply", expected="a conversation file", remedy=_ANEW)


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
