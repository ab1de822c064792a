"""The ``segviz`` command: the app, and everything it does without a browser.

======================  =============================================================
``serve``               ``segviz`` and ``segviz FILE``: the app
``build ask sweep``     a memory, its evidence for a question, all settings
``compare``             systems side by side
``export convert``      views and conversations as files
``doctor completion``   what is installed; scripts for shells
``command``             what a command is, its options and its help
``console exits``       what is printed where; how a command ends
``source building``     files and memories that are worked on
``settings retrieval``  parameters of systems; settings of ``ask``
``many``                many runs by one command, resumed and shared out to workers
``models``              real models
======================  =============================================================
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches

from segviz.cli import ask, build, compare, completion, convert, doctor, export, serve, sweep
from segviz.cli.command import Command, Parser
from segviz.cli.console import Console, OutputError, flush_output
from segviz.cli.exits import (
    BROKEN_PIPE,
    FAILED,
    INTERRUPTED,
    UNFINISHED,
    USAGE,
    NoSuchFile,
    Unfinished,
    UsageError,
)

__all__ = ["APP", "COMMANDS", "main"]

COMMANDS: dict[str, Command] = {
    "build": build.COMMAND,
    "ask": ask.COMMAND,
    "sweep": sweep.COMMAND,
    "compare": compare.COMMAND,
    "export": export.COMMAND,
    "convert": convert.COMMAND,
    "doctor": doctor.COMMAND,
    "completion": completion.COMMAND,
}
"""Name to command, as the first argument. A row here is all a new one takes."""


def _listing() -> str:
    rows = "\n".join(f"  {name:<11} {command.summary}" for name, command in COMMANDS.items())
    return f"commands (segviz COMMAND --help tells more):\n{rows}"


APP: Command = replace(serve.COMMAND, details=_listing)
"""What runs where the first argument is no command."""


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
        _drop_output()
        if isinstance(lost.__cause__, BrokenPipeError):  # who reads has enough, as `head` does
            return BROKEN_PIPE
        Console().error(f"the output cannot be written ({lost.__cause__})")
        return FAILED


def _run(given: Sequence[str]) -> int:
    name = given[0] if given and given[0] in COMMANDS else ""
    command = COMMANDS.get(name, APP)
    parser = Parser(f"segviz {name}".strip(), command)
    # Intermixed: a question may stand before or behind the options.
    options = parser.parse_intermixed_args(given[bool(name) :])
    console = Console(getattr(options, "quiet", False))
    try:
        return command.run(options, console)
    except NoSuchFile as error:
        console.error(f"{error}{'' if name else _meant(options.file)}")
        return USAGE
    except UsageError as error:
        console.error(str(error))
        return USAGE
    except Unfinished as error:
        console.error(str(error))
        return UNFINISHED
    except KeyboardInterrupt:
        console.error("interrupted")
        return INTERRUPTED


def _meant(given: str) -> str:
    """What somebody may have mistyped who named a file that is not there."""
    close = get_close_matches(given, COMMANDS, n=1)
    return f"; did you mean the command {close[0]}?" if close else ""


def _drop_output() -> None:
    """What is still buffered goes nowhere, or the interpreter would try again at its end."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
