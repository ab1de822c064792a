"""The commands there are; a row here is all a new one takes."""

from __future__ import annotations

from dataclasses import replace

from segviz.cli import ask, build, compare, completion, convert, doctor, export, serve, sweep
from segviz.cli.command import Command

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
"""Name to command, as the first argument."""


def _listing() -> str:
    rows = "\n".join(f"  {name:<11} {command.summary}" for name, command in COMMANDS.items())
    return f"commands (segviz COMMAND --help tells more):\n{rows}"


APP: Command = replace(serve.COMMAND, details=_listing)
"""What runs where the first argument is no command."""
