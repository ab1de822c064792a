"""Archives and folders: which files are read, and what is said of the others."""

import gzip
import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from segviz.loaders import Budget, LoadError, load, parse
from tests.loaders.test_formats import PATHS
from tests.malformed_inputs.archives import zipped

BARE = json.dumps({"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "hi"}]})
PHONE = "28.12.23, 20:02 - Ann: hi\n28.12.23, 20:03 - Bob: ho\n"
CLAUDE = json.dumps([{"name": "t", "chat_messages": [{"sender": "human", "text": "x"}]}])
PEOPLE = json.dumps([{"uuid": "u", "full_name": "Ann", "email_address": "ann@example.org"}])

Files = dict[str, str | bytes]


def folder(files: Files, root: Path) -> Path:
    """A folder of these files."""
    for name, data in files.items():
        path = root / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return root / "folder"


FOLDERS = [path for path in PATHS if path.is_dir() and path.name.startswith("folder_")]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_an_archive_is_read_as_its_folder(folder: Path) -> None:
    """Which of its files are read the snapshots of the cases say."""
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    whole, archived = load(folder), parse(zipped(files), f"{folder.name}.zip")
    assert archived.ids == whole.ids
    assert list(archived) == list(whole)
    assert archived.report.findings == whole.report.findings


def test_people_of_an_export_are_not_opened(tmp_path: Path) -> None:
    files: Files = {"conversations.json": CLAUDE, "users.json": "{ broken"}
    corpus = parse(zipped(files), "data.zip")
    assert [f.what for f in corpus.report.findings] == ["1 other file not read"]


def test_findings_name_the_file_inside() -> None:
    broken = json.dumps({"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": 5}]})
    corpus = parse(zipped({"a.json": BARE, "b.json": broken}), "x.zip")
    assert corpus.ids == ("a", "b")
    assert [f.where for f in corpus.report.findings][-2:] == [
        "b.json, session_1_date_time",
        "b.json, session_1[0].text",
    ]


def test_equal_names_in_several_files_stay_apart() -> None:
    corpus = parse(zipped({"x/1.json": BARE, "y/1.json": BARE}), "x.zip")
    assert corpus.ids == ("1", "1#2")


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({}, "there are no files in it"),
        (
            {"a.png": b"\x89PNG\r\n\x1a\n"},
            "none of the 1 file in it holds a conversation in a known format",
        ),
        (
            {"a.txt": "words", "b.json": '{"x": 1}'},
            "none of the 2 files in it holds a conversation in a known format",
        ),
        ({"a.json": "[{"}, "not valid JSON: it looks cut off"),
        (
            {"a.zip": zipped({"b.json": BARE})},
            "none of the 1 file in it holds a conversation in a known format",
        ),
        ({".hidden/a.json": BARE}, "there are no files in it"),
    ],
)
def test_nothing_in_the_archive(files: Files, what: str) -> None:
    with pytest.raises(LoadError) as caught:
        parse(zipped(files), "x.zip")
    assert caught.value.what == what
    assert str(caught.value).startswith("x.zip")


WHOLE = zipped({"a.json": BARE * 50})
ZEROS = WHOLE[:45] + bytes(15) + WHOLE[60:]


@pytest.mark.parametrize("data", [WHOLE[:-3], WHOLE[:-40], WHOLE[:-90], ZEROS])
def test_damaged_archives_and_members_are_refused(data: bytes) -> None:
    with pytest.raises(LoadError, match="damaged"):
        parse(data, "x.zip")


def test_gzip_of_any_text_and_several_streams() -> None:
    halves = gzip.compress(PHONE[:30].encode()) + gzip.compress(PHONE[30:].encode())
    corpus = parse(halves, "_chat.txt.gz")
    assert (corpus.ids, corpus.report.kept) == (("_chat",), 2)


def test_tar_is_named() -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        info = tarfile.TarInfo("a.json")
        info.size = len(BARE)
        archive.addfile(info, io.BytesIO(BARE.encode()))
    for data in (target.getvalue(), gzip.compress(target.getvalue())):
        with pytest.raises(LoadError) as caught:
            parse(data, "x.tar.gz")
        assert caught.value.what == "this is a tar archive"


def test_limits_hold_for_all_files_together(tmp_path: Path) -> None:
    files: Files = {f"{i}.json": BARE for i in range(10)}
    enough, short = 10 * len(BARE), 10 * len(BARE) - 1
    assert len(load(folder(files, tmp_path), limit=enough)) == 10
    with pytest.raises(LoadError, match="that are read at once"):
        load(folder(files, tmp_path), limit=short)
    (tmp_path / "x.zip").write_bytes(zipped(files))
    assert len(load(tmp_path / "x.zip", limit=enough)) == 10
    with pytest.raises(LoadError, match="that are read at once"):
        load(tmp_path / "x.zip", limit=short)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
def test_links_in_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(BARE)
    root = folder({"b.txt": "words"}, tmp_path)
    (root / "link.json").symlink_to(tmp_path / "secret.json")
    (root / "more").symlink_to(tmp_path)
    with pytest.raises(LoadError, match="none of the 1 file"):
        load(root)


def test_a_member_without_a_name_is_passed_over() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("x", "[]")
        archive.writestr("chat.json", json.dumps([{"speaker": "Ann", "text": "hello"}]))
    data = target.getvalue().replace(b"x[]", b"\0[]")
    name = data.index(b"PK\x01\x02") + 46  # a time or a sum before it may hold an x too
    data = data[:name] + b"\0" + data[name + 1 :]
    assert zipfile.ZipFile(io.BytesIO(data)).namelist()[0] == ""
    assert parse(data, "a.zip").report.kept == 1


@pytest.mark.parametrize(
    "data",
    [
        b"name,text\n" + b"a,b\n" * 100,
        b"Ann: a\nBob: b\n" * 60,
        json.dumps([{"role": "user", "content": "a"}] * 101).encode(),
        b'{"role":"user","content":"a"}\n' * 101,
        b"[" + b"[]," * 101,
    ],
    ids=["table", "text", "list", "lines", "broken"],
)
def test_a_file_of_too_many_parts_is_refused_before_it_is_read(data: bytes) -> None:
    with pytest.raises(LoadError, match="more than the 100 lines or objects"):
        parse(data, "x", limit=Budget(parts=100))


def test_members_beyond_the_parts_of_an_archive_are_left_out() -> None:
    files: Files = {f"{row}.json": '[{"role":"user","content":"a"}]' for row in range(60)}
    corpus = parse(zipped(files), "x", limit=Budget(parts=100))
    assert len(corpus) == 50
    assert len(corpus.report.skipped) == 10
    assert "more than the 100 lines or objects" in corpus.report.skipped[0].what


def test_parts_within_the_limit_are_read() -> None:
    turns = parse(b"Ann: a\nBob: b\n" * 40, "x", limit=Budget(parts=100))[0].turns
    assert len(turns) == 80
