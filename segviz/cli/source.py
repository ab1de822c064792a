"""Reads what a command works on: a conversation in any format, or a built memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from segviz import files
from segviz.cli.command import (
    Option,
    Options,
    UsageError,
    section,
    together,
    user_errors,
)
from segviz.cli.console import Console
from segviz.conversation import Conversation, Corpus, sample_path
from segviz.loaders import load, with_audit

SAMPLE = "sample:"
GAP_HOURS = 8.0


_reading = section("Reading a conversation file")

file_argument = click.argument("file", type=click.Path(), metavar="FILE")


def conversation_options(several: bool = False) -> Option:
    """Returns the options for which conversation of a file is meant (or ``several``), and for what
    a file may leave open."""
    which = "Which one; repeat it for more." if several else "Which one."
    every = _reading("--all", "Every conversation of the file.", is_flag=True)
    table = "Columns of a table: text, speaker, time, session, conversation."
    order = "03/04/2025 is 3 April, or March 4."
    gap = "A silence longer than this begins a session, where the file has none."
    return together(
        _reading("--conversation", which, "the first", multiple=True, metavar="ID"),
        *([every] if several else []),
        _reading("--columns", table, metavar="MEANING=NAME,…"),
        _reading("--day-first/--month-first", order, "told from the file", default=None),
        _reading("--gap-hours", gap, default=GAP_HOURS),
    )


audit_option = _reading(
    "--audit",
    "Mark the questions whose gold evidence or answer this file disputes: objects with question, "
    "error_type, correct_evidence, correct_answer, as github.com/dial481/locomo-audit has them.",
    type=click.Path(),
    metavar="FILE",
)


def path_of(given: str) -> Path:
    """Returns the path of a file argument. Raises UsageError where there is no such file."""
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
    """Returns the options of ``load`` that were given."""
    given: dict[str, Any] = {}
    if options.columns is not None:
        given["columns"] = dict(part.partition("=")[::2] for part in options.columns.split(","))
    if options.day_first is not None:
        given["day_first"] = options.day_first
    if options.gap_hours != GAP_HOURS:
        given["gap_hours"] = options.gap_hours
    return given


def read_corpus(options: Options, console: Console) -> Corpus:
    """Reads the conversations of the file; notes repairs. Raises UsageError."""
    with user_errors():
        corpus = load(path_of(options.file), **reading(options))
    if corpus.report.findings:
        console.note(str(corpus.report))
    return audited(corpus, options, console)


def audited(corpus: Corpus, options: Options, console: Console) -> Corpus:
    """Marks the questions that the audit of the options disputes, if there is one, and notes how
    many. Raises UsageError for a file that is no audit."""
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
    """Reads the conversation the options name, or the first one and notes that there are more."""
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


def output_path(given: str, *inputs: str) -> Path:
    """Returns a file to write, checked before the work begins: its folder is there, it is no folder
    and none of the ``inputs``. Raises UsageError else."""
    try:
        path = Path(given).expanduser()
        if path.is_dir() or not path.name:
            raise UsageError(f"{given!r} is a folder; name a file in it")
        if path.exists():
            files.check_regular(path)
        if not path.parent.is_dir():
            raise UsageError(f"there is no folder {str(path.parent)!r} to write to")
        if any(path.exists() and path.samefile(path_of(name)) for name in inputs):
            raise UsageError(f"{given!r} is what is read; writing it would destroy it")
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"cannot write {given!r} ({error})") from None
    return path


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a result. Raises UsageError where that fails."""
    with user_errors(OSError):
        files.write(path, content)
