"""``segviz export``: a view of a memory as a file for other programs and people."""

from __future__ import annotations

import argparse
from textwrap import wrap

from segviz.cli.building import add_building, memory_of
from segviz.cli.command import Command, indented
from segviz.cli.console import Console
from segviz.cli.exits import OK, UsageError, user_errors
from segviz.cli.models import Models, models
from segviz.cli.retrieval import add_question, add_retrieval, settings_of
from segviz.cli.settings import parameters_help
from segviz.cli.source import SAMPLE, add_file, is_memory, output_path, path_of, write_file
from segviz.export import FORMATS, View, file_name, view_of
from segviz.memory import Memory


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
    add_question(parser)
    parser.add_argument("--node", type=int, metavar="N", help="node that is selected")
    add_retrieval(parser)
    add_building(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    chosen = FORMATS[options.format]
    with models(options, console) as clients:
        if options.output not in (None, "-"):
            output_path(options.output, options.file)
        memory = memory_of(options, console, clients)
        with user_errors():
            view = _view(options, memory, clients)
            content = chosen.make(view)
    if options.output == "-":
        if options.json:
            raise UsageError("--json and -o - would both write to standard output")
        console.raw(content if isinstance(content, str) else content.decode("utf-8"))
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


def _view(options: argparse.Namespace, memory: Memory, clients: Models) -> View:
    """What is shown; ValueError for what cannot be."""
    path = path_of(options.file)
    saved, sample = is_memory(path), options.file.startswith(SAMPLE)
    asks = options.question is not None or options.number is not None
    settings = {**settings_of(options), "chat": clients.chat} if asks else {"step": options.step}
    return view_of(
        memory,
        options.question,
        number=options.number,
        node=options.node,
        sample=options.file.removeprefix(SAMPLE) if sample else None,
        path=None if sample or saved else str(path.resolve()),
        saved=str(path.resolve()) if saved else None,
        **settings,
    )


def _details() -> str:
    rows = (f"{name:<10}{one.about}" for name, one in FORMATS.items())
    wrapped = ("\n".join(wrap(row, 84, subsequent_indent=" " * 10)) for row in rows)
    return f"formats:\n{indented(chr(10).join(wrapped))}\n\n{parameters_help()}"


COMMAND = Command(
    "write a view of a memory for other programs and people",
    """\
Writes a memory, or its answer to a question, as a file: an offline HTML page, a picture, a
graph, a table, or the Python that brings the view back. With --question or --number the
view is that question's evidence, else the tree. The same view gives the same bytes.""",
    _arguments,
    _run,
    (
        ("The tree as one HTML page", "segviz export boat.json.gz --format html"),
        (
            "The ranks of a question",
            "segviz export boat.json.gz --format ranks --number 3 -o 3.csv",
        ),
        (
            "A picture of the first 40 steps",
            "segviz export sample:ines-theo --format svg --step 40",
        ),
        ("A tree for another program", "segviz export boat.json.gz --format newick -o - | head -1"),
    ),
    "command, format, output, bytes, conversation.",
    _details,
)
