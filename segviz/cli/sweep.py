"""``segviz sweep``: measures every setting over all questions."""

from __future__ import annotations

import argparse
from inspect import signature
from pathlib import Path
from typing import Any

from segviz.cli.building import add_building, parameters_help
from segviz.cli.command import OK, UsageError, command
from segviz.cli.console import Console
from segviz.cli.many import LOST, add_many, measured, runs_of
from segviz.cli.models import models
from segviz.cli.reports import Owner, report
from segviz.cli.retrieval import (
    DEFAULTS,
    add_literal,
    add_preset,
    add_scoring,
    numbers,
    whole_numbers,
)
from segviz.cli.source import add_file, output_path, write_file
from segviz.evaluation import Sweep
from segviz.evaluation.sweep import pooled_sweep, sweep
from segviz.export import sweeps_csv
from segviz.retrieval import POLICIES, PRESETS

_AXES = {
    "policies": ("NAME,…", f"of {', '.join(POLICIES)}", lambda text: tuple(text.split(","))),
    "alphas": ("N,…", "each from 0 to below 1", numbers),
    "horizons": ("N,…", "each 0 or more", whole_numbers),
}
_SHARED = ("k", "budget", "relevance", "literal", "units", "tokens")


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "memory, or conversation file to build one from")
    parser.add_argument("-o", "--output", metavar="PATH", help="also write a row per cell as CSV")
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
    table = output_path(options.output, options.file) if options.output else None
    if table and options.resume and table == Path(options.resume).expanduser():
        raise UsageError("--output and --resume name the same path")
    with models(options, console) as clients, console.progress("sweeping", "settings") as progress:
        runs = runs_of(options, console, clients)
        found = measured(runs, sweep, Sweep, _grid(options), options, console, progress=progress)
    if table is not None:
        write_file(table, sweeps_csv(found))
    owned: list[tuple[Owner, Sweep]] = [
        ({"conversation": run.conversation, "system": run.system, "seed": run.seed}, run.result)
        for run in found
    ]
    report("sweep", owned, pooled_sweep, options, console)
    return OK


COMMAND = command("sweep", _arguments, _run, parameters_help, exits=(LOST,))
