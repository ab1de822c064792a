"""``segviz export``: writes a view of a memory as a file for other programs and people."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from textwrap import indent, wrap

from segviz.cli.building import add_building, memory_of, parameters_help
from segviz.cli.command import OK, UsageError, command, user_errors
from segviz.cli.console import Console
from segviz.cli.models import Models, models
from segviz.cli.retrieval import add_question, add_retrieval, settings_of
from segviz.cli.source import SAMPLE, add_file, output_path, path_of, reading, write_file
from segviz.export import FORMATS, SCALES, Format, View, file_name, view_of
from segviz.export.browser import BrowserError, find_browser
from segviz.export.pictures import made
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings
from segviz.store import recognises

_SCALE = 2
_BINARY = ("image/png", "application/pdf")


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "memory, or conversation file to build one from")
    parser.add_argument(
        "--format",
        required=True,
        choices=list(FORMATS),
        metavar="NAME",
        help="%(choices)s; described below",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="file to write, - for standard output (default: segviz-CONVERSATION-PART.ENDING)",
    )
    parser.add_argument(
        "--scale",
        type=int,
        choices=SCALES,
        help=f"dots for each pixel of a {_names(lambda one: one.scales)} (default: {_SCALE})",
    )
    parser.add_argument(
        "--dark",
        action="store_true",
        help=f"on a dark ground: {_names(lambda one: one.needs_browser)}",
    )
    add_question(parser)
    parser.add_argument("--node", type=int, metavar="N", help="node that is selected")
    add_retrieval(parser)
    add_building(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    chosen = FORMATS[options.format]
    with models(options, console) as clients:
        _check_format(options, chosen, console)
        memory = memory_of(options, console, clients)
        with user_errors(ValueError, BrowserError):
            view = _view(options, memory, clients)
            content = made(chosen, view, dark=options.dark, scale=options.scale or _SCALE)
    if options.output == "-":
        console.raw(content)
        return OK
    name = options.output or file_name(memory.conversation.id, chosen.part, chosen.ending)
    path = output_path(name, options.file)
    write_file(path, content)
    size = path.stat().st_size
    if options.json:
        told = {"format": options.format, "output": str(path), "bytes": size}
        console.json("export", {**told, "conversation": memory.conversation.id})
    else:
        console.line(f"{path} ({size:,} bytes)")
    return OK


def _check_format(options: argparse.Namespace, chosen: Format, console: Console) -> None:
    """UsageError for what can be refused before the work begins."""
    if options.scale is not None and not chosen.scales:
        raise UsageError(
            f"--scale is for {_names(lambda one: one.scales)}, not for {options.format}"
        )
    if options.dark and not chosen.needs_browser:
        raise UsageError(
            f"--dark is for {_names(lambda one: one.needs_browser)}, not for {options.format}"
        )
    if chosen.needs_browser:
        with user_errors(BrowserError):
            find_browser()
    if options.output == "-":
        if options.json:
            raise UsageError("--json and -o - would both write to standard output")
        if chosen.mime in _BINARY and console.out.isatty():
            raise UsageError(f"{options.format} is no text for a terminal; name a file with -o")
    elif options.output is not None:
        output_path(options.output, options.file)


def _names(has: Callable[[Format], object]) -> str:
    """The formats that have something, as words."""
    *most, last = [name for name, one in FORMATS.items() if has(one)]
    return f"{', '.join(most)} or {last}" if most else last


def _view(options: argparse.Namespace, memory: Memory, clients: Models) -> View:
    """What is shown; ValueError for what cannot be."""
    path = path_of(options.file)
    saved, sample = recognises(path), options.file.startswith(SAMPLE)
    asks = options.question is not None or options.number is not None
    settings = settings_of(options)
    return view_of(
        memory,
        options.question,
        settings if asks else RetrievalSettings(step=options.step),
        number=options.number,
        node=options.node,
        sample=options.file.removeprefix(SAMPLE) if sample else None,
        path=None if sample or saved else str(path.resolve()),
        saved=str(path.resolve()) if saved else None,
        read=reading(options),
        chat=clients.chat,
    )


def _details() -> str:
    rows = (f"{name:<10}{one.about}" for name, one in FORMATS.items())
    wrapped = ("\n".join(wrap(row, 84, subsequent_indent=" " * 10)) for row in rows)
    return f"formats:\n{indent(chr(10).join(wrapped), '  ')}\n\n{parameters_help()}"


COMMAND = command("export", _arguments, _run, _details)
