"""Shared parts of the benchmarks: a measured line, tables in Markdown, the files of results.

A benchmark prints Markdown. ``python -m tests.benchmarks NAME --write`` writes what it printed to
``tests/benchmarks/results/NAME.md``, with the command and the versions it was measured with. Nobody
edits such a file by hand.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

from segviz.cli.console import plain
from segviz.evaluation import Mean
from tests.data import data_path as real_data


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

    def cells(self) -> tuple[str, ...]:
        """The row of this line under ``HEAD``."""
        limit = "" if self.budget is None else f"{self.budget:g}{'x' if self.relative else ''}"
        return (
            self.what,
            f"{self.size:,}",
            f"{self.value:.3g} {self.unit}",
            "" if self.other is None else f"{self.other:.3g} {self.unit}",
            self.alternative,
            "" if self.ratio is None else f"{self.ratio:.3g}x",
            limit + {None: "", True: " met", False: " MISSED"}[self.met],
        )


HEAD = ("", ">size", ">measured", ">beside", "of", ">ratio", "budget")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose source is aligned, so that it reads in a terminal too.

    A heading that begins with ``>`` aligns its column to the right.
    """
    right = [name.startswith(">") for name in head]
    lines = [[name.lstrip(">") for name in head], *(list(row) for row in rows)]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(head))]
    rule = [
        "-" * (width - 1) + (":" if end else "-") for width, end in zip(widths, right, strict=True)
    ]

    def row(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if end else cell.ljust(width)
            for cell, width, end in zip(cells, widths, right, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    return "\n".join([row(lines[0]), row(rule), *(row(line) for line in lines[1:])])


def interval(mean: Mean, signed: bool = False) -> str:
    """A mean with its 95 % interval: ``.518 [.490, .550]``."""
    form = "+.3f" if signed else ".3f"
    value, low, high = (number(each, form) for each in (mean.value, mean.low, mean.high))
    return f"{value} [{low}, {high}]"


def number(value: float, form: str = ".3f") -> str:
    """A share without its leading zero: ``.518``."""
    return format(value, form).replace("0.", ".", 1)


SETS: dict[str, tuple[str, ...]] = {
    "LoCoMo": ("locomo/locomo5.json",),
    "LongMemEval oracle": ("longmemeval/oracle_sample.json",),
    "LongMemEval-S": ("longmemeval/s_sample.json",),
    "RealMem": tuple(
        f"realmem/{who}.json" for who in ("Adeleke_Okonjo", "Kenta_Tanaka", "Pak_Budi")
    ),
}
"""Files of each data set."""
RESULTS = Path(__file__).with_name("results")
LIBRARIES = ("numpy", "wordllama", "bm25s", "streamlit", "scipy", "plotly")


def write(name: str, title: str, printed: str, command: str = "", folder: Path = RESULTS) -> Path:
    """Writes what a benchmark printed to ``NAME.md``, with its command and the versions."""
    found = [f"Python {platform.python_version()}"]
    for library in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            found.append(f"{library} {metadata.version(library)}")
    shown = printed.strip()
    if "\n| " not in f"\n{shown}":  # a benchmark without a table: as it was printed
        shown = f"```text\n{shown}\n```"
    command = command or f"python -m tests.benchmarks {name} --write"
    path = folder / f"{name}.md"
    path.write_text(
        f"# {title}\n\n{shown}\n\n<sub>`{command}`; {', '.join(found)}.</sub>\n",
        encoding="utf-8",
        newline="\n",
    )
    return path


def data_file() -> Path:
    """The file named on the command line, or the LoCoMo conversations."""
    return Path(sys.argv[1]) if len(sys.argv) > 1 else real_data("locomo", "locomo5.json")


def numbers(*usual: int) -> list[int]:
    """The whole numbers on the command line; those left out are the usual ones."""
    given = [int(argument) for argument in sys.argv[1 : len(usual) + 1]]
    return [*given, *usual[len(given) :]]


def stored(path: Path, found: Any) -> Any:
    """Writes a results file, and reads it as the tables do."""
    path.write_text(json.dumps(plain(found), indent=1) + "\n", encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def chromium() -> AbstractContextManager[Any]:
    """A browser of Playwright's; ends the program where there is none."""
    from tests.conftest import launched

    return launched(sys.exit)


def tab(browser: Any, height: int, width: int = 1400) -> Any:
    """A page of this size; errors of its scripts are printed."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.on("pageerror", lambda error: print(f"script error: {error}"))
    return page


def resident(pid: int, what: str = "VmRSS") -> float:
    """Memory a process holds in MB, or with ``VmHWM`` the most it ever held."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    return float("nan")


def worked(pid: int) -> float:
    """Processor seconds a process has taken, which do not depend on what else is running."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def best(run: Callable[[], Any], least: float = 0.5, most: int = 5_000) -> float:
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
    """Print measured lines as one table."""
    print(table(HEAD, (line.cells() for line in lines)))
