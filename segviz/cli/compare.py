"""``segviz compare``: compares several systems on the same leaves and questions."""

from __future__ import annotations

import argparse
from time import perf_counter

from segviz.cli.building import add_building, parameters_help
from segviz.cli.command import OK, command
from segviz.cli.console import Console
from segviz.cli.many import LOST, add_many, measured, runs_of
from segviz.cli.models import models
from segviz.cli.reports import Owner, report
from segviz.cli.retrieval import add_scoring
from segviz.evaluation.compare import Comparison, compare_one, joined, pooled_comparison
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


COMMAND = command("compare", _arguments, _run, parameters_help, exits=(LOST,))
