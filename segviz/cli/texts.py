"""``segviz texts``: has texts of a memory written elsewhere, by files of prompts and replies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from segviz.cli.build_options import (
    SYSTEM,
    UNIT,
    build_one,
    opened,
    refuse_idle,
    texts_option,
    written_texts,
)
from segviz.cli.command import (
    OK,
    UNFINISHED,
    Console,
    Options,
    UsageError,
    command,
    option,
    output_options,
    user_errors,
)
from segviz.cli.models import Models
from segviz.cli.source import (
    conversation_options,
    file_argument,
    output_path,
    path_of,
    path_option,
    read_conversation,
    write_file,
)
from segviz.embedding import get_embedder
from segviz.llm import Endpoint
from segviz.memory import Memory, NoEmbedder
from segviz.memory.written import (
    NOTHING_TO_WRITE,
    Replied,
    TextRequest,
    batch_file,
    can_be_written,
    instead_of_extracts,
    left,
    read_replies,
    with_replies,
)
from segviz.store import recognises
from segviz.text.captions import counted

_PROMPTS = ".jsonl"
_OUTPUT = (
    "File to write; repeatable: prompts if the name ends in .jsonl, else the memory. Without one "
    "for the memory, replies are saved in FILE if it is a memory."
)
_REPLIES = "Replies to put on the memory: output of a batch, or lines with custom_id, title, text."
_MODEL = "Model named in the prompts."
_LONGEST = "Longest answer named in the prompts, tokens; models that reason first need room for it."


@command
@file_argument
@path_option("-o --output", _OUTPUT, multiple=True)
@path_option("--replies", _REPLIES, "FILE")
@option("--model", _MODEL, default="MODEL", metavar="NAME")
@option("--max-tokens", _LONGEST, default=Endpoint.max_tokens, type=click.IntRange(1))
@conversation_options()
@texts_option
@output_options
def texts(options: Options, console: Console) -> int:
    """Has titles and summaries written by a model elsewhere, level by level.

    FILE is a memory, or a conversation or sample:NAME, of which the default memory is built (for
    another, segviz build first). The prompts of the lowest level with extracts are written in the
    batch format of the OpenAI API, one JSON object a line: custom_id (conversation and units),
    method, url, body. A reply is a line of the output of such a batch, or an object with custom_id,
    title, text and, if not written by hand, by. Replies are checked as those of a server are.
    Refused ones are named with the reason, and their prompts are written again. The memory keeps
    unfinished work.

    Without options the command says how many texts are left. Exit code 3 means that replies were
    refused; the others are saved.

    JSON: command, output (file of the memory, null if none was written), prompts (file of the
    prompts, or null), asked (number of prompts), put (number of texts), refused (custom_id ->
    reason), left (level -> number of texts that are not written).

    Examples:
        segviz texts chat.json -o chat.npz -o prompts.jsonl
        segviz texts chat.npz --replies replies.jsonl -o prompts.jsonl
    """
    built = recognises(path_of(options.file))
    output, prompts = _outputs(options, built)
    memory = _memory(options, console, built)
    # Put the replies on, if any, and save the memory.
    result = Replied({}, {})
    if options.replies is not None:
        with user_errors(ValueError, OSError, NoEmbedder):
            replies = read_replies(path_of(options.replies).read_text("utf-8"))
            memory, result = with_replies(memory, replies)
    if output is not None:
        with user_errors(OSError):
            memory.save(output)
    # Write the prompts of the lowest level that is left.
    requests = memory.prompts()
    if prompts is not None and requests:
        write_file(prompts, batch_file(requests, options.model, options.max_tokens))
    wrote = prompts if requests else None
    remaining = left(memory)
    put = sum(map(len, result.texts.values()))
    code = UNFINISHED if result.refused else OK
    if options.json:
        content = {
            "output": output and str(output),
            "prompts": wrote and str(wrote),
            "asked": len(requests) if wrote else 0,
            "put": put,
            "refused": result.refused,
            "left": remaining,
        }
        console.json("texts", content)
        return code
    if options.replies is not None:
        console.line(f"{output}: {counted(put, 'text')} put, {len(result.refused)} refused")
        for name, reason in result.refused.items():
            console.line(f"  {name}: {reason}")
    elif output is not None:
        console.line(f"{output}: {memory.system} of {memory.conversation.id}")
    if prompts is not None:
        _say_prompts(console, prompts, requests, output or (options.file if built else None))
    if remaining:
        levels = ", ".join(f"{number} on level {level}" for level, number in remaining.items())
        console.line(f"{counted(sum(remaining.values()), 'text')} left: {levels}")
    else:
        console.line("every text is written" if can_be_written(memory) else NOTHING_TO_WRITE)
    return code


def _outputs(options: Options, built: bool) -> tuple[Path | None, Path | None]:
    """Returns the files to write, of the memory and of the prompts; None for each that is not.

    Replies to a memory file are saved in it, unless another file is named for the memory.
    """
    output, prompts = None, None
    saved = Options(**{**vars(options), "file": ()}) if built else options
    for given in options.output:
        if given.endswith(_PROMPTS):
            if prompts is not None:
                raise UsageError("name one .jsonl file for the prompts")
            prompts = output_path(given, options)
        elif output is not None:
            raise UsageError("name one file for the memory; prompts go to a name in .jsonl")
        else:
            output = output_path(given, saved)
    if built and output is None and options.replies is not None:
        output = output_path(options.file, saved)
    if options.replies is not None and output is None:
        raise UsageError("name the file of the memory with the replies: -o memory.npz")
    return output, prompts


def _memory(options: Options, console: Console, built: bool) -> Memory:
    """Opens the memory in the file, or builds the default one of its conversation, offline."""
    models = Models(get_embedder())
    if built:
        refuse_idle(options.file, options)
        return opened(path_of(options.file), options, models, console)
    conversation, texts = read_conversation(options, console), written_texts(options, UNIT)
    memory = build_one(conversation, SYSTEM, {}, UNIT, console, models)
    return instead_of_extracts(memory, texts)


def _say_prompts(
    console: Console, prompts: Path, requests: Sequence[TextRequest], memory: Path | str | None
) -> None:
    """Says what the file of prompts has, and which command takes the replies."""
    if not requests:
        console.line(f"{prompts}: not written, as there is no prompt")
        return
    console.line(f"{prompts}: {counted(len(requests), 'prompt')} of level {requests[0].level}")
    command = f"segviz texts {memory} --replies FILE -o {prompts}"
    again = "the same command with --replies FILE -o MEMORY.npz"
    console.note(f"with the replies: {command if memory else again}")
