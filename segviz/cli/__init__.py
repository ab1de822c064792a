"""Defines the ``segviz`` command: it starts the app, or works without a browser.

======================  =============================================================
``serve watch``         ``segviz`` and ``segviz FILE``: the app; on a file that grows
``build ask sweep``     a memory, its evidence for a question, all settings
``compare reproduce``   systems side by side; tables and figures of the papers
``export convert``      views and conversations as files
``doctor completion``   what is installed; scripts for shells
``command``             the record of a command, its parser and its help (``help.toml``)
``console exits``       output and messages; exit codes and the errors behind them
``source building``     the files and memories a command works on
``settings retrieval``  parameters of systems; settings of ``ask``
``many``                many runs by one command, resumed and on several workers
``models``              options for real models
======================  =============================================================

May import every package but ``ui``, which ``serve`` starts as a process. Public face: ``main``,
``COMMANDS`` and ``APP``.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from segviz.cli import serve
from segviz.cli.command import (
    BROKEN_PIPE,
    FAILED,
    HELP,
    INTERRUPTED,
    UNFINISHED,
    USAGE,
    Command,
    Parser,
    Unfinished,
    UsageError,
)
from segviz.cli.console import Console, OutputError, flush_output

__all__ = ["APP", "COMMANDS", "main"]


class _Commands(Mapping[str, Command]):
    """The module of a command is imported when it is asked for: the app starts without them."""

    _NAMES = tuple(name for name in HELP if name != "serve")

    def __getitem__(self, name: str) -> Command:
        if name not in self._NAMES:
            raise KeyError(name)
        from segviz.plugins import load_plugins

        load_plugins()
        command: Command = import_module(f"segviz.cli.{name}").COMMAND
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._NAMES)

    def __len__(self) -> int:
        return len(self._NAMES)


COMMANDS = _Commands()
"""Name, as the first argument, to command. A new one is a module and its texts in help.toml."""


def _listing() -> str:
    rows = "\n".join(f"  {name:<11} {HELP[name]['summary']}" for name in COMMANDS)
    return f"commands (segviz COMMAND --help tells more):\n{rows}"


APP: Command = replace(serve.COMMAND, details=_listing)
"""The command that runs where the first argument names none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of ``arguments`` (default: those of the process); its exit code.

    The first argument names a command where it is one, else the app starts. SystemExit
    after help and for wrong arguments, as argparse has it.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        try:
            return _run(given)
        finally:
            flush_output()
    except OutputError as lost:
        # Discarded, as the interpreter would try to write it again at its exit.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(lost.__cause__, BrokenPipeError):  # who reads has enough, as `head` does
            return BROKEN_PIPE
        Console().error(f"the output cannot be written ({lost.__cause__})")
        return FAILED


def _run(given: Sequence[str]) -> int:
    name = given[0] if given and given[0] in COMMANDS else ""
    command = COMMANDS.get(name, APP)
    first = "" if name else next(iter(given), "")
    mistyped = not first.startswith("-") and not os.path.exists(first)
    close = get_close_matches(first, COMMANDS, n=1) if mistyped else []
    hint = f"; did you mean the command {close[0]}?" if close else ""
    parser = Parser(f"segviz {name}".strip(), command, hint)
    options = _parsed(parser, given[bool(name) :])
    console = Console(getattr(options, "quiet", False))
    try:
        return command.run(options, console)
    except UsageError as error:
        console.error(f"{error}{hint}")
        return USAGE
    except Unfinished as error:
        console.error(str(error))
        return UNFINISHED
    except KeyboardInterrupt:
        console.error("interrupted")
        return INTERRUPTED


_AS_IT_IS = "\0"


def _parsed(parser: Parser, given: Sequence[str]) -> Namespace:
    """The options. Intermixed: a question may stand before or behind them. What follows ``--`` is
    none, for which argparse then has no ear: it is marked and the mark taken off again."""
    end = given.index("--") if "--" in given else len(given)
    marked = [_AS_IT_IS + one if one.startswith("-") else one for one in given[end + 1 :]]
    options = parser.parse_intermixed_args([*given[:end], *marked])

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(one) for one in value]
        return value.removeprefix(_AS_IT_IS) if isinstance(value, str) else value

    return Namespace(**{name: plain(value) for name, value in vars(options).items()})
