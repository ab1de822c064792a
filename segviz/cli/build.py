"""``segviz build``: builds a memory file from a conversation."""

from __future__ import annotations

from collections import Counter
from typing import Any

from segviz.cli.build_options import build_options, built, parameters_help
from segviz.cli.command import OK, Options, UsageError, command, output_options, user_errors
from segviz.cli.console import Console, plain
from segviz.cli.models import models
from segviz.cli.source import file_argument, output_path, path_of, path_option
from segviz.evaluation.node_texts import contentless_lines, contentless_share
from segviz.memory import Memory
from segviz.retrieval import Retriever
from segviz.store import recognises
from segviz.text.captions import counted
from segviz.tree import total_cost
from segviz.tree.shape import Shape, shape

_OUTPUT = "File of the memory: JSON if the name ends in .json or .gz, else a container."


@command
@file_argument
@path_option("-o --output", _OUTPUT, required=True)
@build_options()
@output_options
def build(options: Options, console: Console) -> int:
    """Builds a memory of a conversation, unit by unit, and saves it.

    FILE is a conversation file, or sample:NAME for a bundled one (ines-theo, noor-caleb,
    topic-switching, recurrence). segviz ask, segviz export and segviz.open() read the memory. Its
    file is a container, a zip file of tables with checksums, usually named .npz. If PATH ends in
    .json or .gz, the file is JSON, with .gz compressed. Everything is computed on this machine
    unless a model is named. The same file and options give the same bytes.

    A build with models may be interrupted or killed: every answer is saved, and the same command
    continues there. An offline build starts again (some 90 seconds for 100,000 turns, under a
    second for most conversations). The file is written at the end; an older one stays until then.

    JSON: command, output, conversation, system, settings, unit, embedder, chat (null offline),
    steps, shape (kind, leaves, nodes, unary, max_depth, mean_depth, depth_std, branching, widest,
    trees, shared, families, facts, nodes_per_leaf: see segviz.tree.shape; contentless_lines: level
    -> share of the lines of inner nodes with fewer than two content words), calls and tokens of
    chat models, decisions and texts (asked of a model; by_model: those it made), provenance
    (versions, models by role, prompts).

    Examples, the last with a local model:
        segviz build sample:ines-theo -o boat.json.gz
        segviz build talk.json --set compatibility=cosine -o talk.json.gz
        segviz build t.json --server vllm --model qwen3 --set annotate=llm -o m.gz
    """
    path = output_path(options.output, options)
    if recognises(path_of(options.file)):
        raise UsageError(f"{options.file} is a built memory; give the conversation's file")
    with models(options, console) as clients:
        memory = built(options, console, clients)
    with user_errors(OSError):
        memory.save(path)
    if ":" in (options.system or "") and isinstance(memory.model, Retriever):
        console.note(
            f"the search of {options.system} is not saved: asked from {path}, its texts are ranked "
            "by segviz's relevance; give the conversation and --system to ask by its search"
        )
    # Print the summary: as JSON, or the shape and, with a model, its cost.
    summary = summary_of(memory)
    if options.json:
        console.json("build", {"output": str(path), **summary})
        return OK
    console.line(f"{path}: {memory.system} of {memory.conversation.id}")
    console.line(_shape_line(shape(memory.structure), memory.unit))
    empty = contentless_share(memory.structure, memory.conversation.speakers)
    if empty is not None:
        console.line(f"{empty:.1%} of the lines in inner nodes are contentless")
    console.line(f"embedded with {memory.embedder.name}")
    if memory.chat:
        cost, measured = total_cost(memory.steps), shape(memory.structure)
        console.line(f"{summary['calls']} calls of {memory.chat}, {summary['tokens']} tokens")
        console.line(f"{cost.by_model or 'nothing was asked of the model'}")
        if cost.decided and measured.nodes == measured.leaves + 1:  # small models always join
            console.line("the model never split: a single node holds all leaves")
    return OK


def _shape_line(measured: Shape, unit: str) -> str:
    """Returns a line with the numbers of leaves and nodes, and depth or kinds of a memory."""
    start = (
        f"{counted(measured.leaves, 'leaf', 'leaves')} ({unit}), {counted(measured.nodes, 'node')}"
    )
    if measured.unary:
        start += f" (and {measured.unary:,} that repeat the text of an only child)"
    if measured.facts:
        kinds = Counter[str]()
        for layer in measured.facts.layers:
            kinds[layer.kind] += layer.nodes - layer.repeats
        parts = [f"{number} of kind {kind}" for kind, number in kinds.items() if kind and number]
        relations = sum(number for _, number in measured.facts.relations)
        return ", ".join([start, *parts, *([f"{relations} relations"] if relations else [])])
    trees = f", {measured.trees} trees" if measured.trees > 1 else ""
    return (
        f"{start}{trees}, depth {measured.mean_depth:.1f} (sd {measured.depth_std:.1f}, at most "
        f"{measured.max_depth}), {measured.branching:.1f} children per node"
    )


def summary_of(memory: Memory) -> dict[str, Any]:
    """Returns the fields that ``segviz build --json`` prints about a memory."""
    structure, cost = memory.structure, total_cost(memory.steps)
    measured = shape(structure)
    return {
        "conversation": memory.conversation.id,
        "system": memory.system,
        "settings": memory.settings,
        "unit": memory.unit,
        "embedder": memory.embedder.name,
        "chat": memory.chat or None,
        "steps": len(memory.steps),
        "shape": {
            **plain(measured),
            "nodes_per_leaf": measured.nodes_per_leaf,
            "contentless_lines": contentless_lines(memory.structure, memory.conversation.speakers),
        },
        "calls": cost.calls,
        "tokens": cost.tokens,
        "decisions": {"asked": cost.decided + cost.decided_instead, "by_model": cost.decided},
        "texts": {
            "asked": cost.written + cost.written_instead,
            "by_model": cost.written,
        },
        "provenance": memory.provenance,
    }


build.more = parameters_help
