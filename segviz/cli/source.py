"""Reads what a command works on: a conversation in any format, or a built memory."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from segviz import files
from segviz.cli.command import UsageError, add_number, user_errors
from segviz.cli.console import Console
from segviz.conversation import TITLES, Conversation, Corpus, sample_path
from segviz.loaders import load

SAMPLE = "sample:"
GAP_HOURS = 8.0


def add_file(parser: argparse.ArgumentParser, what: str) -> None:
    """The positional FILE."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help=f"{what}; {SAMPLE}NAME is a bundled one ({', '.join(TITLES)})",
    )


def add_conversation(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Which conversation of a file (or ``several``), and what a file may leave open."""
    group = parser.add_argument_group("reading a conversation file")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--conversation",
        action="append",
        default=[],
        metavar="ID",
        help="which one (default: the first)" + ("; repeat it for more" if several else ""),
    )
    if several:
        which.add_argument("--all", action="store_true", help="every conversation of the file")
    group.add_argument(
        "--columns",
        metavar="MEANING=NAME,…",
        help="columns of a table: text, speaker, time, session, conversation",
    )
    order = group.add_mutually_exclusive_group()
    order.add_argument(
        "--day-first",
        action="store_true",
        default=None,
        help="03/04/2025 is 3 April (default: told from the file)",
    )
    order.add_argument(
        "--month-first", dest="day_first", action="store_false", help="03/04/2025 is March 4"
    )
    silence = "a silence longer than this begins a session, where the file has none"
    add_number(group, "--gap-hours", GAP_HOURS, silence)


def path_of(given: str) -> Path:
    """The path of a file argument. UsageError where there is no such file."""
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


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """The options of ``load`` that were given."""
    given: dict[str, Any] = {}
    if options.columns is not None:
        given["columns"] = dict(part.partition("=")[::2] for part in options.columns.split(","))
    if options.day_first is not None:
        given["day_first"] = options.day_first
    if options.gap_hours != GAP_HOURS:
        given["gap_hours"] = options.gap_hours
    return given


def read_corpus(options: argparse.Namespace, console: Console) -> Corpus:
    """The conversations of the file; notes repairs. UsageError in place of LoadError."""
    with user_errors():
        corpus = load(path_of(options.file), **reading(options))
    if corpus.report.findings:
        console.note(str(corpus.report))
    return corpus


def read_conversation(options: argparse.Namespace, console: Console) -> Conversation:
    """The conversation the options name, or the first one, with a note where there are more."""
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
    """A file to write, checked before the work begins: its folder is there, it is no folder
    and none of the ``inputs``. UsageError else."""
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
    """Write a result. UsageError where that fails."""
    with user_errors(OSError):
        files.write(path, content)
