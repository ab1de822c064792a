"""``segviz sweep``: every setting over all questions."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import closing, nullcontext
from inspect import signature
from typing import Any

from segviz.cli.building import add_building, memory_of
from segviz.cli.command import Command
from segviz.cli.console import Console
from segviz.cli.exits import OK, UsageError, user_errors
from segviz.cli.models import models
from segviz.cli.resume import Kept, identity
from segviz.cli.retrieval import add_distinct, add_scoring, numbers, whole_numbers
from segviz.cli.settings import parameters_help
from segviz.cli.source import add_file, output_path, write_file
from segviz.evaluate import Sweep, sweep
from segviz.export import sweep_csv
from segviz.propagate import POLICIES

_AXES = {
    "policies": ("NAME,…", f"of {', '.join(POLICIES)}", lambda text: tuple(text.split(","))),
    "alphas": ("N,…", "each from 0 to below 1", numbers),
    "horizons": ("N,…", "each 0 or more", whole_numbers),
}
_SHARED = ("k", "budget", "relevance", "distinct")


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "memory, or conversation file to build one from")
    parser.add_argument("-o", "--output", metavar="PATH", help="also write a row per cell as CSV")
    parser.add_argument(
        "--resume",
        metavar="PATH",
        help="keep every cell in this file as it is measured, and go on from those in it",
    )
    group = parser.add_argument_group("grid")
    for name, (metavar, legal, read) in _AXES.items():
        default = signature(sweep).parameters[name].default
        group.add_argument(
            f"--{name}",
            type=read,
            default=default,
            metavar=metavar,
            help=f"{legal} (default: {','.join(map(str, default))})",
        )
    add_scoring(group)
    add_distinct(group)
    add_building(parser)


def _run(options: argparse.Namespace, console: Console) -> int:
    inputs = (options.file,)
    table = output_path(options.output, *inputs) if options.output else None
    journal = output_path(options.resume, *inputs) if options.resume else None
    if table is not None and table == journal:
        raise UsageError("--output and --resume name the same file")
    with models(options, console) as clients:
        memory = memory_of(options, console, clients)
        questions = memory.conversation.questions
        if not any(question.evidence for question in questions):
            raise UsageError(
                f"{memory.conversation.id} has no questions with gold evidence to measure by"
            )
        shared = {name: getattr(options, name) for name in _SHARED}
        kept = Kept(journal, identity(memory, shared)) if journal else None
        before = kept.cells if kept else ()
        if before:
            console.note(f"{len(before)} cells are known from {journal}")
        keep: Callable[[Any], None] | None = kept.keep if kept else None
        try:
            with (
                closing(kept) if kept else nullcontext(),
                console.progress("sweeping", "settings") as progress,
                user_errors(),
            ):
                axes = {name: getattr(options, name) for name in _AXES}
                found = sweep(
                    memory, questions, progress=progress, known=before, keep=keep, **axes, **shared
                )
        except KeyboardInterrupt:
            if journal:
                console.error(f"what was measured is in {journal}; the same command goes on there")
            raise
    if table is not None:
        write_file(table, sweep_csv(found))
    if options.json:
        content = {name: getattr(found, name) for name in found.__dataclass_fields__}
        console.json(
            "sweep",
            {"conversation": memory.conversation.id, "system": memory.system, **content}
            | {"best": found.best()},
        )
    else:
        _tell(console, found)
    return OK


def _tell(console: Console, found: Sweep) -> None:
    baseline, best = found.baseline, found.best()
    console.line(
        f"evidence recall@{found.k} over leaves, {baseline.recall.n} questions, relevance "
        f"{found.relevance}; 95 % intervals"
    )
    rows = [("no propagation", "", "", *_spread(baseline))]
    for policy in found.policies:
        cell = found.best([policy])
        rows.append((policy, f"{cell.alpha:g}", str(cell.horizon), *_spread(cell)))
    console.table(["best of each policy", "alpha", "H", "recall", "low", "high"], rows)
    gain = best.recall.value - baseline.recall.value
    console.line(
        f"best: {best.policy}, alpha {best.alpha:g}, H {best.horizon} ({gain:+.3f} over none; "
        f"chosen on the questions it is scored on)"
    )


def _spread(cell: Any) -> tuple[str, str, str]:
    mean = cell.recall
    return (f"{mean.value:.3f}", f"{mean.low:.3f}", f"{mean.high:.3f}")


COMMAND = Command(
    "measure every policy, alpha and horizon over all questions",
    """\
Measures evidence recall@K over leaves for every combination of policy, alpha and horizon
on the questions that come with the conversation, beside retrieval without propagation.
A question's gold leaves hold its evidence turns; recall is gold leaves among the K best
leaves / gold leaves, averaged over the questions with evidence.""",
    _arguments,
    _run,
    (
        ("The paper's grid on the sample", "segviz sweep sample:ines-theo"),
        (
            "A finer grid that can be interrupted, as CSV",
            "segviz sweep boat.json.gz --alphas 0.1,0.2,0.3,0.4,0.5 --horizons 1,2,3,4 \\\n"
            "    --resume boat.cells -o boat.csv",
        ),
    ),
    """\
command, conversation, system, policies, alphas, horizons, k, budget, relevance, distinct,
questions, baseline and best (a cell each), cells. A cell has policy, alpha, horizon, recall
(value, low, high, n; null where nothing counts), by_category (category id -> recall) and
levels (level -> share of the retrieved nodes).""",
    parameters_help,
)
