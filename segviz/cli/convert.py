"""``segviz convert``: converts any format segviz reads to LoCoMo's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from segviz.cli.command import OK, command, user_errors
from segviz.cli.console import Console
from segviz.cli.source import (
    add_conversation,
    add_file,
    output_path,
    path_of,
    read_conversation,
    read_corpus,
    write_file,
)
from segviz.conversation import Conversation
from segviz.export import locomo_json
from segviz.memory import open_memory
from segviz.store import recognises


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "conversation file of any format, or memory")
    parser.add_argument("-o", "--output", required=True, metavar="PATH", help="file to write")
    add_conversation(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    path = output_path(options.output, options.file)
    conversations = _conversations(options, console)
    write_file(path, locomo_json(conversations))
    told = [
        {"id": c.id, "sessions": len(c.sessions), "turns": len(c.turns), "format": c.source_format}
        for c in conversations
    ]
    if options.json:
        console.json("convert", {"output": str(path), "conversations": told})
        return OK
    turns = sum(len(c.turns) for c in conversations)
    console.line(f"{path}: {len(told)} conversations, {turns} turns")
    return OK


def _conversations(options: argparse.Namespace, console: Console) -> Sequence[Conversation]:
    if recognises(path_of(options.file)):
        with user_errors():
            return [open_memory(path_of(options.file)).conversation]
    if options.conversation:
        return [read_conversation(options, console)]
    corpus = read_corpus(options, console)
    with user_errors():
        return list(corpus)


COMMAND = command("convert", _arguments, _run)
