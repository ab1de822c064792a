"""What many sweeps or comparisons say together: pooled over conversations and seeds.

Pooled numbers are means over the questions of all runs. They carry no interval: questions
of one conversation are not independent, nor are seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

from segviz.cli.console import Console
from segviz.evaluate import Cell, Mean, Sweep
from segviz.evaluate.compare import Comparison, Standing
from segviz.evaluate.many import Measured

Key = TypeVar("Key")
Item = TypeVar("Item")
Comparisons = Mapping[tuple[str, int], Comparison]
"""By conversation and seed."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """A mean over the ``n`` questions of several runs; None where nothing counts."""

    value: float | None
    n: int

    def __str__(self) -> str:
        """``0.812``, or a dash."""
        return "-" if self.value is None else f"{self.value:.3f}"


def pooled(means: Iterable[Mean]) -> Pooled:
    """Several means as one over all of their questions."""
    counted = [mean for mean in means if mean.n]
    n = sum(mean.n for mean in counted)
    return Pooled(sum(mean.value * mean.n for mean in counted) / n if n else None, n)


def _grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def best_overall(sweeps: Sequence[Sweep]) -> tuple[Cell, Pooled]:
    """The setting with the highest pooled recall, as a cell of the first sweep, and that
    recall; ties as in ``Sweep.best``. The baseline where nothing counts."""
    columns = [(cells[0], pooled(c.recall for c in cells)) for cells in _cells(sweeps)]
    counted = [(cell, recall) for cell, recall in columns if recall.value is not None]
    ties_last = sorted(counted, key=lambda pair: (pair[0].horizon, pair[0].alpha))
    return max(
        ties_last,
        key=lambda pair: pair[1].value or 0.0,
        default=(sweeps[0].baseline, pooled(one.baseline.recall for one in sweeps)),
    )


def _cells(sweeps: Sequence[Sweep]) -> Iterable[tuple[Cell, ...]]:
    """The same setting in every sweep; they share their axes."""
    return zip(*(one.cells for one in sweeps), strict=True)


def _over_systems(runs: Sequence[Measured[Sweep]]) -> list[dict[str, Any]]:
    rows = []
    for system, measured in _grouped(runs, lambda run: run.system).items():
        sweeps = [run.result for run in measured]
        cell, recall = best_overall(sweeps)
        baseline = pooled(one.baseline.recall for one in sweeps)
        best = {"policy": cell.policy, "alpha": cell.alpha, "horizon": cell.horizon}
        rows.append(
            {
                "system": system,
                "runs": len(sweeps),
                "questions": baseline.n,
                "baseline": baseline,
                "best": {**best, "recall": recall},
            }
        )
    return rows


def sweeps_content(runs: Sequence[Measured[Sweep]], share: float) -> dict[str, Any]:
    """Many sweeps as ``--json`` prints them."""
    return {"share": share, "runs": [_run(run) for run in runs], "overall": _over_systems(runs)}


def _run(run: Measured[Sweep]) -> dict[str, Any]:
    found = run.result
    return {
        "conversation": run.conversation,
        "system": run.system,
        "seed": run.seed,
        **{name: getattr(found, name) for name in found.__dataclass_fields__},
        "best": found.best(),
    }


def tell_sweeps(console: Console, runs: Sequence[Measured[Sweep]]) -> None:
    """Many sweeps as tables: a row for each run, then a row for each system."""
    first = runs[0].result
    console.line(
        f"evidence recall@{first.k} over leaves, relevance {first.relevance}; 95 % intervals"
    )
    rows = []
    for run in runs:
        plain, best = run.result.baseline.recall, run.result.best()
        rows.append(
            (
                run.conversation,
                run.system,
                str(run.seed),
                str(plain.n),
                f"{plain.value:.3f}",
                best.policy,
                f"{best.alpha:g}",
                str(best.horizon),
                f"{best.recall.value:.3f}",
                f"{best.recall.low:.3f}-{best.recall.high:.3f}",
            )
        )
    names = ["conversation", "system", "seed", "questions", "none"]
    best_names = ["best", "alpha", "H", "recall"]
    console.table([*names, *best_names, "interval"], rows)
    console.line()
    console.line("over all runs, means over their questions; the best one setting for all of them")
    console.table(
        ["system", "runs", "questions", "none", *best_names],
        [
            (
                row["system"],
                str(row["runs"]),
                str(row["questions"]),
                str(row["baseline"]),
                row["best"]["policy"],
                f"{row['best']['alpha']:g}",
                str(row["best"]["horizon"]),
                str(row["best"]["recall"]),
            )
            for row in _over_systems(runs)
        ],
    )


def together(runs: Sequence[Measured[Comparison]]) -> dict[tuple[str, int], Comparison]:
    """Comparisons of single systems as one for each conversation and seed."""
    groups = _grouped(runs, lambda run: (run.conversation, run.seed))
    return {
        key: replace(
            parts[0].result, rows=tuple(chain.from_iterable(part.result.rows for part in parts))
        )
        for key, parts in groups.items()
    }


_POOLED = ("recall", "budget_recall", "coverage", "tokens")


def _over_rows(found: Comparisons) -> list[dict[str, Any]]:
    rows = chain.from_iterable(one.rows for one in found.values())
    return [
        {"name": name, "method": method, "runs": len(group)}
        | {column: pooled(getattr(row, column) for row in group) for column in _POOLED}
        for (name, method), group in _grouped(rows, lambda row: (row.name, row.method)).items()
    ]


def comparisons_content(found: Comparisons, share: float) -> dict[str, Any]:
    """Many comparisons as ``--json`` prints them."""
    runs = [
        {"conversation": conversation, "seed": seed}
        | {name: getattr(one, name) for name in one.__dataclass_fields__}
        for (conversation, seed), one in found.items()
    ]
    return {"share": share, "runs": runs, "overall": _over_rows(found)}


def tell_comparisons(console: Console, found: Comparisons) -> None:
    """Many comparisons as tables: recall of each run, then all measures over all runs."""
    first = next(iter(found.values()))
    console.line(
        f"{first.questions if len(found) == 1 else sum(c.questions for c in found.values())} "
        f"questions, K {first.k}, {first.units} units, relevance {first.relevance}"
    )
    console.table(
        ["conversation", "seed", "system", "retrieval", "recall", "interval", "in units", "words"],
        [
            (conversation, str(seed), *_standing(row))
            for (conversation, seed), one in found.items()
            for row in one.rows
        ],
    )
    console.line()
    console.line("over all runs, means over their questions")
    console.table(
        [
            "system",
            "retrieval",
            "runs",
            "questions",
            "recall",
            "in units",
            "answer words",
            "tokens",
        ],
        [
            (
                row["name"],
                row["method"],
                str(row["runs"]),
                str(row["recall"].n),
                *(str(row[column]) for column in _POOLED[:3]),
                f"{row['tokens'].value:.0f}",
            )
            for row in _over_rows(found)
        ],
    )


def _standing(row: Standing) -> tuple[str, ...]:
    return (
        row.name,
        row.method,
        f"{row.recall.value:.3f}",
        f"{row.recall.low:.3f}-{row.recall.high:.3f}",
        f"{row.budget_recall.value:.3f}",
        f"{row.coverage.value:.3f}",
    )
