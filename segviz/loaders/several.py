"""An archive or folder -> Corpus: the files that hold conversations are told by shape.

All files of the first format found (in the registry's order) are read together; others are
counted. Files with people's addresses, as exports of chatbots have them, are not opened.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from segviz.conversation import Conversation, Corpus, Finding, LoadReport, with_distinct_ids
from segviz.loaders.archives import GZIP, ZIP, Members
from segviz.loaders.captions import counted
from segviz.loaders.decode import read_document
from segviz.loaders.document import Folder, Options, PlainText
from segviz.loaders.errors import LoadError
from segviz.loaders.file_kinds import is_binary
from segviz.loaders.findings import in_file_order
from segviz.loaders.formats import slack
from segviz.loaders.notes import Member, Note, Notes, shown
from segviz.loaders.registry import LOADERS, Loader, loader_of

_PRIVATE = {"users.json", "user.json"}
"""Names, addresses and phone numbers of the account in exports of chatbots."""

_HEAD = 4096


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
            document, notes = read_document(data)
        except LoadError as error:
            search.problems.append((path, error))
            continue
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
