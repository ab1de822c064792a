"""What the benchmarks share: a measured line, the table, the plot."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


def plot(lines: Sequence[Line], path: Path) -> None:
    """Cost against size, measured solid and alternatives dashed, as one offline HTML file."""
    import plotly.graph_objects as go

    timed = [line for line in lines if line.unit in ("s", "ms")]
    figure = go.Figure()
    for i, what in enumerate(dict.fromkeys(line.what for line in timed)):
        here = sorted((x for x in timed if x.what == what), key=lambda line: line.size)
        for name, dash, values in (
            (what, "solid", [line.value for line in here]),
            (here[0].alternative, "dash", [line.other for line in here]),
        ):
            seconds = [v and v / (1000 if here[0].unit == "ms" else 1) for v in values]
            if any(seconds):
                figure.add_scatter(
                    x=[line.size for line in here],
                    y=seconds,
                    name=f"{what}: {name}" if dash == "dash" else what,
                    mode="lines+markers",
                    line={"dash": dash},
                    marker={"symbol": i % 40},
                )
    figure.update_xaxes(type="log", title="size (turns, steps or nodes)")
    figure.update_yaxes(type="log", title="seconds")
    figure.update_layout(title="Cost against size", height=900)
    figure.write_html(path, include_plotlyjs=True)


def run(measure: Callable[[], Sequence[Line]], about: str | None) -> None:
    """A benchmark by itself: its first line, its table."""
    print((about or "").split("\n")[0])
    show(measure())
