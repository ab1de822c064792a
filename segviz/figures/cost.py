"""Draws the cost of construction per step (SegTreeMem Fig. 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from segviz.evaluation import Chart, Row
from segviz.figures.charts import rows_figure
from segviz.llm import Price
from segviz.tree import Step, costs_of, total_cost

# Most points of a chart; longer series are averaged in equal blocks.
POINTS = 250


def _blocks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Averages a series over at most POINTS blocks of equal size, leaving out NaN."""
    size = -(-len(values) // POINTS) or 1
    blocks = (values[start : start + size] for start in range(0, len(values), size))
    return np.array(
        [part[known].mean() if (known := ~np.isnan(part)).any() else np.nan for part in blocks]
    )


def series(steps: Sequence[Step]) -> dict[str, NDArray[np.float64]]:
    """Returns the costs of every step by name, float64 (len(steps),) each.

    Names are ms, tokens, calls, inspected, modified and annotated.
    Milliseconds are NaN if a step's answers came from a cache, or if the memory was opened from a
    file, which stores no times.
    """
    costs = costs_of(steps)
    timed = (costs["seconds"] != 0) & (costs["cached"] == 0)
    names = "tokens calls inspected modified annotated".split()
    return {"ms": np.where(timed, 1000 * costs["seconds"], np.nan)} | {
        name: costs[name].astype(np.float64) for name in names
    }


def dollars(steps: Sequence[Step], price: Price | None) -> NDArray[np.float64] | None:
    """Returns US dollars per step, float64 (len(steps),); None if price or tokens are unknown.

    Every answer is priced once, also if it came from the cache; retries are not.
    """
    costs = costs_of(steps)
    if not costs["calls"].any():
        return np.zeros(len(steps))
    output = costs["output"]
    if price is None or not output.any():
        return None
    spent = (costs["tokens"] - output) * price.input + output * price.output
    return np.asarray(spent / 1_000_000)


def money(amount: float | None) -> str:
    """Formats an amount in US dollars; "cost unknown" for None."""
    return "cost unknown" if amount is None else f"${amount:.4f}"


def cost_figure(
    steps: Sequence[Step], *, accent: str, neutral: str, spent: NDArray[np.float64] | None = None
) -> go.Figure:
    """Draws a chart over the steps for each cost that is not always 0, ``spent`` dollars, too."""
    numbers = {"step": np.arange(1.0, len(steps) + 1)} | _spent(steps, spent)
    drawn = {name: _blocks(values).tolist() for name, values in numbers.items()}
    rows: list[Row] = [
        dict(zip(drawn, row, strict=True)) for row in zip(*drawn.values(), strict=True)
    ]
    return rows_figure(rows, Chart("step", tuple(drawn)[1:]), colours=[accent], neutral=neutral)


def _spent(
    steps: Sequence[Step], spent: NDArray[np.float64] | None
) -> dict[str, NDArray[np.float64]]:
    """Returns the costs of every step that are known and not always 0, with US dollars."""
    values = series(steps) | ({} if spent is None else {"US dollars": spent})
    return {name: column for name, column in values.items() if np.nan_to_num(column).any()}


def cost_rows(
    steps: Sequence[Step], spent: NDArray[np.float64] | None = None
) -> list[dict[str, float | int | None]]:
    """Returns the data of the charts, a row per step; dollars ``spent``, None if unknown."""
    values = _spent(steps, spent)
    return [
        {"step": number}
        | {
            name: None if np.isnan(each) else round(each, 6)
            for name, each in zip(values, row, strict=True)
        }
        for number, row in enumerate(
            zip(*(one.tolist() for one in values.values()), strict=True), 1
        )
    ]


def cost_sentence(steps: Sequence[Step]) -> str:
    """Compares the median step of the first and the last quarter; counts those from a cache."""
    values = series(steps)["ms"]
    cached = np.count_nonzero(costs_of(steps)["cached"])
    left_out = (
        f" {cached} of {len(steps)} steps took answers from the cache; their times say "
        "nothing about the model and are left out."
        if cached
        else ""
    )
    timed = values[~np.isnan(values)]
    if not len(timed):
        return left_out.strip() or "Times are measured while a memory is built, and not saved."
    quarter = max(1, len(timed) // 4)
    early, late = float(np.median(timed[:quarter])), float(np.median(timed[-quarter:]))
    return (
        f"The median step took {early:.1f} ms in the first quarter of the conversation and "
        f"{late:.1f} ms in the last.{left_out}"
    )


def total_sentence(steps: Sequence[Step], spent: NDArray[np.float64] | None) -> str:
    """Tells the total cost of a build, with the dollars ``spent`` if a model was used."""
    totals = {name: int(column.sum()) for name, column in series(steps).items() if name != "ms"}
    parts = [f"{totals['inspected']:,} nodes inspected", f"{totals['modified']:,} modified"]
    if totals["calls"]:
        parts += [f"{totals['calls']:,} model calls", f"{totals['tokens']:,} tokens"]
        parts += filter(None, [total_cost(steps).by_model])
        parts.append(money(None if spent is None else float(spent.sum())))
    return f"In all: {', '.join(parts)}."
