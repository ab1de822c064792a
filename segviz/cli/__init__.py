"""The ``segviz`` command: starts the app, or works without a browser.

======================  =============================================================
``serve watch``         the app; the app on a growing file
``build ask sweep``     a memory, its evidence for a question, all settings
``compare reproduce``   several systems; tables and figures of the papers
``texts``               prompts for texts of nodes, and replies by a model elsewhere
``grade``               answers of a model to all questions, graded by another
``audit new``           the stage at which any memory loses evidence; a memory of one's own
``export convert``      views and conversations as files
``doctor``              check of the installation
``command console``     options, help, errors; output and messages
``source retrieval``    input files; retrieval settings
``build_options``       options of building; the memory of a command
``many tables``         many runs, resumed or in parallel; their reports
``models``              options of real models
======================  =============================================================

Each command is a function in the module of its name. The package may import all packages but
``ui``, which ``serve`` starts as a process. Public: ``main``, ``COMMANDS``, ``APP``, ``SEGVIZ``.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from segviz.cli.command import BROKEN_PIPE, FAILED, INTERRUPTED, Command
from segviz.cli.console import Console, OutputError
from segviz.cli.serve import serve as APP

__all__ = ["APP", "COMMANDS", "SEGVIZ", "main"]

COMMANDS = {
    "watch": "the app on a file that an agent is still writing",
    "build": "build a memory of a conversation and save it",
    "ask": "retrieve the evidence for a question",
    "sweep": "measure every policy, alpha and horizon over all questions",
    "compare": "measure several systems on the same leaves and questions",
    "texts": "have texts written elsewhere: prompts out, replies in",
    "grade": "have models answer all questions and grade the answers",
    "audit": "say at which stage a memory loses evidence",
    "new": "write a plug-in with a memory of your own",
    "reproduce": "measure a table or figure of a paper again",
    "export": "write a view of a memory for other programs and people",
    "convert": "turn any format segviz reads into a LoCoMo file",
    "doctor": "say what this installation has and lacks",
}
"""Line of help of every command, by name. The app starts without importing the commands."""

COMPLETE = "_SEGVIZ_COMPLETE"
"""Environment variable with which click prints a completion script, and a shell asks by it."""

_SHOW = warnings.showwarning


class _Commands(click.Group):
    """Group that imports a command, and the plug-ins it may name, when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> Command | None:
        """Imports a command's module when the command is needed; plug-ins first."""
        if name not in COMMANDS:
            return None
        from segviz.plugins import load_plugins

        load_plugins()
        command: Command = getattr(import_module(f"segviz.cli.{name}"), name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Returns completions of the first word typed, without importing the commands."""
        named = [name for name in COMMANDS if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=COMMANDS[name]) for name in named), *options]


SEGVIZ = _Commands("segviz", params=[p for p in APP.params if isinstance(p, click.Option)])
"""Group of all commands. It has the options of the app, so that a shell completes them, too."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command of ``arguments`` (default: ``sys.argv``); returns its exit code.

    The app starts if the first argument is no command.
    """
    if COMPLETE in os.environ:
        SEGVIZ.main([], prog_name="segviz")  # exits
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return _run(list(sys.argv[1:] if arguments is None else arguments))
            finally:
                Console().flush()
    except (OutputError, BrokenPipeError) as lost:
        # Redirected, because the interpreter would flush again at exit and fail.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        cause = lost.__cause__ or lost
        if isinstance(cause, BrokenPipeError):  # the reader has closed the pipe, as `head` does
            return BROKEN_PIPE
        Console().error(f"the output cannot be written ({cause})")
        return FAILED


def _show_warning(
    message: Warning | str, category: type[Warning], *where: Any, **more: Any
) -> None:
    """Shows a warning to users like an error, without the line of Python that gave it."""
    if category is UserWarning:
        Console().error(str(message))
    else:
        _SHOW(message, category, *where, **more)


def _run(given: list[str]) -> int:
    """Runs a command, or the app for other words; returns the exit code."""
    first = next(iter(given), "")
    whole: click.Command = SEGVIZ if first in COMMANDS else APP
    mistyped = whole is APP and not first.startswith("-") and not os.path.exists(first)
    close = get_close_matches(first, COMMANDS, n=1) if mistyped else []
    hint = f"; did you mean the command {close[0]}?" if close else ""
    try:
        with whole.make_context("segviz", given) as context:
            code: Any = whole.invoke(context)
            return int(code)
    except click.exceptions.Exit as end:  # after --help and --version
        return end.exit_code
    except click.ClickException as error:
        message, where = error.format_message(), getattr(error, "ctx", None)
        if where is None:
            Console().error(message + hint)
        else:  # a wrong argument: click's message, in the style of ours
            message = " ".join(message.split()).rstrip(".")
            Console().error(f"{message}{hint} (see {where.command_path} --help)")
        return error.exit_code
    except KeyboardInterrupt:
        Console().error("interrupted")
        return INTERRUPTED
