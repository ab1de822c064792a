"""``segviz build``: builds a memory file from a conversation."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from segviz.cli.building import add_building, built, parameters_help
from segviz.cli.command import OK, UsageError, command, user_errors
from segviz.cli.console import Console
from segviz.cli.models import models
from segviz.cli.source import add_file, output_path, path_of
from segviz.evaluation.node_texts import contentless_lines, contentless_share
from segviz.memory import Memory
from segviz.store import recognises
from segviz.tree import total_cost
from segviz.tree.shape import Shape, shape


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "conversation file")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="PATH",
        help="where the memory is written; a name ending in .gz is compressed",
    )
    add_building(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    path = output_path(options.output, options.file)
    if recognises(path_of(options.file)):
        raise UsageError(f"{options.file} is a built memory; give the conversation's file")
    with models(options, console) as clients:
        memory = built(options, console, clients)
    with user_errors(OSError):
        memory.save(path)
    summary = summary_of(memory)
    if options.json:
        console.json("build", {"output": str(path), **summary})
        return OK
    console.line(f"{path}: {memory.system} of {memory.conversation.id}")
    console.line(_told(shape(memory.structure), memory.unit))
    empty = contentless_share(memory.structure, memory.conversation.speakers)
    if empty is not None:
        console.line(f"{empty:.1%} of the lines in inner nodes are contentless")
    console.line(f"embedded with {memory.embedder.name}")
    if memory.chat:
        console.line(f"{summary['calls']} calls of {memory.chat}, {summary['tokens']} tokens")
    return OK


def _told(measured: Shape, unit: str) -> str:
    """A line on what the memory is made of; kinds of nodes where it has them."""
    start = f"{measured.leaves} leaves ({unit}), {measured.nodes} nodes"
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
    """What is told about a memory."""
    measured = shape(memory.structure)
    cost = total_cost(memory.steps)
    return {
        "conversation": memory.conversation.id,
        "system": memory.system,
        "settings": memory.settings,
        "unit": memory.unit,
        "embedder": memory.embedder.name,
        "chat": memory.chat or None,
        "steps": len(memory.steps),
        "shape": {
            **{name: getattr(measured, name) for name in measured.__dataclass_fields__},
            "nodes_per_leaf": measured.nodes_per_leaf,
            "contentless_lines": contentless_lines(memory.structure, memory.conversation.speakers),
        },
        "calls": cost.calls,
        "tokens": cost.tokens,
    }


COMMAND = command("build", _arguments, _run, parameters_help)
