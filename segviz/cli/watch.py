"""``segviz watch``: starts the app on a conversation that an agent is still writing."""

from __future__ import annotations

from pathlib import Path

import click

from segviz.cli.command import Console, Options, UsageError, command
from segviz.cli.serve import server_options, start
from segviz.files import check_regular


@command
@click.argument("file", type=click.Path())
@server_options
def watch(options: Options, console: Console) -> int:
    """Opens the app on a JSON Lines file and lets the tree grow as the file does.

    Each turn becomes a leaf, on the page within a second. FILE need not exist yet. A line is
    a message {"role": …, "content": …}, a record {"speaker": …, "text": …, "timestamp": …}, or an
    object with such messages; segviz.Watch writes them from an agent's loop. A last line without
    a line break is read only if it is a complete JSON object.

    If lines that were read have changed since, the file is read again from the start, and the
    page says so. So the agent may append to the file, rewrite it, or replace it by another file.
    Nothing else is stored: after a restart, the command reads the file from the start.
    """
    path = Path(options.file).expanduser()
    try:
        if path.exists():
            check_regular(path)
        elif not path.parent.is_dir():
            raise UsageError(f"there is no folder {str(path.parent)!r} in which the file could be")
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"cannot watch {options.file!r} ({error})") from None
    return start(options, {"SEGVIZ_WATCH": str(path.resolve())}, console)
