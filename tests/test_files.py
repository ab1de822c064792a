"""The doors to the disk: what is opened, how a file is written, and what a kill leaves."""

import os
import re
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import segviz
from segviz import files, store
from segviz.loaders import LoadError, load

pytestmark = pytest.mark.skipif(os.name == "nt", reason="devices and pipes of Unix")


@pytest.fixture(params=["pipe", "link to a pipe", "socket", "/dev/zero"])
def odd(request, tmp_path):
    """A path that is there and is no regular file."""
    path = tmp_path / "odd"
    match request.param:
        case "pipe":
            os.mkfifo(path)
        case "link to a pipe":
            os.mkfifo(tmp_path / "pipe")
            path.symlink_to(tmp_path / "pipe")
        case "socket":
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(str(path))
        case device:
            path.symlink_to(device)
    return path


def test_what_is_no_regular_file_is_neither_read_nor_replaced(odd):
    before = os.stat(odd), os.lstat(odd)
    for use in (files.opened, files.read, lambda path: files.write(path, b"new")):
        with pytest.raises(OSError, match="not an ordinary file"):
            use(odd)
    with pytest.raises(LoadError, match="not an ordinary file"):
        load(odd)
    with pytest.raises(store.StoreError, match="not an ordinary file"):
        segviz.open(odd)
    assert not store.recognises(odd)
    kinds = [stat.S_IFMT(facts.st_mode) for facts in (os.stat(odd), os.lstat(odd))]
    assert kinds == [stat.S_IFMT(facts.st_mode) for facts in before]


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(files, "check_regular", lambda path: None)
    with pytest.raises(OSError, match="not an ordinary file"):
        files.opened(tmp_path / "pipe")


def test_a_new_file_has_the_permissions_of_the_umask_and_an_old_one_its_own(tmp_path):
    old = os.umask(0o027)
    try:
        files.write(tmp_path / "new", "text")
        (tmp_path / "old").touch(0o600)
        files.write(tmp_path / "old", b"text")
    finally:
        os.umask(old)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "old")]
    assert modes == [0o640, 0o600]


def test_a_link_stays_and_its_target_is_written(tmp_path):
    folder = tmp_path / "far"
    folder.mkdir()
    for name in ("there", "not there yet"):
        link = tmp_path / f"link to {name}"
        link.symlink_to(folder / name)
        if name == "there":
            (folder / name).write_text("old")
        files.write(link, "new")
        assert link.is_symlink()
        assert (folder / name).read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["far", "link to not there yet", "link to there"]


def test_a_command_keeps_the_old_file_where_the_disk_is_full(tmp_path):
    """By a limit on the size of files, which the kernel enforces as it does a full disk."""
    target = tmp_path / "result"
    target.write_text("old")
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from segviz.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, "convert", "sample:recurrence", "-o", str(target)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=120,
    )
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr == f"segviz: {target}: File too large\n"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"result": "old"}


def test_several_writers_leave_one_whole_file(tmp_path):
    target = tmp_path / "result"
    script = (
        "import sys\nfrom segviz import files\n"
        "for i in range(60): files.write(sys.argv[1], sys.argv[2] * 100_000)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, target, c]) for c in "abc"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if target.exists():
            content = target.read_text()
            assert (len(content), len(set(content))) == (100_000, 1)
            seen.add(content[0])
        time.sleep(0.001)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert seen
    assert os.listdir(tmp_path) == ["result"]


def test_nothing_else_in_the_product_writes_files():
    """One place writes: so says the source."""
    written = r"write_bytes\(|(?<!formatter)\.write_text\(|mkstemp|os\.replace\("
    others = [
        path.name
        for path in Path(segviz.__file__).parent.rglob("*.py")
        if path.name not in ("files.py", "pictures.py")  # the browser's own folder
        and re.search(written, path.read_text("utf-8"))
    ]
    assert others == []
