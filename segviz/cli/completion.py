"""``segviz completion``: prints scripts that complete commands, options and their values."""

from __future__ import annotations

import argparse
from typing import Any

import shtab

from segviz.cli.command import OK, Parser, command
from segviz.cli.console import Console


def _full_parser() -> argparse.ArgumentParser:
    """One parser for all commands, as shtab reads it."""
    from segviz.cli import APP, COMMANDS  # which hold this command too

    whole = Parser("segviz", APP)
    # shtab completes either commands or files in one place, and here commands come first.
    whole._actions[:] = [action for action in whole._actions if action.option_strings]
    made: Any = lambda **given: Parser(given["prog"], given["command"])  # noqa: E731
    commands = whole.add_subparsers(parser_class=made)
    for name, one in COMMANDS.items():
        parser = commands.add_parser(name, help=one.summary, command=one)
        for action in parser._actions:
            if action.metavar in ("FILE", "PATH"):
                action.complete = shtab.FILE
    return whole


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=shtab.SUPPORTED_SHELLS, help="the shell to complete in")


def _run(options: argparse.Namespace, console: Console) -> int:
    console.raw(shtab.complete(_full_parser(), options.shell) + "\n")
    return OK


COMMAND = command("completion", _arguments, _run)
