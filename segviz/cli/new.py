"""``segviz new``: writes a plug-in with a memory system for the user to change."""

from __future__ import annotations

import re
import tomllib
from importlib import invalidate_caches
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from segviz.cli.command import OK, Options, UsageError, command, output_options, user_errors
from segviz.cli.console import Console
from segviz.cli.source import write_file
from segviz.systems import SYSTEMS

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@command
@click.argument("name", metavar="NAME")
@output_options
def new(options: Options, console: Console) -> int:
    """Writes a plug-in with a memory of your own into the new folder NAME.

    The memory has two methods: add reads the conversation, retrieve finds texts for a question. It
    works as written, with a test; change both methods. segviz builds, asks, compares and audits
    it from inside the folder, and from anywhere once it is installed.

    JSON: command, folder, files.

    Examples:
        segviz new my-notes
    """
    name, folder = options.name, Path(options.name)
    if not _NAME.fullmatch(name) or len(name) > 40 or name in SYSTEMS:
        taken = "; it is a system of segviz" * (name in SYSTEMS)
        expected = "expected small letters, digits and hyphens, as my-notes"
        raise UsageError(f"NAME is {name!r:.60}{taken}; {expected}")
    module = name.replace("-", "_")
    if find_spec(module) is not None:
        raise UsageError(
            f"NAME is {name!r:.60}, and Python imports another {module!r:.60}, which this would "
            f"hide; take my-{name}, for example"
        )
    if folder.exists():
        raise UsageError(f"there is a {str(folder)!r} already; choose another name or remove it")
    with user_errors(OSError):
        folder.mkdir()
    # Fill the name into the paths and texts of the templates.
    names = {"name": name, "module": module, "kind": name.title().replace("-", "")}
    templates = tomllib.loads(files("segviz.cli").joinpath("new.toml").read_text("utf-8"))
    written = {Template(path).substitute(names): text for path, text in templates.items()}
    invalidate_caches()  # the folder was not there when the module was sought
    for path, text in written.items():
        write_file(folder / path, Template(text).substitute(names))
    if options.json:
        console.json("new", {"folder": str(folder), "files": list(written)})
        return OK
    console.line(f"{folder}: {', '.join(written)}")
    console.line("Next, in this folder:")
    console.line("  python -m pytest   # pip install pytest, if it is missing")
    spec = f"{names['module']}:SYSTEM"
    console.line(f"  segviz audit sample:ines-theo --unit turn --system {spec}")
    console.line(f"  segviz compare sample:ines-theo --unit turn --systems {spec},bm25")
    console.line(f"  pip install -e .   # then it is a system of the app, too: {name}")
    return OK
