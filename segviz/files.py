"""Opens and writes the files that users name, and checks free memory.

Every input is opened by :func:`opened` or :func:`read`, every output is written by :func:`write` or
:func:`append`. Only regular files are opened. Errors are OSError with the name of the file. Imports
nothing of segviz.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def check_regular(path: str | Path) -> os.stat_result:
    """Returns the status of a regular file, after following links; OSError for any other path.

    Reading a pipe or a device may never end, and replacing one breaks its users.
    """
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise OSError(errno.EINVAL, f"{kind}, not an ordinary file", str(path))
    return status


def opened(path: str | Path) -> BufferedReader:
    """Opens a regular file for reading. Raises OSError for anything else, without waiting."""
    check_regular(path)
    # A pipe that replaced the file since the check would block until it has a writer.
    stream = open(path, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(errno.EINVAL, "not an ordinary file", str(path))
    return stream


_AT_ONCE = getattr(os, "O_NONBLOCK", 0)


def read(path: str | Path) -> bytes:
    """Returns the bytes of a regular file."""
    with opened(path) as stream:
        return stream.read()


def write(path: str | Path, content: bytes | str | Callable[[BinaryIO], object]) -> None:
    """Writes a whole file or leaves the old one unchanged: readers see one or the other.

    The content, or what a function writes, goes to a temporary file in the same folder, is flushed
    to the disk, and then renamed. If the path is a link, its target is written. A new file has the
    permissions that the umask leaves, a replaced file keeps its own. A read-only file is not
    replaced. OSError names the file.
    """
    given = Path(path).expanduser()
    try:
        target = given.resolve()
        mode = stat.S_IMODE(check_regular(target).st_mode) if target.exists() else None
        if mode is not None and not mode & _WRITABLE:
            what = "the file is read-only; give another name, or make it writable first"
            raise PermissionError(errno.EACCES, what)
        # Written beside the target, so that renaming stays on one disk and is atomic.
        half = target.parent / f".segviz-{secrets.token_hex(8)}.tmp"
        try:
            with open(half, "xb") as stream:
                if callable(content):
                    content(stream)
                else:
                    stream.write(content.encode("utf-8") if isinstance(content, str) else content)
                stream.flush()
                os.fsync(stream.fileno())
            if mode is not None:
                os.chmod(half, mode)
            os.replace(half, target)
        except BaseException:
            half.unlink(missing_ok=True)
            raise
        _settle(target.parent)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        reason = getattr(error, "strerror", None) or str(error)
        raise OSError(getattr(error, "errno", errno.ELOOP), reason, str(given)) from None


_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def append(path: str | Path, line: str) -> None:
    """Appends a whole line to a file or leaves the file unchanged; creates a missing file.

    Processes take turns if the operating system has locks. A last line without a line end gets one
    first. OSError names the file.
    """
    try:
        with open(path, "ab+", buffering=0) as stream:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(stream, fcntl.LOCK_EX)
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 1))
            left = f"{line}\n".encode()
            if stream.read(1) not in (b"", b"\n"):
                left = b"\n" + left
            try:
                while left:
                    left = left[stream.write(left) :]
            except BaseException:
                stream.truncate(size)
                raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, reason, str(path)) from None


def _settle(folder: Path) -> None:
    """Flushes a folder's entries to the disk, if the operating system can open a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class NoRoom(ValueError):
    """Error of a task that needs more memory than is free."""


def check_room(needed: float, what: str, remedy: str) -> None:
    """Raises NoRoom if a task needs more bytes of memory than are free; never if that is unknown.

    The message begins with the task, ``what``, and ends with ``remedy``.
    """
    free = free_memory()
    if free is not None and needed > free:
        raise NoRoom(
            f"{what} takes about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are "
            f"free; {remedy}"
        )


def free_memory() -> int | None:
    """Returns the free memory in bytes, within the limit of a container; None except on Linux."""
    try:
        report = Path("/proc/meminfo").read_text(encoding="ascii")
        free = 1024 * int(report.partition("MemAvailable:")[2].split()[0])
    except (OSError, ValueError, IndexError):
        return None
    with suppress(OSError, ValueError):  # "max": no limit
        group = Path("/sys/fs/cgroup")
        limit, used = ((group / f"memory.{name}").read_text() for name in ("max", "current"))
        free = min(free, int(limit) - int(used))
    return free
