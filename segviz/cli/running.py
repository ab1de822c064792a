"""Doing many runs: what is known is read, the rest measured, and kept as it is measured."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import closing, nullcontext
from functools import partial
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any, TypeVar, cast

from segviz.cli.building import usable
from segviz.cli.console import Console
from segviz.cli.exits import Unfinished, user_errors
from segviz.cli.many import Runs
from segviz.cli.models import Models
from segviz.cli.resume import KeptRuns, run_identity
from segviz.construct import as_settings
from segviz.embedding import EMBEDDERS, get_embedder
from segviz.evaluate import Sweep
from segviz.evaluate.compare import Comparison
from segviz.evaluate.many import Measured, measure_many
from segviz.evaluate.workers import WorkersLost
from segviz.llm import LastingFault
from segviz.memory import BuildPaused, build
from segviz.store import Saved

Found = TypeVar("Found", Sweep, Comparison)


def measured(
    runs: Runs,
    measure: Callable[..., Found],
    settings: dict[str, Any],
    options: argparse.Namespace,
    console: Console,
    models: Models,
    journal: Path | None,
) -> tuple[Measured[Found], ...]:
    """Do the runs, but for those in the ``journal``; errors as for one run, and Unfinished
    when workers are lost for good."""
    builders = {
        name: partial(build, system=name, unit=runs.unit, **_with(name, chosen, models), **chosen)
        for name, chosen in runs.systems.items()
    }
    kept = KeptRuns(journal) if journal else None
    names = _identities(runs, measure, settings, models) if kept else []
    order = list(product(runs.conversations.places, builders, runs.seeds))
    ids = runs.conversations.corpus.ids
    known = {
        place: Measured(ids[order[place][0]], *order[place][1:], cast("Found", kept.found[name]))
        for place, name in enumerate(names)
        if kept and name in kept.found
    }
    if known:
        console.note(f"{len(known)} of {len(order)} runs are known from {journal}")
    if options.scheduler is not None:
        console.note(f"conversations are sent to the workers of {options.scheduler}")

    def keep(place: int, one: Measured[Found]) -> None:
        if kept:
            kept.keep(names[place], one.result)

    try:
        with (
            closing(kept) if kept else nullcontext(),
            console.progress("measuring", "runs") as progress,
            user_errors(),
        ):
            return measure_many(
                measure,
                runs.conversations,
                builders,
                seeds=runs.seeds,
                share=runs.share,
                workers=options.workers,
                scheduler=options.scheduler,
                progress=progress,
                known=known,
                keep=keep,
                **settings,
            )
    except WorkersLost as lost:
        raise Unfinished(f"{lost}.{_goes_on(journal)}") from None
    except BuildPaused as pause:
        more = " The same command with --waive goes on without this one answer."
        more = more if isinstance(pause.fault, LastingFault) else " The same command goes on there."
        raise Unfinished(f"{pause}{more}") from None
    except KeyboardInterrupt:
        if journal:
            console.error(f"what was measured is in {journal}; the same command goes on there")
        raise


def _goes_on(journal: Path | None) -> str:
    if journal:
        return f" What was measured is in {journal}; the same command goes on there."
    return " With --resume PATH nothing that is measured has to be measured again."


def _with(name: str, settings: dict[str, Any], models: Models) -> dict[str, Any]:
    """The models of a builder. An offline embedder goes by its name, so that a worker makes
    its own, and by that of the one used here: what is missing there must not be replaced."""
    _, callers = usable(name, settings, models)
    embedder: Any = models.embedder
    if not models.remote:
        embedder = next(key for key in EMBEDDERS if get_embedder(key).name == embedder.name)
    return {"embedder": embedder, "chat": models.chat if callers else None}


def _identities(
    runs: Runs, measure: Callable[..., Found], settings: dict[str, Any], models: Models
) -> list[str]:
    """Of every run, in their order. Another version of segviz may measure other numbers."""
    found = []
    version = metadata.version("segviz")
    wanted = {"segviz": version, "measure": measure.__name__, **settings}
    for conversation in runs.conversations:
        for name, chosen in runs.systems.items():
            system, callers = usable(name, chosen, models)
            chat = models.chat.name if models.chat and callers else ""
            plan = Saved(
                conversation,
                runs.unit,
                name,
                system.invariants,
                as_settings(system),
                models.embedder.name,
                (),
                chat,
            )
            for seed in runs.seeds:
                drawn = {"seed": seed, "share": runs.share}
                found.append(run_identity(plan, {**wanted, **drawn}))
    return found
