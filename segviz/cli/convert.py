"""``segviz convert``: converts any format segviz reads to LoCoMo's."""

from __future__ import annotations

from collections.abc import Sequence

from segviz.cli.build_options import refuse_idle
from segviz.cli.command import OK, Options, UsageError, command, output_options, user_errors
from segviz.cli.console import Console
from segviz.cli.source import (
    conversation_options,
    file_argument,
    output_path,
    path_of,
    path_option,
    read_conversation,
    read_corpus,
    write_file,
)
from segviz.conversation import Conversation
from segviz.export import locomo_json
from segviz.memory import open_memory
from segviz.store import recognises
from segviz.text.captions import counted


@command
@file_argument
@path_option("-o --output", "File to write; - for standard output.", required=True)
@conversation_options()
@output_options
def convert(options: Options, console: Console) -> int:
    """Converts any format that segviz reads to a LoCoMo file.

    The content of FILE determines its format. The LoCoMo file has sessions with dates, turns with
    ids and captions, questions with evidence. Standard error counts repaired and skipped records.
    For a memory, its conversation is written.

    JSON: command, output, conversations (each id, sessions, turns, format of the input).

    Examples:
        segviz convert chat.txt -o chat.json
        segviz convert log.csv --columns text=body,speaker=who -o log.json
    """
    path = None if options.output == "-" else output_path(options.output, options)
    if path is None and options.json:
        raise UsageError("--json and -o - would both write to standard output")
    conversations = _conversations(options, console)
    # A pipe gets the file alone.
    if path is None:
        console.raw(locomo_json(conversations))
        return OK
    write_file(path, locomo_json(conversations))
    described = [
        {"id": c.id, "sessions": len(c.sessions), "turns": len(c.turns), "format": c.source_format}
        for c in conversations
    ]
    if options.json:
        console.json("convert", {"output": str(path), "conversations": described})
        return OK
    turns = sum(len(c.turns) for c in conversations)
    number = counted(len(described), "conversation")
    console.line(f"{path}: {number}, {counted(turns, 'turn')}")
    return OK


def _conversations(options: Options, console: Console) -> Sequence[Conversation]:
    """Returns the conversation of a saved memory, or those of a file."""
    if recognises(path_of(options.file)):
        refuse_idle(options.file, options)
        with user_errors():
            return [open_memory(path_of(options.file)).conversation]
    if options.conversation:
        return [read_conversation(options, console)]
    corpus = read_corpus(options, console)
    with user_errors():
        return list(corpus)
