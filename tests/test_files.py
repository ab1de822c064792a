"""The doors to the disk: what is opened, how a file is written, and what a kill leaves."""

from __future__ import annotations

import errno
import os
import signal
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


@pytest.fixture(params=["pipe", "link to a pipe", "socket", "/dev/zero", "/dev/null"])
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


@pytest.mark.parametrize("path", ["/proc/kmsg", "/sys/kernel/debug/tracing/trace_pipe"])
def test_a_pipe_of_the_kernel_is_empty(path):
    """It is a regular file of no size that waits for what comes next."""
    if not os.access(path, os.R_OK):
        pytest.skip("there is none here")
    try:
        assert files.read(path) == b""
    except PermissionError:
        pytest.skip("there is none to read here")
    with pytest.raises(LoadError, match="empty"):
        load(path)
    assert not store.recognises(path)


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


def test_a_full_disk_keeps_the_old_file_and_is_told_by_its_name(tmp_path, monkeypatch):
    target = tmp_path / "result.csv"
    target.write_text("old")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        files.write(target, "new")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(target))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"result.csv": "old"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_each_command_keeps_the_old_file_where_the_disk_is_full(tmp_path):
    """By a limit on the size of files, which the kernel enforces as it does a full disk."""
    target = tmp_path / "result"
    for command in (
        ["export", "sample:recurrence", "--format", "html", "--embedder", "hashing", "-o"],
        ["convert", "sample:recurrence", "-o"],
        ["build", "sample:recurrence", "--embedder", "hashing", "-o"],
    ):
        target.write_text("old")
        script = (
            "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
            "from segviz.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        ran = subprocess.run(
            [sys.executable, "-c", script, *command, str(target)],
            capture_output=True,
            text=True,
            env=environment,
            timeout=120,
        )
        assert ran.returncode == 2, ran.stderr
        assert f"{target}: File too large" in ran.stderr
        assert "Traceback" not in ran.stderr
        assert os.listdir(tmp_path) == ["result"]
        assert target.read_text() == "old"


def test_what_a_killed_writer_left_goes_and_what_another_writes_stays(tmp_path):
    target = tmp_path / "result"
    script = (
        "import os, sys, time\nfrom segviz import files\n"
        "files.os.fsync = lambda handle: (print('there', flush=True), time.sleep(60))\n"
        "files.write(sys.argv[1], 'new')"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, target], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    try:
        for writer in writers:
            assert writer.stdout.readline() == b"there\n"
        assert len(os.listdir(tmp_path)) == 2
        writers[0].kill()
        writers[0].wait(10)
        files.write(target, "mine")
        assert len(os.listdir(tmp_path)) == 2  # the result, and what the other one writes
        writers[1].send_signal(signal.SIGKILL)
        writers[1].wait(10)
        files.write(target, "mine again")
        assert os.listdir(tmp_path) == ["result"]
    finally:
        for writer in writers:
            writer.kill()
            writer.wait(10)
            writer.stdout.close()


def test_a_file_that_another_clears_away_before_it_is_locked_is_made_anew(tmp_path, monkeypatch):
    lock, fsync, clearing = files.fcntl.flock, os.fsync, []

    def locked(stream, how):
        if not clearing:
            clearing.append(open(stream.name))  # noqa: SIM115
            lock(clearing[0], how)
        lock(stream, how)

    def written(handle):
        Path(clearing[0].name).unlink(missing_ok=True)
        fsync(handle)

    monkeypatch.setattr(files.fcntl, "flock", locked)
    monkeypatch.setattr(files.os, "fsync", written)
    files.write(tmp_path / "result", "whole")
    clearing[0].close()
    assert os.listdir(tmp_path) == ["result"]
    assert (tmp_path / "result").read_text() == "whole"


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
    written = ("write_bytes(", "write_text(", "mkstemp", "os.replace(")
    others = [
        path.name
        for path in Path(segviz.__file__).parent.rglob("*.py")
        if path.name not in ("files.py", "pictures.py")  # the browser's own folder
        and any(part in path.read_text("utf-8") for part in written)
    ]
    assert others == []
