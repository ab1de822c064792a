"""``segviz export``: a view of a memory as a file for other programs and people."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from segviz import store
from segviz.bookmark import Bookmark, differing
from segviz.cli.building import add_building, memory_of
from segviz.cli.command import Command
from segviz.cli.console import Console
from segviz.cli.exits import OK, UsageError, user_errors
from segviz.cli.models import models
from segviz.cli.retrieval import NAMES, add_question, add_retrieval, question_of, settings_of
from segviz.cli.settings import parameters_help
from segviz.cli.source import SAMPLE, add_file, is_memory, output_path, path_of, write_file
from segviz.conversation import Question
from segviz.export import (
    View,
    file_name,
    graphml,
    html_page,
    newick,
    nodes_csv,
    python_snippet,
    ranks_csv,
    tree_svg,
)
from segviz.memory import Memory
from segviz.systems import SYSTEMS


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a view: part and ending of the file's name, what it is, how."""

    part: str
    ending: str
    about: str
    make: Callable[[View], str | bytes]


FORMATS: dict[str, Format] = {
    "html": Format("view", "html", "one page that works offline; saves PNG, prints", html_page),
    "svg": Format("view", "svg", "the picture, with legend", tree_svg),
    "json": Format(
        "memory", "json", "the whole memory", lambda view: store.dump(view.memory.saved)
    ),
    "graphml": Format(
        "graph",
        "graphml",
        "columns, edges, relations",
        lambda view: graphml(view.structure, view.memory.conversation.id),
    ),
    "newick": Format("tree", "nwk", "a line per root", lambda view: newick(view.structure)),
    "nodes": Format("nodes", "csv", "CSV with a row per node", nodes_csv),
    "ranks": Format("ranks", "csv", "CSV with a row per admissible node; asks", ranks_csv),
    "python": Format("view", "py", "a script that brings the view back", python_snippet),
}


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "memory, or conversation file to build one from")
    listed = "; ".join(f"{name}: {one.about}" for name, one in FORMATS.items())
    parser.add_argument(
        "--format", required=True, choices=list(FORMATS), metavar="NAME", help=listed
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
        text, question = question_of(options, memory.conversation)
        with user_errors():
            result = None
            if text is not None:
                result = memory.ask(text, chat=clients.chat, **settings_of(options))
            step = len(memory.steps) if options.step is None else options.step
            structure = memory.at(step) if result is None else result.structure
        if options.node is not None and not 0 <= options.node < len(structure):
            raise UsageError(
                f"there is no node {options.node}; nodes are 0 to {len(structure) - 1}"
            )
        view = View(memory, structure, _bookmark(options, memory, question, text), result)
        with user_errors():
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


def _bookmark(
    options: argparse.Namespace, memory: Memory, question: Question | None, text: str | None
) -> Bookmark:
    """The view as a link would say it, so that the script can say it too."""
    shown = {name: getattr(options, name) for name in NAMES if name not in ("budget", "step")}
    kind = SYSTEMS.get(memory.system)
    sample = options.file.startswith(SAMPLE)
    moment = "step" if text is None else "asked"
    return Bookmark(
        sample=options.file.removeprefix(SAMPLE) if sample else None,
        path=None if sample else str(Path(path_of(options.file)).resolve()),
        conversation=memory.conversation.id,
        unit=memory.unit,
        system=memory.system,
        settings=differing(kind, memory.settings) if kind else {},
        question=question.index if question else None,
        text=text if question is None else None,
        node=options.node,
        **{moment: options.step},
        **shown,
    )


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
    parameters_help,
)
