"""Reads archives and folders in memory, within limits, as one Corpus.

Nothing is unpacked to disk, so paths inside an archive cannot lead anywhere. The content of a file
decides its format. All files of the first format found (in the order of ``LOADERS``) are read
together; if none of them has a turn, those of the next format. Other files are counted. Files of
chatbot exports that hold e-mail addresses are not opened.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from segviz import files
from segviz.conversation import Conversation, Corpus, with_distinct_ids
from segviz.loaders.budget import DAMAGED, Budget
from segviz.loaders.cells import named_rows
from segviz.loaders.decode import read_document
from segviz.loaders.document import Folder, Member, Options, PlainText
from segviz.loaders.errors import LoadError, OtherKind, opening
from segviz.loaders.file_kinds import is_binary, other_kind
from segviz.loaders.formats import LOADERS, loader_of, slack
from segviz.loaders.loader import Loader
from segviz.loaders.questions import are_questions, beside
from segviz.loaders.report import Note, Notes, shown
from segviz.loaders.unread import note_unread
from segviz.text.captions import counted

ZIP = (b"PK\x03\x04", b"PK\x05\x06")

_DIGITS = re.compile(r"[0-9]+")
_DEEPEST = 4
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError)
_BROKEN = (*_DAMAGE, OSError, EOFError, ValueError, RuntimeError)
"""Exceptions that ``zipfile`` and its decompressors raise for damaged archives."""

_PRIVATE = {"users.json", "user.json"}
"""Names of files with names, e-mail addresses and phone numbers in a chatbot's export."""

_HEAD = 4096


class ZipMembers:
    """Files of a zip archive, given as bytes or as a path.

    ``paths`` are the names of its files in natural order. Every read counts against ``budget``, the
    bytes that may be unpacked. Raises LoadError if the archive is damaged.
    """

    def __init__(self, source: bytes | Path, budget: Budget) -> None:
        try:
            self._stream = BytesIO(source) if isinstance(source, bytes) else files.opened(source)
            self.budget = budget
            self._zip = zipfile.ZipFile(self._stream)
        except _BROKEN:
            self._stream.close()
            raise LoadError("the zip archive is damaged", remedy=DAMAGED) from None
        # Of equal names the last one counts, as in unpacking programs.
        self._infos = {info.filename: info for info in self._zip.infolist() if _is_read(info)}
        self.paths = natural(self._infos)

    def open(self, path: str) -> IO[bytes]:
        """Opens a file of the archive, which is unpacked as it is read."""
        return self._zip.open(self._infos[path])

    def read(self, path: str) -> bytes:
        """Reads a file; raises LoadError if it is damaged, encrypted or too large."""
        info = self._infos[path]
        if info.flag_bits & 1:
            what = "the archive is protected by a password"
            raise LoadError(what, remedy="unpack it with the password and load the file inside")
        self.budget.take(info.file_size)  # no more than this is unpacked
        try:
            return self._zip.read(info)
        except _BROKEN:
            raise LoadError("the zip archive is damaged", remedy=DAMAGED) from None

    def close(self) -> None:
        """Closes the archive."""
        self._zip.close()
        self._stream.close()


class FolderMembers:
    """Files of a folder and its subfolders, with the same methods as ``ZipMembers``.

    Links are not followed; hidden files and folders, and those below four subfolders, are left out.
    """

    def __init__(self, folder: Path, budget: Budget) -> None:
        self._folder = folder
        self.budget = budget
        self.paths = natural(self._walk())

    def _walk(self) -> Iterator[str]:
        """Yields the paths of a folder's files, relative to it, without hidden files and links."""
        for where, folders, names in os.walk(self._folder, followlinks=False):
            below = Path(where).relative_to(self._folder)
            # os.walk enters the folders that stay in this list, in their order.
            if len(below.parts) >= _DEEPEST:
                folders.clear()
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in names:
                path = Path(where, name)
                if name.startswith(".") or path.is_symlink() or not path.is_file():
                    continue
                yield (below / name).as_posix()

    def open(self, path: str) -> IO[bytes]:
        """Opens a file of the folder."""
        return files.opened(self._folder / path)

    def read(self, path: str) -> bytes:
        """Reads a file; raises LoadError if it is unreadable or too large."""
        with opening("", "check its permissions"):
            self.budget.take((self._folder / path).stat().st_size)
            return files.read(self._folder / path)

    def close(self) -> None:
        """Does nothing, because a folder has no open file."""


Members = ZipMembers | FolderMembers


def _head(members: Members, path: str) -> bytes:
    """Returns a member's first bytes; b"" if it cannot be unpacked, so that others are read."""
    try:
        with members.open(path) as stream:
            return stream.read(_HEAD)
    except _BROKEN:
        return b""


def natural(paths: Iterable[str]) -> list[str]:
    """Returns paths in natural order: ``conversations-2`` before ``conversations-10``."""
    return sorted(paths, key=lambda path: _DIGITS.sub(lambda digits: digits[0].zfill(20), path))


def _is_read(info: zipfile.ZipInfo) -> bool:
    """Returns True for a member of a zip archive that is no folder, link or hidden file."""
    path = info.filename  # is_dir() fails for an empty name
    if not path or info.is_dir() or stat.S_ISLNK(info.external_attr >> 16):
        return False
    hidden = any(p.startswith(".") and p not in (".", "..") for p in path.split("/"))
    return not hidden and not path.startswith("__MACOSX/")


# --- contents ------------------------------------------------------------------------


@dataclass(slots=True)
class _Readable:
    """File of an archive that holds conversations, and the loader of its format."""

    path: str
    loader: Loader
    document: object
    notes: Sequence[Note]


@dataclass(slots=True)
class _Search:
    """Files of an archive, sorted by whether they can be read.

    ``problems`` are broken files and ``kinds`` files of a known kind without a conversation, each
    with its error. ``others`` counts all other files.
    """

    readable: list[_Readable] = field(default_factory=list)
    problems: list[tuple[str, LoadError]] = field(default_factory=list)
    kinds: list[tuple[str, LoadError]] = field(default_factory=list)
    others: int = 0


def read_members(members: Members, label: str, options: Options) -> Corpus:
    """Reads the conversations in the files of an archive or folder.

    Raises LoadError if no file holds a conversation, if possible the error of the first broken
    file.
    """
    paths = members.paths
    export = slack.is_export(paths)
    search = _slack(members) if export else _search(members, options)
    if not search.readable:
        raise _nothing(search)
    # All files of the first format that has a turn are read.
    notes, conversations = Notes(), list[Conversation]()
    known = {each.loader.label for each in search.readable}
    for best in [loader for loader in LOADERS.values() if loader.label in known]:
        chosen = [each for each in search.readable if each.loader is best]
        for each in chosen:
            # A single file takes the name of the archive, which says more.
            name = label if len(chosen) == 1 else PurePosixPath(each.path).name
            try:
                read, more = best.read(each.document, name, options)
            except LoadError as error:
                search.problems.append((each.path, error))
                continue
            conversations += read
            note_unread(each.document, read, more, unread := Notes())
            within = () if export else (Member(each.path),)
            notes.take(each.notes, more, unread, within=within, document=each.document)
        known.remove(best.label)
        if conversations:
            break
    if not conversations:
        raise _nothing(search)
    # What was not read is counted in the report.
    for path, problem in search.problems:
        notes.skipped((Member(path),), f"left out: {problem.what}")
    passed = Counter(each.loader.label for each in search.readable if each.loader.label in known)
    for kind, count in passed.items():
        notes.skipped((), f"{counted(count, 'file')} of another format ({kind}) not read")
    if count := search.others + len(search.kinds):
        notes.skipped((), f"{counted(count, 'other file')} not read")
    return Corpus(with_distinct_ids(conversations), notes.report(label, best.label, conversations))


def _search(members: Members, options: Options) -> _Search:
    """Sorts the members of an archive into readable ones, problems, known kinds and others."""
    search = _Search()
    asked: list[tuple[PurePosixPath, object]] = []
    for path in members.paths:
        if PurePosixPath(path).name in _PRIVATE or is_binary(_head(members, path)):
            search.others += 1
        elif (parsed := _document(members, path, search)) is not None:
            document, notes = parsed
            loader = loader_of(document, options)
            if loader is not None:
                search.readable.append(_Readable(path, loader, document, notes))
            elif isinstance(document, PlainText) and document.text.lstrip()[:1] in ("[", "{"):
                search.problems.append((path, document.error))  # the file is broken JSON
            elif are_questions(rows := _rows(document)):
                asked.append((PurePosixPath(path).parent, rows))
            elif (known := other_kind(document)) is not None:
                search.kinds.append((path, known))
            else:
                search.others += 1
    for folder, questions in asked:
        search.others += not _ask(search.readable, folder, questions)
    return search


def _ask(readable: Sequence[_Readable], folder: PurePosixPath, questions: object) -> bool:
    """Adds the questions of a file in a folder to their dialogue; returns False without one."""
    for each in readable:
        if (named := beside(each.document, questions)) is not None:
            each.document = named
            return True
    # A data set may keep the questions beside the dialogue, or in a folder below it.
    near = [
        each
        for each in readable
        if isinstance(each.document, list)
        and PurePosixPath(each.path).parent in (folder, folder.parent)
    ]
    if len(near) != 1 or near[0].loader.label not in _WITH_QUESTIONS:
        return False
    near[0].document = {"conversation": near[0].document, "questions": questions}
    return True


def _rows(document: object) -> object:
    """Returns the rows of a table; any other document unchanged."""
    with suppress(LoadError):
        return named_rows(document) if isinstance(document, PlainText) else document
    return document


_WITH_QUESTIONS = {LOADERS["openai"].label, LOADERS["records"].label}
"""Formats whose questions may be kept in a file of their own."""


def _document(members: Members, path: str, search: _Search) -> tuple[object, Notes] | None:
    """Reads a member; returns None for an empty list or an error, which ``search`` records."""
    data = members.read(path)
    try:
        # Exports contain empty lists: days without messages.
        return None if data.strip() == b"[]" else read_document(data, members.budget)
    except LoadError as error:
        errors = search.kinds if isinstance(error, OtherKind) else search.problems
        errors.append((path, error))
        return None


def _slack(members: Members) -> _Search:
    """Returns a search result in which all days of a Slack export are one document."""
    search = _Search()
    folder = Folder()
    notes = Notes()
    for path in members.paths:
        if not slack.wanted(path):
            search.others += 1
        elif (read := _document(members, path, search)) is not None:
            if isinstance(read[0], PlainText):
                search.problems.append((path, read[0].error))
            else:
                folder[path] = read[0]
                notes.take(read[1], within=(Member(path),))
    if any(slack.DAY.fullmatch(path) for path in folder):
        search.readable.append(_Readable("", LOADERS["slack"], folder, notes))
    return search


def _nothing(search: _Search) -> LoadError:
    """Returns the error for an archive without conversation: the first problem, or a count."""
    if problems := search.problems + search.kinds:
        path, error = problems[0]
        return error.in_file(shown((Member(path),)), "")
    count = search.others
    what = f"none of the {counted(count, 'file')} in it holds a conversation in a known format"
    return LoadError(what if count else "there are no files in it", remedy="name the file itself")
