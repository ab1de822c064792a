"""Bytes -> text -> JSON. Broken bytes of every kind are tests/malformed_inputs."""

import json
import pickle
from collections.abc import Callable

import pytest

from segviz.loaders import LoadError, parse
from segviz.loaders.decode import clean, read_document
from segviz.loaders.document import PlainText


def failure(data: bytes) -> LoadError:
    """The error of ``data``: raised, or kept by a text for the case that no loader knows it."""
    try:
        document, _ = read_document(data)
    except LoadError as error:
        return error
    assert isinstance(document, PlainText), document
    return document.error


def test_moderate_nesting_is_fine() -> None:
    document, _ = read_document(b"[" * 200 + b'"\\u0000"' + b"]" * 200)
    for _ in range(200):
        assert isinstance(document, list)
        document = document[0]
    assert document == "\ufffd"


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
