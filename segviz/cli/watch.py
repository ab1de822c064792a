"""``segviz watch``: the app on a conversation that an agent is still writing."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from segviz.cli import serve
from segviz.cli.command import UsageError
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


COMMAND = replace(
    serve.COMMAND,
    summary="the app on a file that an agent is still writing",
    about="""\
Opens the app on a JSON Lines file and lets the tree grow as the file does: a leaf per turn, on the
page within a second. A line is a message {"role": …, "content": …}, a record {"speaker": …,
"text": …, "timestamp": …}, or an object with such messages; segviz.Watch writes them from an
agent's loop. A last line without its end waits; a rotated or truncated file is gone on with.

The tree is kept in a folder beside the file, FILE.segviz: started again, the command goes on
where it was. After every 2,500 turns the tree is saved there as a memory of its own
(part-0001.npz, which segviz opens) and another begins, so that memory stays bounded however
long the agent talks.""",
    arguments=_arguments,
    run=_run,
    examples=(("What an agent writes now", "segviz watch agent.jsonl"),),
)
