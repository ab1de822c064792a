"""Reports sweeps and comparisons, of one run or of many: as tables, and as ``--json`` content.

Numbers over many conversations are means over all of their questions; their intervals resample
conversations and the questions within them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from segviz.cli.console import Console
from segviz.cli.retrieval import settings_content
from segviz.evaluate import MEASURES, Cell, Mean, Outcomes, Sweep, pooled
from segviz.evaluate.compare import COMPARED, Comparison
from segviz.evaluate.grid import pooled_sweep
from segviz.evaluate.many import Measured
from segviz.evaluate.measures import sees
from segviz.evaluate.outcomes import ADVERSARIAL, summary

Key = TypeVar("Key")
Item = TypeVar("Item")
Comparisons = Mapping[tuple[str, int], Comparison]
"""By conversation and seed."""


def _grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _over_systems(runs: Sequence[Measured[Sweep]]) -> dict[tuple[str, int], Sweep]:
    groups = _grouped(runs, lambda run: (run.system, run.seed))
    return {
        key: pooled_sweep([run.conversation for run in measured], [run.result for run in measured])
        for key, measured in groups.items()
    }


def cell_content(found: Sweep, cell: Cell) -> dict[str, Any]:
    """A cell as ``--json`` prints it."""
    return {
        **{name: getattr(cell, name) for name in ("policy", "alpha", "horizon")},
        "measures": summary(
            cell.outcomes,
            found.baseline.outcomes,
            [name for name in MEASURES if sees(name, cell.policy)],
        ),
        "levels": cell.outcomes.levels,
    }


def sweep_content(found: Sweep, measure: str, *, adversarial: bool = True) -> dict[str, Any]:
    """A sweep as ``--json`` prints it."""
    best = found.best(measure, adversarial=adversarial)
    shared = settings_content(found.settings)
    return {
        **{name: shared[name] for name in ("k", "budget", "relevance", "distinct")},
        **{name: getattr(found, name) for name in ("units", "tokens", "policies", "alphas")},
        "horizons": found.horizons,
        "questions": found.questions,
        "measure": measure,
        "baseline": cell_content(found, found.baseline),
        "best": cell_content(found, best),
        "cells": [cell_content(found, cell) for cell in found.cells],
    }


def sweeps_content(
    runs: Sequence[Measured[Sweep]], share: float, measure: str, *, adversarial: bool
) -> dict[str, Any]:
    """Many sweeps as ``--json`` prints them."""
    return {
        "share": share,
        "runs": [
            {
                "conversation": run.conversation,
                "system": run.system,
                "seed": run.seed,
                **sweep_content(run.result, measure, adversarial=adversarial),
            }
            for run in runs
        ],
        "overall": [
            {
                "system": system,
                "seed": seed,
                **sweep_content(found, measure, adversarial=adversarial),
            }
            for (system, seed), found in _over_systems(runs).items()
        ],
    }


def tell_setting(console: Console, found: Sweep, measure: str, *, adversarial: bool) -> None:
    """What is measured, in one line."""
    asked = found.settings
    read = f"{asked.budget} tokens" if asked.budget is not None else f"K {asked.k}"
    limit = {"reached": f", {found.units} units"}.get(measure.removesuffix("_lift"), "")
    if measure.startswith("answer_words"):
        limit = f", {found.tokens} tokens read"
    mean = found.baseline.outcomes.mean(measure, adversarial=adversarial)
    without = "" if adversarial else f" without category {ADVERSARIAL}"
    console.line(
        f"{MEASURES[measure].label} ({read}{limit}), {mean.n} questions{without}, relevance "
        f"{asked.relevance}; 95 % intervals, differences to no propagation in pairs"
    )
    for policy in found.policies:
        if not sees(measure, policy):
            console.line(
                f"{MEASURES[measure].label} cannot see {policy}: a leaf receives nothing from "
                "below; --measure names others"
            )


def tell_sweep(console: Console, found: Sweep, measure: str, *, adversarial: bool) -> None:
    """The best setting of each policy as a table, beside no propagation."""
    baseline = found.baseline.outcomes.mean(measure, adversarial=adversarial)
    rows = [("no propagation", "", "", *_three(baseline), "", "", "")]
    for policy in found.seeing(measure):
        cell = found.best(measure, [policy], adversarial=adversarial)
        mean = cell.outcomes.mean(measure, adversarial=adversarial)
        gain = found.gain(cell, measure, adversarial=adversarial)
        setting = (policy, f"{cell.alpha:g}", str(cell.horizon))
        rows.append((*setting, *_three(mean), *_three(gain, "+.3f")))
    names = ["best of each policy", "alpha", "H", measure, "low", "high", "gain", "low", "high"]
    console.table(names, rows)
    best = found.best(measure, adversarial=adversarial)
    gain = found.gain(best, measure, adversarial=adversarial)
    sure = "" if gain.low > 0 or gain.high < 0 else ", which may be chance"
    console.line(
        f"best: {best.policy}, alpha {best.alpha:g}, H {best.horizon} ({gain.value:+.3f} over "
        f"none{sure}; chosen on the questions it is scored on)"
    )


def _three(mean: Mean, form: str = ".3f") -> tuple[str, str, str]:
    return f"{mean.value:{form}}", f"{mean.low:{form}}", f"{mean.high:{form}}"


def tell_sweeps(
    console: Console, runs: Sequence[Measured[Sweep]], measure: str, *, adversarial: bool
) -> None:
    """Many sweeps as tables: a row for each run, then each system over all conversations."""
    tell_setting(console, runs[0].result, measure, adversarial=adversarial)
    rows = []
    for run in runs:
        found = run.result
        none = found.baseline.outcomes.mean(measure, adversarial=adversarial)
        best = found.best(measure, adversarial=adversarial)
        mean = best.outcomes.mean(measure, adversarial=adversarial)
        what = (run.conversation, run.system, str(run.seed), str(none.n), f"{none.value:.3f}")
        setting = (best.policy, f"{best.alpha:g}", str(best.horizon))
        rows.append((*what, *setting, f"{mean.value:.3f}", _interval_text(mean)))
    names = ["conversation", "system", "seed", "questions", "none"]
    console.table([*names, "best", "alpha", "H", measure, "interval"], rows)
    for (system, seed), found in _over_systems(runs).items():
        console.line()
        drawn = f", seed {seed}" if len({run.seed for run in runs}) > 1 else ""
        console.line(f"{system} over all conversations{drawn}; one setting for all of them")
        tell_sweep(console, found, measure, adversarial=adversarial)


def _interval_text(mean: Mean) -> str:
    return f"{mean.low:.3f}-{mean.high:.3f}"


def together(runs: Sequence[Measured[Comparison]]) -> dict[tuple[str, int], Comparison]:
    """Comparisons of single systems as one for each conversation and seed, named by label."""
    groups = _grouped(runs, lambda run: (run.conversation, run.seed))
    return {
        key: replace(
            parts[0].result,
            rows=tuple(
                replace(row, name=part.system) for part in parts for row in part.result.rows
            ),
        )
        for key, parts in groups.items()
    }


def _over_rows(found: Comparisons) -> dict[tuple[str, str, int], Outcomes]:
    """The outcomes of each system and method over all conversations, by seed."""
    parts: dict[tuple[str, str, int], dict[str, Outcomes]] = {}
    for (conversation, seed), one in found.items():
        for row in one.rows:
            parts.setdefault((row.name, row.method, seed), {})[conversation] = row.outcomes
    return {key: pooled(outcomes) for key, outcomes in parts.items()}


def comparison_content(found: Comparison) -> dict[str, Any]:
    """A comparison as ``--json`` prints it; differences are to its first row."""
    first = found.rows[0].outcomes if found.rows else None
    return {
        **{name: getattr(found.settings, name) for name in ("k", "budget", "relevance")},
        **{name: getattr(found, name) for name in ("units", "tokens", "questions")},
        "rows": [
            {
                **{
                    name: getattr(row, name)
                    for name in ("name", "system", "method", "relevance", "shape", "cost")
                },
                "measures": summary(row.outcomes, first),
                "build_seconds": row.build_seconds,
                "query_seconds": row.query_seconds,
            }
            for row in found.rows
        ],
    }


def comparisons_content(found: Comparisons, share: float) -> dict[str, Any]:
    """Many comparisons as ``--json`` prints them."""
    runs = [
        {"conversation": conversation, "seed": seed, **comparison_content(one)}
        for (conversation, seed), one in found.items()
    ]
    overall = [
        {"name": name, "method": method, "seed": seed, "measures": summary(outcomes)}
        for (name, method, seed), outcomes in _over_rows(found).items()
    ]
    return {"share": share, "runs": runs, "overall": overall}


def tell_comparison_setting(console: Console, found: Comparison, *, adversarial: bool) -> None:
    """What is compared, in one line."""
    asked = found.settings
    read = f"{asked.budget} tokens" if asked.budget is not None else f"K {asked.k}"
    without = "" if adversarial else f" without category {ADVERSARIAL}"
    console.line(
        f"{found.questions} questions{without}, {read}, reached in {found.units} units, answer "
        f"words in {found.tokens} tokens; 95 % intervals"
    )


def compared_columns(outcomes: Outcomes, measure: str, *, adversarial: bool) -> tuple[str, ...]:
    """The values of a row: the chosen measure with its interval, then the others."""
    mean = outcomes.mean(measure, adversarial=adversarial)
    others = (name for name in COMPARED if name != measure)
    return (
        f"{mean.value:.3f}",
        _interval_text(mean),
        *(
            f"{outcomes.value(name, adversarial=adversarial):{'.3f' if name != 'words' else '.0f'}}"
            for name in others
        ),
    )


def compared_names(measure: str) -> list[str]:
    """The names of :func:`compared_columns`."""
    return [measure, "interval", *(name for name in COMPARED if name != measure)]


def tell_comparisons(
    console: Console, found: Comparisons, measure: str, *, adversarial: bool
) -> None:
    """Many comparisons as tables: each run, then all conversations as one."""
    tell_comparison_setting(console, next(iter(found.values())), adversarial=adversarial)
    rows = [
        (
            conversation,
            str(seed),
            row.name,
            row.method,
            *compared_columns(row.outcomes, measure, adversarial=adversarial),
        )
        for (conversation, seed), one in found.items()
        for row in one.rows
    ]
    names = ["system", "retrieval", *compared_names(measure)]
    console.table(["conversation", "seed", *names], rows)
    console.line()
    console.line("over all conversations")
    console.table(
        ["seed", *names],
        [
            (
                str(seed),
                name,
                method,
                *compared_columns(outcomes, measure, adversarial=adversarial),
            )
            for (name, method, seed), outcomes in _over_rows(found).items()
        ],
    )
