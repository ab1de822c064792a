"""Defines Command, its parser and the help made from it, and how a command ends: exit codes and the
errors that lead to them."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import NoReturn

from segviz.cli.console import Console

_BY = "  "


@dataclass(frozen=True, slots=True)
class Command:
    """One command of ``segviz``.

    ``arguments`` adds the options; ``run`` gives the exit code; ``details`` is more of the help,
    made when it is asked for; ``exits`` are codes that mean something here alone. The others are
    texts of ``help.toml``; ``examples`` are (what, command) pairs.
    """

    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Console], int]
    summary: str
    about: str
    examples: Sequence[tuple[str, str]]
    output: str = ""
    details: Callable[[], str] | None = None
    exits: tuple[tuple[int, str], ...] = ()

    @property
    def epilog(self) -> str:
        """The parts of the help that follow the options."""
        parts = [self.details()] if self.details else []
        if self.output:
            parts.append(f"JSON output:\n{indent(self.output, _BY)}")
        shown = "\n".join(f"{what}:\n  {line}" for what, line in self.examples)
        parts.append(f"examples:\n{indent(shown, _BY)}")
        codes = MEANINGS | dict(self.exits)
        listed = "\n".join(f"{code:<4} {codes[code]}" for code in sorted(codes))
        parts.append(f"exit codes:\n{indent(listed, _BY)}")
        return "\n\n".join(parts)


HELP = tomllib.loads(Path(__file__).with_name("help.toml").read_text("utf-8"))
"""What the help of every command says, by its name, in the order they are listed."""


def command(
    name: str,
    arguments: Callable[[argparse.ArgumentParser], None],
    run: Callable[[argparse.Namespace, Console], int],
    details: Callable[[], str] | None = None,
    exits: tuple[tuple[int, str], ...] = (),
) -> Command:
    """The command with the texts of this name."""
    return Command(arguments, run, **HELP[name], details=details, exits=exits)


def add_number(
    parser: argparse._ActionsContainer,
    flag: str,
    default: float,
    meaning: str,
    left_out: bool = False,
) -> None:
    """An option that takes a number of its default's kind. ``left_out``: of the options, unless
    it is given."""
    kept = argparse.SUPPRESS if left_out else default
    about = f"{meaning} (default: {default:g})"
    parser.add_argument(flag, type=type(default), default=kept, metavar="N", help=about)


class Parser(argparse.ArgumentParser):
    """The parser of a command: its help has all parts of the command, and a wrong argument is
    reported like other errors."""

    def __init__(self, prog: str, command: Command, hint: str = "") -> None:
        """With the options of the command and those that every command has; ``hint`` follows
        what is told of a wrong argument."""
        super().__init__(
            prog=prog,
            description=command.about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            add_help=False,
        )
        self._command, self._hint = command, hint
        command.arguments(self)
        common = self.add_argument_group("general")
        if command.output:
            common.add_argument("--json", action="store_true", help="print JSON, described below")
            common.add_argument(
                "-q", "--quiet", action="store_true", help="no notes, no progress; errors remain"
            )
        common.add_argument("-h", "--help", action="help", help="print this text")

    def format_help(self) -> str:
        """Options and the command's further parts, which are made only now."""
        self.epilog = self._command.epilog
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Exit code 2."""
        Console().error(f"{message}{self._hint} (see {self.prog} --help)")
        self.exit(USAGE)


OK, FAILED, USAGE, UNFINISHED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141

MEANINGS = {
    OK: "done",
    USAGE: "the request cannot be met as it was put; the message says why",
    UNFINISHED: "a model gave up; what is done is kept, the same command goes on there",
    INTERRUPTED: "interrupted (Ctrl+C)",
}
"""What every command's help says; 1 is a failed check or server, 141 a reader that left."""


class UsageError(Exception):
    """The request cannot be met; the message says why. Exit code 2."""


class Unfinished(Exception):
    """A model gave up; the message says why and how to go on. Exit code 3."""


@contextmanager
def user_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Turn the errors that a wrong setting or file raises (default: ValueError) into UsageError."""
    expected = kinds or (ValueError,)
    try:
        yield
    except expected as error:
        raise UsageError(_sentence(error)) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return ": ".join(filter(None, (str(error.filename or ""), error.strerror or str(error))))
    # str() of a KeyError is the repr of its message.
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
