"""``segviz sweep``: measures every setting over all questions."""

from __future__ import annotations

import argparse
from contextlib import closing, nullcontext
from inspect import signature
from pathlib import Path
from typing import Any

from segviz.cli.building import add_building, memory_of, refuse_idle
from segviz.cli.command import Command
from segviz.cli.console import Console
from segviz.cli.exits import OK, UsageError, user_errors
from segviz.cli.many import (
    LOST,
    add_many,
    add_measuring,
    apart,
    cell_key,
    cells_journal,
    idle_many,
    measured,
    runs_of,
    single,
    spread,
)
from segviz.cli.models import models
from segviz.cli.reports import (
    sweep_content,
    sweeps_content,
    tell_setting,
    tell_sweep,
    tell_sweeps,
)
from segviz.cli.retrieval import (
    DEFAULTS,
    add_literal,
    add_preset,
    add_scoring,
    numbers,
    whole_numbers,
)
from segviz.cli.settings import parameters_help
from segviz.cli.source import add_file, output_path, path_of, write_file
from segviz.evaluate import Cell, sweep
from segviz.export import sweep_csv, sweeps_csv
from segviz.retrieval import POLICIES, PRESETS
from segviz.store import recognises

_AXES = {
    "policies": ("NAME,…", f"of {', '.join(POLICIES)}", lambda text: tuple(text.split(","))),
    "alphas": ("N,…", "each from 0 to below 1", numbers),
    "horizons": ("N,…", "each 0 or more", whole_numbers),
}
_SHARED = ("k", "budget", "relevance", "literal", "units", "tokens")


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "memory, or conversation file to build one from")
    parser.add_argument("-o", "--output", metavar="PATH", help="also write a row per cell as CSV")
    parser.add_argument(
        "--resume",
        metavar="PATH",
        help="keep what is measured in this file, cell by cell or run by run, and go on from "
        "what it holds",
    )
    group = parser.add_argument_group("grid")
    add_preset(group, "policy, alpha, horizon and relevance, each the only one,")
    for name, (metavar, legal, read) in _AXES.items():
        default = signature(sweep).parameters[name].default
        group.add_argument(
            f"--{name}",
            type=read,
            default=argparse.SUPPRESS,
            metavar=metavar,
            help=f"{legal} (default: {','.join(map(str, default))})",
        )
    add_scoring(group, argparse.SUPPRESS)
    add_literal(group)
    add_measuring(parser.add_argument_group("measuring"), "recall")
    add_many(parser)
    add_building(parser, several=True)


def _grid(options: argparse.Namespace) -> dict[str, Any]:
    """Axes and shared settings: as given, else of the preset, else as ``sweep`` has them."""
    found: dict[str, Any] = {name: signature(sweep).parameters[name].default for name in _AXES}
    found["relevance"] = DEFAULTS.relevance_for()
    if options.preset:
        preset = PRESETS[options.preset]
        axes = ((preset.policy,), (preset.alpha,), (preset.horizon,))
        found |= {**dict(zip(_AXES, axes, strict=True)), "relevance": preset.relevance_for()}
    given = {name: getattr(options, name) for name in (*_AXES, *_SHARED) if hasattr(options, name)}
    return found | given


def _run(options: argparse.Namespace, console: Console) -> int:
    inputs = (options.file,)
    table = output_path(options.output, *inputs) if options.output else None
    journal = output_path(options.resume, *inputs) if options.resume else None
    if table is not None and table == journal:
        raise UsageError("--output and --resume name the same file")
    if recognises(path_of(options.file)):
        refuse_idle(options.file, idle_many(options))
    elif spread(options) or options.systems or options.vary:
        return _many(options, console, table, journal)
    elif apart(options):
        raise UsageError("this is one run, with nothing to share out; --all or --systems make more")
    return _one(options, console, table, journal)


def _one(
    options: argparse.Namespace, console: Console, table: Path | None, journal: Path | None
) -> int:
    single(options)
    with models(options, console) as clients:
        memory = memory_of(options, console, clients)
        questions = memory.conversation.questions
        if not any(question.evidence for question in questions):
            raise UsageError(
                f"{memory.conversation.id} has no questions with gold evidence to measure by"
            )
        settings = _grid(options)
        shared = {name: settings[name] for name in _SHARED}
        kept = cells_journal(journal, memory, shared) if journal else None
        before = tuple(kept.found.values()) if kept else ()
        if before:
            console.note(f"{len(before)} cells are known from {journal}")

        def keep(cell: Cell) -> None:
            if kept:
                kept.keep(cell_key(cell), cell, cell)

        try:
            with (
                closing(kept) if kept else nullcontext(),
                console.progress("sweeping", "settings") as progress,
                user_errors(),
            ):
                found = sweep(
                    memory, questions, progress=progress, known=before, keep=keep, **settings
                )
        except KeyboardInterrupt:
            if journal:
                console.error(f"what was measured is in {journal}; the same command goes on there")
            raise
    if table is not None:
        write_file(table, sweep_csv(found))
    adversarial = not options.no_adversarial
    if options.json:
        console.json(
            "sweep",
            {"conversation": memory.conversation.id, "system": memory.system}
            | sweep_content(found, options.measure, adversarial=adversarial),
        )
    else:
        tell_setting(console, found, options.measure, adversarial=adversarial)
        tell_sweep(console, found, options.measure, adversarial=adversarial)
    return OK


def _many(
    options: argparse.Namespace, console: Console, table: Path | None, journal: Path | None
) -> int:
    with models(options, console) as clients:
        runs = runs_of(options, console)
        found = measured(runs, sweep, _grid(options), options, console, clients, journal)
    if table is not None:
        write_file(table, sweeps_csv(found))
    adversarial = not options.no_adversarial
    if options.json:
        content = sweeps_content(found, runs.share, options.measure, adversarial=adversarial)
        console.json("sweep", content)
    else:
        tell_sweeps(console, found, options.measure, adversarial=adversarial)
    return OK


COMMAND = Command(
    "measure every policy, alpha and horizon over all questions",
    """\
Measures every combination of policy, alpha and horizon on the questions that come with the
conversation, beside retrieval without propagation, and tells the best of each policy by one
measure with its paired difference. A question's gold leaves hold its evidence turns; recall
is gold leaves among the K best leaves / gold leaves. A measure over leaves cannot see
bottom-up, where a leaf receives nothing, so it is not told for it.

With --all, several --conversation, --systems, --seeds or --share it does so for each of
them, one after the other or shared out with --workers or --scheduler, and tells which
setting is the best over all conversations. Conversations without gold evidence are left
out, with a note. A run is small beside its transport, so several processes help from
some seconds of work on; two of them take 20 runs of LoCoMo in about half of the time.""",
    _arguments,
    _run,
    (
        (
            "Three policies, seven alphas, four horizons on the sample",
            "segviz sweep sample:ines-theo",
        ),
        ("One of the paper's settings", 'segviz sweep boat.json.gz --preset "paper, bottom-up"'),
        (
            "The paper's relevance, judged by what a reader gets",
            "segviz sweep sample:ines-theo --relevance dense --measure answer_words",
        ),
        (
            "A finer grid that can be interrupted, as CSV",
            "segviz sweep boat.json.gz --alphas 0.1,0.2,0.3,0.4,0.5 --horizons 1,2,3,4 \\\n"
            "    --resume boat.cells -o boat.csv",
        ),
        (
            "Two systems on all conversations of a file, in four processes",
            "segviz sweep talks.json --all --systems segment-tree,raptor --workers 4 \\\n"
            "    --resume talks.runs",
        ),
        (
            "What is lost when 30 % of the units change places, by a Dask cluster",
            "segviz sweep talks.json --all --systems segment-tree,clustering --share 0.3 \\\n"
            "    --seeds 0,1,2,3,4 --scheduler tcp://host:8786 --json",
        ),
    ),
    """\
command, conversation, system, policies, alphas, horizons, k, budget, relevance, distinct, units,
tokens, questions, measure, baseline and best (a cell each), cells. A cell has policy, alpha,
horizon, measures (name -> all, without_adversarial and gain, the paired difference to the
baseline; each value, low, high, n; null where nothing counts; measures that cannot see the policy
are left out) and levels (level -> share of the retrieved nodes).

Of many runs: command, share, runs (each conversation, system, seed and the above), overall (the
same of each system and seed over the questions of all conversations; intervals resample
conversations, too).""",
    parameters_help,
    exits=(LOST,),
)
