"""Bytes -> text -> JSON: every message with its place, every mend with its count."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable

import pytest

from segviz.loaders import LoadError, parse
from segviz.loaders.decode import clean, read_document
from segviz.loaders.document import JsonLines, Line, PlainText
from segviz.loaders.report import Note

CHAT = {"speaker": "Zoë", "text": "a “quote” …"}


def failure(data: bytes) -> LoadError:
    """The error of ``data``: raised, or kept by a text for the case that no loader knows it."""
    try:
        document, _ = read_document(data)
    except LoadError as error:
        return error
    assert isinstance(document, PlainText), document
    return document.error


# --- encodings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"],
)
def test_unicode_encodings_load_without_a_note(encoding: str) -> None:
    data = json.dumps(CHAT, ensure_ascii=False).encode(encoding)
    assert read_document(data) == (CHAT, [])


def test_damaged_utf_16_names_the_encoding() -> None:
    error = failure(b"\xff\xfe{\x00}")
    assert error.what == "the file begins as UTF-16 text but does not continue as such"


# --- broken JSON ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where", "cut"),
    [
        ('{\n "a": "some te', "line 2, column 7", True),
        ('[{"a": 1}, ', "line 1, column 12", True),
        ('{"a": 1, }', "line 1, column", False),
        ("{'a': 1}", "line 1, column 2", False),
        ("[1, // one\n 2]", "line 1, column 5", False),
        ('{"a": 1} tail', "line 1, column 10", False),
        ('{"a": "\\q"}', "line 1, column 8", False),
    ],
)
def test_broken_json_is_refused_with_its_place(text: str, where: str, cut: bool) -> None:
    error = failure(text.encode())
    assert error.where.startswith(where)
    assert error.what.startswith("not valid JSON")
    assert ("cut off" in error.what) is cut


@pytest.mark.parametrize("depth", [5_000, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting(depth: int, opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    error = failure((opening * depth + "1" + closing * depth).encode())
    assert error.what == "the JSON is nested too deeply"


def test_moderate_nesting_is_fine() -> None:
    document, _ = read_document(b"[" * 200 + b'"\\u0000"' + b"]" * 200)
    for _ in range(200):
        assert isinstance(document, list)
        document = document[0]
    assert document == "\ufffd"


# --- several documents in one file ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"), [('{"a": 1}\n{"a": 2}\n', [1, 2]), ('\r\n{"a": 1}\r\n\r\n{"a": 2}', [2, 4])]
)
def test_json_lines(text: str, lines: list[int]) -> None:
    document, notes = read_document(text.encode())
    assert isinstance(document, JsonLines)
    assert (document, document.lines, notes) == ([{"a": 1}, {"a": 2}], lines, [])


def test_broken_lines_are_left_out_while_half_are_sound() -> None:
    document, notes = read_document(b'{"a": 1}\n{"a": \n[]\n12\n{"a": 2}\n')
    assert document == [{"a": 1}, [], {"a": 2}]
    assert notes == [
        Note("skipped", (Line(2),), "the line is left out: not valid JSON in column 6"),
        Note("skipped", (Line(4),), "the line is left out: it holds no object and no list"),
    ]
    assert failure(b'{"a": 1}\nx\ny\n').where == "line 2, column 1"


# --- what JSON allows but text does not ----------------------------------------------


def test_control_characters_and_surrogates_are_replaced_and_counted() -> None:
    data = (
        b'{"a": ["x\\u0000y\x01z\\t\\n", "\\ud800", "\\ud83d\\ude00", "a\\u0085b"], "k\\u0007": 1}'
    )
    document, notes = read_document(data)
    assert document == {"a": ["x\ufffdy\ufffdz\t\n", "\ufffd", "😀", "a\x85b"], "k\ufffd": 1}
    one = "1 control character or lone surrogate replaced by U+FFFD"
    assert sorted(notes, key=lambda note: str(note.place)) == [
        Note("repaired", ("a", 0), "2 control characters or lone surrogates replaced by U+FFFD"),
        Note("repaired", ("a", 1), one),
        Note("repaired", ("k\ufffd",), f"in the key: {one}"),
    ]


def test_a_lone_surrogate_in_utf_16() -> None:
    document, notes = read_document('["\ud800"]'.encode("utf-16", "surrogatepass"))
    assert document == ["\ufffd"]
    assert len(notes) == 1


def test_repeated_keys_last_wins_and_is_named() -> None:
    document, notes = read_document(b'[{"a": 1, "b": 2, "a": 3, "a": 4, "b": 5, "c": 6}]')
    assert document == [{"a": 4, "b": 5, "c": 6}]
    assert notes == [
        Note(
            "repaired", (0, key), f"the key '{key}' occurs {times} times here; the last one is used"
        )
        for key, times in (("a", 3), ("b", 2))
    ]


def test_keys_that_become_equal_by_cleaning() -> None:
    document, notes = read_document(b'{"a\\u0001": 1, "a\\u0002": 2}')
    assert document == {"a\ufffd": 2}
    assert "the key 'a\ufffd' occurs twice here; the last one is used" in [n.what for n in notes]


# --- other kinds of file -------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7\n...", "PDF"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "PNG"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "JPEG"),
        (b"PK\x03\x04....conversations.json", "zip"),
        (b"\x1f\x8b\x08\x00\x00", "gzip"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"\n<!DOCTYPE html><p>Sign in", "HTML page"),
        (b"<div>", "markup"),
        ("<html>".encode("utf-16"), "HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
        (b"Hello there.\n", "plain text"),
        (b"# Title\n\nwords", "plain text"),
    ],
)
def test_wrong_kinds_of_file_are_named(data: bytes, kind: str) -> None:
    error = failure(data)
    assert kind in error.what
    assert error.remedy != ""


# --- the error itself ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: LoadError("broken"), "broken."),
        (lambda: LoadError("broken", "line 2"), "line 2: broken."),
        (lambda: LoadError("broken", expected="JSON"), "broken. Expected JSON."),
        (lambda: LoadError("broken", remedy="mend it"), "broken. Mend it."),
        (
            lambda: LoadError("broken", "line 2", "JSON", "mend it").in_file("f.json", "x"),
            "f.json, line 2: broken. Expected JSON; mend it.",
        ),
        (lambda: LoadError("broken").in_file("f.json", "x"), "f.json: broken. Expected x."),
    ],
)
def test_load_error_reads_as_sentences(make: Callable[[], LoadError], text: str) -> None:
    error = make()
    assert str(error) == text
    assert str(pickle.loads(pickle.dumps(error))) == text


@pytest.mark.parametrize("digits", [310, 1_000, 4_300])
def test_numbers_beyond_all_floats_are_missing(digits: int) -> None:
    """Of any format, at any place: math.isfinite and float() refuse them."""
    document, notes = read_document(b'{"a": [-1%s, 12]}' % (b"0" * (digits - 1)))
    assert document == {"a": [None, 12]}
    assert [note.what for note in notes] == [
        f"a number of some {digits:,} digits is read as missing"
    ]
    assert notes[0].place == ("a", 0)


def test_notes_are_counted_and_the_first_hundred_kept() -> None:
    rows = json.dumps([{"speaker": "A", "text": f"a\x00{i}"} for i in range(5_000)])
    report = parse(rows.encode(), "x.json").report
    assert (report.count("repaired"), len(report.findings)) == (5_000, 100)
    assert [f.where for f in report.findings] == [f"[{i}].text" for i in range(100)]
    assert "5000 repaired" in str(report)


def test_only_exports_of_messenger_are_read_as_latin1():
    said = {"speaker": "Ann", "text": "\u00c3\u00a9"}
    assert clean({"dialogue": [said]})[0] == {"dialogue": [{**said, "text": "\u00c3\u00a9"}]}
    export = {"participants": [], "messages": [{"content": "\u00c3\u00a9"}]}
    assert clean(export)[0] == {"participants": [], "messages": [{"content": "\u00e9"}]}
