"""``segviz export``: writes a view of a memory as a file for other programs and people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import click

from segviz.cli.build_options import build_options, memory_of
from segviz.cli.command import OK, Options, UsageError, command, option, output_options, user_errors
from segviz.cli.console import Console
from segviz.cli.models import Models, models
from segviz.cli.retrieval import number_option, retrieval_options, settings_of
from segviz.cli.source import SAMPLE, file_argument, output_path, path_of, reading, write_file
from segviz.export import FORMATS, BrowserError, Format, View, file_name, view_of, without_texts
from segviz.export.browser import find_browser
from segviz.export.pictures import made
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings
from segviz.store import recognises

_BINARY = ("image/png", "image/webp", "application/octet-stream")


def _names(has: Callable[[Format], object]) -> str:
    """Returns the names of the formats for which ``has`` is true, as ``png, svg or html``."""
    *most, last = [name for name, one in FORMATS.items() if has(one)]
    return f"{', '.join(most)} or {last}" if most else last


_OUTPUT, _NAMED = "File to write, - for standard output.", "segviz-CONVERSATION-PART.ENDING"
_DARK = f"Dark background, for {_names(lambda one: one.needs_browser)}."
_BARE = f"Leave out all texts and names, except for {_names(lambda one: not one.bare)}."
_formats = click.Choice(list(FORMATS))


@command
@file_argument
@option("--format", "Format, listed below.", required=True, type=_formats, metavar="NAME")
@option("-o --output", _OUTPUT, _NAMED, type=click.Path(), metavar="PATH")
@option("--dark", _DARK, is_flag=True)
@option("--bare", _BARE, is_flag=True)
@option("--question", "The question to ask.")
@number_option
@option("--node", "Selected node.", type=int)
@retrieval_options
@build_options()
@output_options
def export(options: Options, console: Console) -> int:
    """Writes a memory, or its evidence for a question, as a file.

    The file is an offline HTML page, a picture, a graph, a table, or Python code that restores the
    view. With --question or --number the view is the evidence for that question, otherwise the
    tree. The same view gives the same bytes. FILE is a memory, a conversation file to build one
    from, or sample:NAME for a bundled one.

    Pictures are drawn by an installed Chromium, Chrome, Edge or Brave, run without network and
    without your profile. SEGVIZ_BROWSER names another one; segviz doctor says which is found.

    JSON: command, format, output, bytes, conversation.

    Examples:
        segviz export boat.json.gz --format html
        segviz export boat.json.gz --format ranks --number 3 -o 3.csv
        segviz export sample:ines-theo --format svg --step 40
        segviz export boat.json.gz --format png --dark
        segviz export boat.json.gz --format nodes -o - | head -1
    """
    chosen = FORMATS[options.format]
    with models(options, console) as clients:
        _check_format(options, chosen, console)
        memory = memory_of(options, console, clients)
        with user_errors(ValueError, BrowserError):
            view = _view(options, memory, clients)
            content = made(chosen, view, dark=options.dark)
    # Write the content to standard output or into the file.
    if options.output == "-":
        console.raw(content)
        return OK
    named = view.memory.conversation.id
    name = options.output or file_name(named, chosen.part, chosen.ending)
    path = output_path(name, options)
    write_file(path, content)
    size = path.stat().st_size
    if options.json:
        written = {"format": options.format, "output": str(path), "bytes": size}
        console.json("export", {**written, "conversation": memory.conversation.id})
    else:
        console.line(f"{path} ({size:,} bytes)")
    return OK


def _check_format(options: Options, chosen: Format, console: Console) -> None:
    """Raises UsageError if ``options`` do not fit the chosen format, before the work begins."""
    if options.dark and not chosen.needs_browser:
        raise UsageError(
            f"--dark is for {_names(lambda one: one.needs_browser)}, not for {options.format}"
        )
    if options.bare and not chosen.bare:
        raise UsageError(f"--bare: the format {options.format} makes no sense without texts")
    if chosen.needs_browser:
        with user_errors(BrowserError):
            find_browser()
    if options.output == "-":
        if options.json:
            raise UsageError("--json and -o - would both write to standard output")
        if chosen.mime in _BINARY and console.out.isatty():
            raise UsageError(f"{options.format} is binary; name a file with -o")
    elif options.output is not None:
        output_path(options.output, options)


def _view(options: Options, memory: Memory, clients: Models) -> View:
    """Returns the view that the options describe; raises ValueError for impossible settings."""
    path = path_of(options.file)
    saved, sample = recognises(path), options.file.startswith(SAMPLE)
    asks = options.question is not None or options.number is not None
    settings = settings_of(options, memory)
    view = view_of(
        memory,
        options.question,
        settings if asks else RetrievalSettings(step=options.step),
        number=options.number,
        node=options.node,
        chat=clients.chat,
    )
    # The script that reproduces the view names the file, and how it was read.
    bookmark = replace(
        view.bookmark,
        sample=options.file.removeprefix(SAMPLE) if sample else None,
        texts=options.texts or view.bookmark.texts,
        path=None if sample or saved else str(path.resolve()),
    )
    name = str(path.resolve()) if saved else None
    view = replace(view, bookmark=bookmark, saved=name, read=reading(options))
    return without_texts(view) if options.bare else view


def _list_formats(formatter: click.HelpFormatter) -> None:
    with formatter.section("Formats"):
        formatter.write_dl([(name, one.about) for name, one in FORMATS.items()])


export.more = _list_formats
