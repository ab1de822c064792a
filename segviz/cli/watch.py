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
    parser.add_argument(
        "--state",
        metavar="FOLDER",
        help="where the tree is kept, so that a restart goes on (default: FILE.segviz)",
    )
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
    chosen = {"SEGVIZ_WATCH": str(path.resolve())}
    if options.state is not None:
        chosen["SEGVIZ_WATCH_STATE"] = str(Path(options.state).expanduser().resolve())
    return serve.serve(options, chosen, console)


COMMAND = command("watch", _arguments, _run, exits=serve.COMMAND.exits)
