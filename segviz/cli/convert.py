"""``segviz convert``: converts any format segviz reads to LoCoMo's."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from segviz.cli.building import add_building, built
from segviz.cli.command import Command
from segviz.cli.console import Console
from segviz.cli.exits import OK, UsageError, user_errors
from segviz.cli.models import models
from segviz.cli.settings import parameters_help
from segviz.cli.source import (
    add_file,
    output_path,
    path_of,
    read_conversation,
    read_corpus,
    write_file,
)
from segviz.export import locomo_json
from segviz.memory import open_memory
from segviz.store import recognises

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segviz.conversation import Conversation

_TARGETS = ("locomo", "memory")


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "conversation file of any format, or memory")
    parser.add_argument(
        "--to",
        choices=_TARGETS,
        default="locomo",
        help="locomo: a LoCoMo file of all its conversations, or of --conversation; memory: a "
        "memory of one of them, built as by `segviz build` (default: %(default)s)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="PATH", help="file to write")
    add_building(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    path = output_path(options.output, options.file)
    packed = recognises(path_of(options.file))
    if options.to == "memory":
        if packed:
            raise UsageError(f"{options.file} is a memory already")
        with models(options, console) as clients:
            memory = built(options, console, clients)
        with user_errors(OSError):
            memory.save(path)
        conversations: Sequence[Conversation] = [memory.conversation]
    else:
        conversations = _conversations(options, console, packed)
        write_file(path, locomo_json(conversations))
    told = [
        {"id": c.id, "sessions": len(c.sessions), "turns": len(c.turns), "format": c.source_format}
        for c in conversations
    ]
    if options.json:
        console.json("convert", {"output": str(path), "to": options.to, "conversations": told})
        return OK
    turns = sum(len(c.turns) for c in conversations)
    console.line(f"{path}: {len(told)} conversations, {turns} turns ({options.to})")
    return OK


def _conversations(
    options: argparse.Namespace, console: Console, packed: bool
) -> Sequence[Conversation]:
    if packed:
        with user_errors():
            return [open_memory(path_of(options.file)).conversation]
    if options.conversation is not None:
        return [read_conversation(options, console)]
    corpus = read_corpus(options, console)
    with user_errors():
        return list(corpus)


COMMAND = Command(
    "turn any format segviz reads into a LoCoMo file or a memory",
    """\
Reads a file of any format segviz knows (told by its content) and writes it as a LoCoMo
file: sessions with dates, turns with ids and captions, questions with evidence. What was
repaired or left out is counted on standard error. A memory gives its conversation back.""",
    _arguments,
    _run,
    (
        ("A chat export as LoCoMo", "segviz convert chat.txt -o chat.json"),
        (
            "A table whose columns have other names",
            "segviz convert log.csv --columns text=body,speaker=who -o log.json",
        ),
        ("Straight to a memory", "segviz convert chat.txt --to memory -o chat.json.gz"),
    ),
    "command, output, to, conversations (each id, sessions, turns, format: what it was read as).",
    parameters_help,
)
