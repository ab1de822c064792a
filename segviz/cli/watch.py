"""``segviz watch``: the app on a conversation that an agent is still writing."""

from __future__ import annotations

import argparse
from pathlib import Path

from segviz.cli import serve
from segviz.cli.command import UsageError, command
from segviz.cli.console import Console
from segviz.files import check_regular


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="JSON Lines that grow; it need not be there yet")
    serve.server_arguments(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    path = Path(options.file).expanduser()
    try:
        if path.exists():
            check_regular(path)
        elif not path.parent.is_dir():
            raise UsageError(f"there is no folder {str(path.parent)!r} in which the file could be")
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"cannot watch {options.file!r} ({error})") from None
    return serve.serve(options, {"SEGVIZ_WATCH": str(path.resolve())}, console)


COMMAND = command("watch", _arguments, _run, exits=serve.COMMAND.exits)
