"""Archives and folders: their files read into memory within limits, and all conversations in
them as one Corpus.

Nothing is unpacked to disk; names of members are labels, not paths, so none can lead
anywhere. The files that hold conversations are told by shape: all files of the first format
found (in the registry's order) are read together, others are counted. Files with people's
addresses, as exports of chatbots have them, are not opened.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from segviz.conversation import Conversation, Corpus, Finding, LoadReport, with_distinct_ids
from segviz.loaders.captions import counted, size
from segviz.loaders.decode import read_document
from segviz.loaders.document import Folder, Loader, Member, Options, PlainText, Rows
from segviz.loaders.errors import LoadError
from segviz.loaders.file_kinds import is_binary
from segviz.loaders.formats import slack
from segviz.loaders.registry import LOADERS, loader_of
from segviz.loaders.report import Note, Notes, in_file_order, shown

RATIO = 200
"""Most times its packed size that a file in an archive may expand to, once beyond ``SMALL``."""

SMALL = 10 * 1024**2

MEMBERS = 100_000
"""Most files of an archive or folder that are looked at."""

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


_PRIVATE = {"users.json", "user.json"}
"""Names, addresses and phone numbers of the account in exports of chatbots."""

_HEAD = 4096


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
        # A member without any name breaks is_dir().
        named = (info for info in infos if info.filename)
        files = [info for info in named if not info.is_dir() and not _is_link(info)]
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


# --- what they hold ------------------------------------------------------------------


@dataclass(slots=True)
class _Found:
    """A document of one file, and what reads it."""

    path: str
    loader: Loader
    document: object
    notes: list[Note]


@dataclass(slots=True)
class _Search:
    found: list[_Found] = field(default_factory=list)
    problems: list[tuple[str, LoadError]] = field(default_factory=list)
    others: int = 0
    archives: int = 0


def read_members(members: Members, label: str, options: Options, most: int) -> Corpus:
    """The conversations in the files; ``most`` bytes of them are read in all.

    Raises LoadError when none holds any, naming the first problem met.
    """
    paths = members.paths
    export = slack.is_export(paths)
    search = _slack(members, most) if export else _search(members, options, most)
    if not search.found:
        raise _nothing(search)
    rank = list(LOADERS.values())
    best = min((each.loader for each in search.found), key=rank.index)
    chosen = [each for each in search.found if each.loader is best]
    passed = Counter(each.loader.label for each in search.found if each.loader is not best)
    others = search.others + search.archives
    conversations: list[Conversation] = []
    findings: list[Finding] = []
    for each in chosen:
        # A file that is alone gives way to the archive, whose name is the telling one.
        alone = len(chosen) == 1
        name = label if alone else PurePosixPath(each.path).name
        try:
            read, more = best.read(each.document, name, options)
        except LoadError as error:
            search.problems.append((each.path, error))
            continue
        conversations += read
        for finding in in_file_order(each.document, [*each.notes, *more]):
            where = finding.where if export else _inside(each.path, finding.where)
            findings.append(Finding(finding.kind, where, finding.what))
    if not conversations:
        raise _nothing(search)
    for path, problem in search.problems:
        findings.append(Finding("skipped", shown((Member(path),)), f"left out: {problem.what}"))
    for kind, count in passed.items():
        what = f"{counted(count, 'file')} of another format ({kind}) not read"
        findings.append(Finding("skipped", "file", what))
    if others:
        what = f"{counted(others, 'other file')} not read"
        findings.append(Finding("skipped", "file", what))
    return Corpus(
        with_distinct_ids(conversations),
        LoadReport(
            name=label,
            source_format=best.label,
            kept=sum(len(conversation.turns) for conversation in conversations),
            findings=tuple(findings),
        ),
    )


def _search(members: Members, options: Options, most: int) -> _Search:
    search = _Search()
    left = most
    for path in members.paths:
        name = PurePosixPath(path).name
        if name in _PRIVATE:
            search.others += 1
            continue
        head = members.head(path, _HEAD)
        if head.startswith((*ZIP, GZIP)):
            search.archives += 1
            continue
        if is_binary(head):
            search.others += 1
            continue
        data = members.read(path, left)
        left -= len(data)
        try:
            document, notes = read_document(data, left)
        except LoadError as error:
            search.problems.append((path, error))
            continue
        left -= document.unpacked if isinstance(document, Rows) else 0
        loader = loader_of(document, options)
        if isinstance(document, PlainText) and loader is None and _meant_as_json(document):
            search.problems.append((path, document.error))
        elif loader is None:
            search.others += 1
        else:
            search.found.append(_Found(path, loader, document, notes))
    return search


def _slack(members: Members, most: int) -> _Search:
    """All days of an export as one document."""
    search = _Search()
    folder = Folder()
    notes = Notes()
    left = most
    for path in members.paths:
        if not slack.wanted(path):
            search.others += 1
            continue
        data = members.read(path, left)
        left -= len(data)
        if data.strip() == b"[]":
            continue  # a day without messages
        try:
            document, more = read_document(data)
        except LoadError as error:
            search.problems.append((path, error))
            continue
        if isinstance(document, PlainText):
            search.problems.append((path, document.error))
            continue
        folder[path] = document
        notes += [Note(note.kind, (Member(path), *note.place), note.what) for note in more]
    if any(slack.DAY.fullmatch(path) for path in folder):
        search.found.append(_Found("", LOADERS["slack"], folder, notes))
    return search


def _meant_as_json(document: PlainText) -> bool:
    return document.text.lstrip()[:1] in ("[", "{")


def _nothing(search: _Search) -> LoadError:
    if search.problems:
        path, error = search.problems[0]
        return error.in_file(shown((Member(path),)), "")
    if search.archives and not search.others:
        what = "there is nothing but other archives in it"
        return LoadError(what, remedy="unpack the one with the conversations and load that")
    count = search.others + search.archives
    what = f"none of the {counted(count, 'file')} in it holds a conversation in a known format"
    return LoadError(what if count else "there are no files in it", remedy="name the file itself")


def _inside(path: str, where: str) -> str:
    member = shown((Member(path),))
    return member if where == "file" else f"{member}, {where}"
