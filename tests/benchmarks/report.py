"""What the benchmarks share: a measured line, the table, the plot."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Line:
    """One measurement at one size, beside an alternative measured in the same run.

    ``value`` and ``other`` are in ``unit``; ``budget`` is a largest ``value``, or with
    ``relative`` a largest ratio of value and other.
    """

    what: str
    size: int
    value: float
    unit: str = "s"
    other: float | None = None
    alternative: str = ""
    budget: float | None = None
    relative: bool = False

    @property
    def ratio(self) -> float | None:
        """Value over alternative."""
        return self.value / self.other if self.other else None

    @property
    def met(self) -> bool | None:
        """Whether the budget holds; None without one."""
        found = self.ratio if self.relative else self.value
        return None if self.budget is None or found is None else found <= self.budget

    def __str__(self) -> str:
        value = f"{self.value:.4g} {self.unit}"
        other = "" if self.other is None else f"{self.other:.4g} {self.unit}"
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}x"
        limit = "" if self.budget is None else f"{self.budget:g}{'x' if self.relative else ''}"
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return (
            f"{self.what:<44}{self.size:>10,}{value:>14}{other:>14}{ratio:>9}{limit:>8} "
            f"{verdict:<7}{self.alternative}"
        )


HEAD = (
    f"{'':<44}{'size':>10}{'measured':>14}{'alternative':>14}{'ratio':>9}{'budget':>8} "
    f"{'':<7}alternative is"
)


def best(run: Callable[[], Any], least: float = 0.5, most: int = 200) -> float:
    """Shortest of some runs, seconds: as many as fit into ``least`` seconds, at least three,
    after one to warm up. What else the machine does can only make a run longer."""
    run()
    gc.collect()
    times: list[float] = []
    while len(times) < 3 or (sum(times) < least and len(times) < most):
        began = perf_counter()
        run()
        times.append(perf_counter() - began)
    return min(times)


def show(lines: Sequence[Line]) -> None:
    print(HEAD)
    for line in lines:
        print(line)


_COLUMNS = 3
_MEASURED, _OTHER = "#b5390b", "#77736d"


def plot(lines: Sequence[Line], path: Path) -> None:
    """Cost against size as one offline HTML file: a panel for each thing that was measured at
    several sizes, the measured line solid, the alternative dashed."""
    from plotly.subplots import make_subplots

    timed = [line for line in lines if line.unit in ("s", "ms")]
    grouped = {what: [x for x in timed if x.what == what] for what in {x.what: 0 for x in timed}}
    panels = {what: found for what, found in grouped.items() if len({x.size for x in found}) > 1}
    rows = -(-len(panels) // _COLUMNS) or 1
    titles = [
        what + (f"<br><sub>dashed: {found[0].alternative}</sub>" if found[0].other else "")
        for what, found in panels.items()
    ]
    figure = make_subplots(rows, _COLUMNS, subplot_titles=titles, vertical_spacing=0.3 / rows)
    for i, found in enumerate(panels.values()):
        here = sorted(found, key=lambda line: line.size)
        scale = 1000 if here[0].unit == "ms" else 1
        row, col = i // _COLUMNS + 1, i % _COLUMNS + 1
        costs = [v / scale for line in here for v in (line.value, line.other) if v]
        # Whole decades, or a change of a tenth would look like a cliff.
        decades = [floor(log10(min(costs))), ceil(log10(max(costs)))]
        figure.update_yaxes(range=decades, row=row, col=col)
        for values, colour, dash in (
            ([line.value for line in here], _MEASURED, "solid"),
            ([line.other for line in here], _OTHER, "dash"),
        ):
            if any(values):
                figure.add_scatter(
                    x=[line.size for line in here],
                    y=[value and value / scale for value in values],
                    line={"dash": dash, "color": colour},
                    mode="lines+markers",
                    row=row,
                    col=col,
                )
    figure.update_xaxes(type="log", dtick=1, gridcolor="#e4e1dc", linecolor="#77736d")
    figure.update_yaxes(type="log", dtick=1, ticksuffix="s", gridcolor="#e4e1dc")
    figure.update_layout(
        title="Cost in seconds against size (turns, steps or nodes)",
        height=320 * rows + 120,
        margin={"t": 140},
        plot_bgcolor="white",
        showlegend=False,
    )
    figure.write_html(path, include_plotlyjs=True)


def run(measure: Callable[[], Sequence[Line]], about: str | None) -> None:
    """A benchmark by itself: its first line, its table."""
    print((about or "").split("\n")[0])
    show(measure())
