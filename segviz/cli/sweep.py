"""``segviz sweep``: measures every setting over all questions."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from segviz.cli.build_options import build_options
from segviz.cli.command import (
    OK,
    Console,
    Option,
    Options,
    command,
    names,
    numbers,
    output_options,
    section,
    whole_numbers,
)
from segviz.cli.many import many_options, measured, runs_of
from segviz.cli.models import models
from segviz.cli.retrieval import DEFAULTS, SHARED, given, options_for, preset_option
from segviz.cli.source import file_argument, output_path, path_option, write_file
from segviz.cli.tables import Owner, report
from segviz.evaluation import Sweep
from segviz.evaluation.parallel import Measured
from segviz.evaluation.sweep import pooled_sweep
from segviz.evaluation.sweep import sweep as measure
from segviz.export import sweeps_csv
from segviz.retrieval import POLICIES, PRESETS, RELEVANCE, RetrievalSettings

EVERY = "all"
"""Value of ``--relevance`` for measuring with each relevance."""

_NODES = RetrievalSettings.names("nodes")
_RETRIEVAL = (*SHARED, *_NODES)
_AXES = ("policies", "alphas", "horizons")
_USUAL = {name: signature(measure).parameters[name].default for name in _AXES}

_grid = section("Grid")
_CSV, _PRESET = (
    "Also write a row per setting as CSV.",
    "Single policy, alpha, horizon, relevance, levels and chains",
)


def _axis(name: str, metavar: str, about: str, read: Callable[[str], Any]) -> Option:
    return _grid(f"--{name}", about, ",".join(map(str, _USUAL[name])), type=read, metavar=metavar)


@command
@file_argument
@path_option("-o --output", _CSV)
@preset_option(_PRESET)
@_axis("policies", "NAME,…", f"Policies: {', '.join(POLICIES)}.", names)
@_axis("alphas", "N,…", "Each from 0 to below 1.", numbers)
@_axis("horizons", "N,…", "Each 0 or more.", whole_numbers)
@options_for(*SHARED)
@options_for(*_NODES)
@many_options
@build_options(several=True)
@output_options
def sweep(options: Options, console: Console) -> int:
    """Measures every policy, alpha and horizon over all questions.

    Every combination is measured on the questions of the conversation, and so is retrieval without
    propagation. The report has the best setting of each policy by one measure, with its paired
    difference. The gold leaves of a question contain its evidence turns; recall is gold leaves
    among the K best leaves / gold leaves. Bottom-up gives leaves nothing, so it cannot change a
    measure over leaves and has no row there. FILE is a memory, a conversation file to build one
    from, or sample:NAME for a bundled one.

    With --relevance all, each relevance is measured and reported in one table. The intervals of the
    gains, in the table, CSV and JSON, are simultaneous over the settings of all relevances.

    With --all, several --conversation or --systems it repeats this for each of them, and reports
    the best setting over all conversations. --workers and --scheduler distribute the runs.
    Conversations without gold evidence, or answers if the measure needs these, are left out, with a
    note. Several processes help if a run takes some seconds; two processes halve the time of 20
    runs of LoCoMo.

    JSON: command, runs (for each conversation, system and relevance: conversation, system,
    policies, alphas, horizons, k, budget, relevance, distinct, deduplicate, units, tokens,
    questions, measure, baseline and best (a cell each), cells), overall (the same for each system
    and relevance over the questions of all conversations, if there are several; intervals resample
    conversations, too).
    A cell has policy, alpha, horizon, measures (name -> all, without_adversarial and gain, the
    paired difference to the baseline; with an audit also without_disputed and
    gain_without_disputed; each value, low, high, n; null if no question counts; measures that the
    policy cannot change are left out) and levels (level -> share of the retrieved nodes).

    Examples, the last on a Dask cluster:
        segviz sweep boat.json.gz --preset "paper, bottom-up"
        segviz sweep sample:ines-theo --relevance dense --measure answer_words
        segviz sweep sample:ines-theo --relevance all
        segviz sweep boat.json.gz --alphas 0.1,0.2 --horizons 1,2,3 -o boat.csv
        segviz sweep talks.json --all --systems raptor,bm25 --workers 4
        segviz sweep talks.json --all --scheduler tcp://host:8786
    """
    table = output_path(options.output, options) if options.output else None
    # One sweep for each conversation, system and relevance.
    with models(options, console) as clients, console.progress("sweeping", "settings") as progress:
        runs, settings = runs_of(options, console, clients), _settings(options)
        every = settings["relevance"] == EVERY
        sweeps: list[Measured[Sweep]] = []
        for name in RELEVANCE if every else [settings["relevance"]]:
            one = {**settings, "relevance": name}
            sweeps.extend(measured(runs, measure, Sweep, one, options, console, progress=progress))
    if table is not None:
        write_file(table, sweeps_csv(sweeps))
    owned: list[tuple[Owner, Sweep]] = []
    for run in sweeps:
        owner = {"conversation": run.conversation, "system": run.system}
        owned.append((owner | {"relevance": str(run.result.settings.relevance)}, run.result))
    report("sweep", owned, pooled_sweep, options, console)
    return OK


def _settings(options: Options) -> dict[str, Any]:
    """Returns the arguments of ``segviz.sweep``.

    What no option gives is that of ``--preset`` or, without it, the default.
    """
    settings = {**_USUAL, "relevance": DEFAULTS.relevance_for()}
    if options.preset:
        preset = PRESETS[options.preset]
        settings = {"policies": (preset.policy,), "alphas": (preset.alpha,)}
        settings |= {"horizons": (preset.horizon,), "relevance": preset.relevance_for()}
        settings |= {name: getattr(preset, name) for name in preset.names("nodes")}
    return settings | given(options, (*_AXES, *_RETRIEVAL, "units", "tokens"))
