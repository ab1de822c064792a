"""``segviz compare``: compares several systems on the same leaves and questions."""

from __future__ import annotations

import argparse
from time import perf_counter

from segviz.cli.building import add_building, parameters_help
from segviz.cli.command import OK, Command
from segviz.cli.console import Console
from segviz.cli.many import LOST, add_many, measured, runs_of
from segviz.cli.models import models
from segviz.cli.reports import Owner, report
from segviz.cli.retrieval import add_scoring
from segviz.cli.source import output_path
from segviz.evaluate.compare import Comparison, compare_one, joined, pooled_comparison
from segviz.systems import SYSTEMS

_SHARED = ("k", "units", "tokens", "budget", "relevance")


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="+",
        metavar="FILE",
        help="one conversation file, from which the systems are built, or several memories of "
        "one conversation",
    )
    group = parser.add_argument_group("retrieval")
    add_scoring(group)
    add_many(parser)
    add_building(parser, several=True)


def _run(options: argparse.Namespace, console: Console) -> int:
    if options.resume:
        options.resume = output_path(options.resume, *options.file)
    with models(options, console) as clients:
        runs = runs_of(options, console, clients, list(SYSTEMS))
        settings = {name: getattr(options, name) for name in _SHARED}
        found = measured(
            runs, compare_one, Comparison, settings, options, console, clock=perf_counter
        )
    parts: dict[tuple[str, int], dict[str, Comparison]] = {}
    for run in found:
        parts.setdefault((run.conversation, run.seed), {})[run.system] = run.result
    whole: list[tuple[Owner, Comparison]] = [
        ({"conversation": conversation, "seed": seed}, joined(systems))
        for (conversation, seed), systems in parts.items()
    ]
    report("compare", whole, pooled_comparison, options, console)
    return OK


COMMAND = Command(
    "measure several systems on the same leaves and questions",
    """\
Builds several memory systems from one conversation, over the same leaves and embeddings,
and measures them on its questions: once with every node ranked for itself (collapsed), and
once by the system's own retrieval where it has one. Or compares memories built before, of
one conversation and one unit rule. With --vary, it is one system with several values of one
of its parameters.

recall: gold leaves among the K best leaves. reached: gold units among the first units read.
quoted: gold turns that a text of the K best nodes repeats. answer_words: words of the gold
answer in what so many tokens hold. words: read in the K best nodes.

With --all, several --conversation or --seeds it does so for each of them, and tells what
holds over all conversations. --workers and --scheduler share out the runs, of
one conversation too. Seconds are then not measured, because what runs at once disturbs
each other's time.""",
    _arguments,
    _run,
    (
        (
            "Three systems on the sample",
            "segviz compare sample:ines-theo --systems segment-tree,raptor,bm25",
        ),
        ("Two settings of one system", "segviz compare strict.json.gz loose.json.gz"),
        (
            "One parameter of a system over several values: shape, measures, cost of the build",
            "segviz compare sample:ines-theo --system memtree --vary base=0.2,0.4,0.6",
        ),
        (
            "All systems on all conversations of a file, in four processes",
            "segviz compare talks.json --all --workers 4 --resume talks.runs",
        ),
    ),
    """\
command, share, runs (of each conversation and seed: conversation, seed, k, units, tokens, budget,
relevance (null: the usual one of each retrieval), questions, rows), overall (the same of each seed
over the questions of all conversations, where there are several; intervals resample conversations,
too). A row has name, system, method (collapsed or own), relevance, shape, cost (sums over the
build), measures (name -> all, without_adversarial and gain, the paired difference to the first
row; each value, low, high, n), build_seconds and query_seconds (null where runs are shared out or
kept with --resume).""",
    parameters_help,
    exits=(LOST,),
)
