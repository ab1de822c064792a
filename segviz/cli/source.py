"""Reads the input of a command: a conversation in any format, or a built memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from segviz import files
from segviz.cli.command import Option, Options, UsageError, option, section, together, user_errors
from segviz.cli.console import Console
from segviz.conversation import Conversation, Corpus, sample_path
from segviz.loaders import GAP_HOURS, load, with_audit

SAMPLE = "sample:"

_reading = section("Reading a conversation file")

file_argument = click.argument("file", type=click.Path(), metavar="FILE")
files_argument = click.argument(
    "file", nargs=-1, required=True, type=click.Path(), metavar="FILE..."
)


def conversation_options(several: bool = False) -> Option:
    """Returns the options that choose one or ``several`` conversations of a file, and read it."""
    which = "Conversation to use; repeatable." if several else "Conversation to use."
    every = _reading("--all", "Every conversation of the file.", is_flag=True)
    table = "Columns of a table: text, speaker, time, session, conversation."
    order = "Order of dates: 03/04/2025 is 3 April, or March 4."
    gap = "A longer silence begins a session."
    join = "All conversations of the file as one, their sessions in the order of time."
    return together(
        _reading("--conversation", which, "the first", multiple=True, metavar="ID"),
        *([every] if several else []),
        _reading("--columns", table, metavar="MEANING=NAME,…"),
        _reading("--day-first/--month-first", order, "detected in the file", default=None),
        _reading("--gap-hours", gap, default=GAP_HOURS),
        _reading("--join", join, is_flag=True),
    )


def path_option(names: str, meaning: str, metavar: str = "PATH", **settings: Any) -> Option:
    """Returns an option that takes a path."""
    return option(names, meaning, type=click.Path(), metavar=metavar, **settings)


audit_option = _reading(
    "--audit",
    "Mark the questions whose gold evidence or answer this file disputes: objects with question, "
    "error_type, correct_evidence, correct_answer, as github.com/dial481/locomo-audit has them.",
    type=click.Path(),
    metavar="FILE",
)


def path_of(given: str) -> Path:
    """Returns the path of a file argument; raises UsageError for a missing file."""
    try:
        path = Path(given).expanduser()
        path.stat()
        return path
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, RuntimeError, ValueError) as error:  # no permission, too long, no home
        raise UsageError(f"cannot open {given!r} ({error})") from None
    if given.startswith(SAMPLE):
        with user_errors():
            return sample_path(given.removeprefix(SAMPLE))
    raise UsageError(f"there is no file {given!r}")


def reading(options: Options) -> dict[str, Any]:
    """Returns the arguments of ``segviz.load`` that the options give."""
    given: dict[str, Any] = {}
    if options.columns is not None:
        given["columns"] = dict(part.partition("=")[::2] for part in options.columns.split(","))
    if options.day_first is not None:
        given["day_first"] = options.day_first
    if options.gap_hours != GAP_HOURS:
        given["gap_hours"] = options.gap_hours
    return given | ({"join": True} if options.join else {})


def read_corpus(options: Options, console: Console) -> Corpus:
    """Reads all conversations of the file, prints repaired faults, marks disputed questions.

    Raises:
        UsageError: the file, or that of ``--audit``, cannot be used.
    """
    with user_errors(), console.progress("reading", "bytes") as progress:
        corpus = load(path_of(options.file), **reading(options), progress=progress)
    if corpus.report.findings or corpus.report.lacks:
        console.note(str(corpus.report))
    return audited(corpus, options, console)


def audited(corpus: Corpus, options: Options, console: Console) -> Corpus:
    """Marks the questions that the file of ``--audit`` disputes, and prints how many.

    Without that option the corpus stays as it is.

    Raises:
        UsageError: the file is no audit.
    """
    path = getattr(options, "audit", None)
    if path is None:
        return corpus
    with user_errors():
        corpus = with_audit(corpus, path_of(path))
    report = corpus.report.audit
    console.note(str(report))
    for finding in report.findings if report else ():
        console.note(f"{finding.where}: {finding.what}")
    return corpus


def read_conversation(options: Options, console: Console) -> Conversation:
    """Reads the conversation that the options choose, else the first, with a note on the others."""
    corpus = read_corpus(options, console)
    if len(options.conversation) > 1:
        named = " and ".join(map(repr, options.conversation))
        raise UsageError(f"--conversation names {named}; this command takes one")
    with user_errors(ValueError, KeyError):
        if options.conversation:
            return corpus[str(options.conversation[0])]
        if len(corpus) > 1:
            console.note(
                f"{options.file} holds {len(corpus)} conversations; this is about "
                f"{corpus.ids[0]} (another: --conversation)"
            )
        return corpus[0]


_INPUTS = ("file", "audit", "store", "run", "prompts", "replies", "data")
_OUTPUTS = ("output", "html", "junit", "trec", "resume")
"""Options of all commands with paths that are read, and with paths that are written."""


def _named(options: Options, names: Sequence[str]) -> list[str]:
    """Returns the paths that the named options give."""
    given = (getattr(options, name, None) or () for name in names)
    return [path for one in given for path in ((one,) if isinstance(one, str) else one)]


def _same(path: Path, other: Path) -> bool:
    """Returns True if two paths lead to one file, which need not exist."""
    there = path.exists() and other.exists()
    return path.resolve() == other.resolve() or (there and path.samefile(other))


def output_path(given: str, options: Options) -> Path:
    """Checks before the work begins that a file can be written; returns its path.

    Raises:
        UsageError: its folder is missing, it is a folder, "-", an input or another output.
    """
    try:
        if given == "-":
            raise UsageError("this output goes to a file, not to '-'; name one")
        path = Path(given).expanduser()
        if path.is_dir() or not path.name:
            raise UsageError(f"{given!r} is a folder; name a file in it")
        if path.exists():
            files.check_regular(path)
        if not path.parent.is_dir():
            raise UsageError(f"there is no folder {str(path.parent)!r} to write to")
        if any(_same(path, path_of(name)) for name in _named(options, _INPUTS)):
            raise UsageError(f"{given!r} is the input; writing would destroy it, so name another")
        others = _named(options, _OUTPUTS)
        if given in others:
            others.remove(given)
        if any(_same(path, Path(name).expanduser()) for name in others):
            raise UsageError(f"two outputs have the same path {given!r}; name one for each")
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"cannot write {given!r} ({error})") from None
    return path


def output_folder(given: str) -> Path:
    """Checks before the work begins that a folder is there or can be made; returns its path.

    Raises:
        UsageError: it is a file, or the folder around it is missing.
    """
    with user_errors(OSError, RuntimeError, ValueError):
        path = Path(given).expanduser()
        if path.exists() and not path.is_dir():
            raise UsageError(f"{given!r} is a file; a folder is expected, so name another")
        if not path.parent.is_dir():
            raise UsageError(f"there is no folder {str(path.parent)!r}; make it for {given!r}")
    return path


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a result; raises UsageError if that fails."""
    with user_errors(OSError):
        files.write(path, content)
