"""Files inside zip archives, folders and gzip: read into memory within limits, never
unpacked to disk. Their names are labels, not paths, so none can lead anywhere."""

from __future__ import annotations

import io
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from segviz.loaders.errors import LoadError
from segviz.loaders.limits import MEMBERS, RATIO, SMALL, size

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
GZIP = b"\x1f\x8b"

_DAMAGED = "download it again"
_DIGITS = re.compile(r"([0-9]+)")
_STEP = 1 << 20
_DEEPEST = 4
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
)
"""What ``zipfile`` and its decompressors raise on damaged archives."""


class Members(Protocol):
    """Files under one name. ``read`` gives one whole, ``head`` its first bytes."""

    @property
    def paths(self) -> Sequence[str]:
        """Their paths, in natural order, without repetition."""

    def head(self, path: str, most: int) -> bytes:
        """The first bytes of a file."""

    def read(self, path: str, most: int) -> bytes:
        """A whole file. LoadError when it has more than ``most`` bytes or cannot be read."""

    def close(self) -> None:
        """Let go of the archive."""


def gunzip(data: bytes, most: int) -> bytes:
    """What a gzip file holds. LoadError when it is damaged or expands beyond the limits."""
    parts: list[bytes] = []
    total = 0
    rest = data
    try:
        while rest[:2] == GZIP:
            engine = zlib.decompressobj(wbits=31)
            while not engine.eof:
                part = engine.decompress(rest, _STEP)
                rest = engine.unconsumed_tail
                if not part and not rest and not engine.eof:
                    raise LoadError("the archive is damaged: it ends too early", remedy=_DAMAGED)
                total += len(part)
                _check(total, len(data), most)
                parts.append(part)
            rest = engine.unused_data
    except zlib.error:
        raise LoadError("the archive is damaged", remedy=_DAMAGED) from None
    return b"".join(parts)


class ZipMembers:
    """The files of a zip archive, given as bytes or as a path. LoadError when damaged."""

    def __init__(self, source: bytes | Path) -> None:
        """Reads the directory of the archive only."""
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source)
        except _BROKEN:
            raise LoadError("the zip archive is damaged", remedy=_DAMAGED) from None
        infos = self._zip.infolist()
        if len(infos) > MEMBERS:
            self._zip.close()
            what = f"the archive holds {len(infos):,} files, more than {MEMBERS:,}"
            raise LoadError(what, remedy="unpack it and load the file that is meant")
        files = [info for info in infos if not info.is_dir() and not _is_link(info)]
        # Of equal names the last one counts, as for programs that unpack.
        self._infos = {info.filename: info for info in files if not _is_hidden(info.filename)}

    @property
    def paths(self) -> Sequence[str]:
        """Their paths, in natural order."""
        return natural(self._infos)

    def head(self, path: str, most: int) -> bytes:
        """The first bytes; b"" where they cannot be read."""
        try:
            with self._zip.open(self._infos[path]) as stream:
                return stream.read(most)
        except _BROKEN:
            return b""

    def read(self, path: str, most: int) -> bytes:
        """A whole file. LoadError when damaged, locked or beyond the limits."""
        info = self._infos[path]
        if info.flag_bits & 1:
            what = "the archive is protected by a password"
            raise LoadError(what, remedy="unpack it with the password and load the file inside")
        # What the archive declares and what comes out are both held against the limits.
        _check(info.file_size, info.compress_size, most)
        parts: list[bytes] = []
        total = 0
        try:
            with self._zip.open(info) as stream:
                while part := stream.read(_STEP):
                    total += len(part)
                    _check(total, info.compress_size, most)
                    parts.append(part)
        except NotImplementedError:
            what = "the archive is packed in a way that is not supported"
            raise LoadError(what, remedy="pack it anew as an ordinary zip") from None
        except _BROKEN:
            raise LoadError("the zip archive is damaged", remedy=_DAMAGED) from None
        return b"".join(parts)

    def close(self) -> None:
        """Close the archive."""
        self._zip.close()


class FolderMembers:
    """The files of a folder and its subfolders; links are not followed."""

    def __init__(self, folder: Path) -> None:
        """Lists the folder."""
        self._folder = folder
        self._paths = natural(self._walk())

    def _walk(self) -> Iterator[str]:
        count = 0
        for where, folders, files in os.walk(self._folder, followlinks=False):
            below = Path(where).relative_to(self._folder)
            if len(below.parts) >= _DEEPEST:
                folders.clear()
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in files:
                path = Path(where, name)
                if name.startswith(".") or path.is_symlink() or not path.is_file():
                    continue
                count += 1
                if count > MEMBERS:
                    what = f"the folder holds more than {MEMBERS:,} files"
                    raise LoadError(what, remedy="name the conversation file inside it")
                yield (below / name).as_posix()

    @property
    def paths(self) -> Sequence[str]:
        """Their paths below the folder, in natural order."""
        return self._paths

    def head(self, path: str, most: int) -> bytes:
        """The first bytes; b"" where they cannot be read."""
        try:
            with (self._folder / path).open("rb") as stream:
                return stream.read(most)
        except OSError:
            return b""

    def read(self, path: str, most: int) -> bytes:
        """A whole file. LoadError when it cannot be read or is beyond the limit."""
        try:
            with (self._folder / path).open("rb") as stream:
                data = stream.read(most + 1)
        except OSError as error:
            reason = f"the file cannot be read ({error.strerror or type(error).__name__})"
            raise LoadError(reason, remedy="check its permissions") from None
        if len(data) > most:
            raise _beyond(most)
        return data

    def close(self) -> None:
        """Nothing is open."""


def natural(paths: Iterable[str]) -> list[str]:
    """In the order people count: ``conversations-2`` before ``conversations-10``."""
    return sorted(paths, key=_counting)


def _counting(path: str) -> list[tuple[int, int, str]]:
    parts: list[tuple[int, int, str]] = []
    for part in _DIGITS.split(path):
        number = part.isascii() and part.isdigit() and len(part) < 10
        parts.append((0, int(part), part) if number else (1, 0, part))
    return parts


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") and part not in (".", "..") for part in path.split("/")) or (
        path.startswith("__MACOSX/")
    )


def _check(total: int, packed: int, most: int) -> None:
    if total > most:
        raise _beyond(most)
    if total > SMALL and total > packed * RATIO:
        what = f"the archive expands to more than {RATIO} times its size, as no conversation does"
        raise LoadError(what, remedy="unpack it and load the file inside if you trust it")


def _beyond(most: int) -> LoadError:
    what = f"what the archive holds has more than the {size(most)} that are read at once"
    return LoadError(what, remedy="unpack it and load the file inside by its path")
