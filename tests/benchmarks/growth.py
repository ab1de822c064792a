"""What a build, a question, a saved memory and a step back cost, against size.

Run ``python -m tests.benchmarks.growth [COST …]`` from the project's root. All costs are drawn in
``results/growth.svg``, some in a temporary file. The slope named at the end of a line is that of
its last two decades: 1 grows as the size does, 0 not at all. Times are the shortest of some, as
other work only makes them longer.

``build``      turns embedded and inserted, what one more costs, the memory it took; beside RAPTOR,
               built anew
``question``   ``memory.ask`` whole, by every relevance
``file``       the saved memory's size, the time to open it, and what a process holds that opened it
               and asked
``moments``    any step of a history, beside replaying it from its beginning
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from xml.sax.saxutils import escape

import numpy as np

import segviz
from segviz.embedding import Cached, WordLlamaEmbedder
from segviz.memory import Building
from segviz.retrieval.relevance import RELEVANCE
from segviz.tree import Moments, replay
from tests.benchmarks.report import Line, best, show
from tests.benchmarks.synthetic import conversation, history

PICTURE = Path(__file__).parent / "results" / "growth.svg"
ASKED = "What did Nora say about the telescope and the eclipse in Bergen?"
TO_100K = (10, 100, 1_000, 10_000, 100_000)
LARGEST_RAPTOR = 1_000
# What a person waits for, by size: seconds for a build, milliseconds for a question.
BUILD = {10_000: 15.0, 100_000: 180.0}
QUESTION = {1_000: 30.0, 100_000: 1_000.0}


def build() -> list[Line]:
    lines = []
    for turns in TO_100K:
        spoken, embedder = conversation(turns), Cached(WordLlamaEmbedder())
        embedder.embed(["warm"])
        building = Building(spoken, unit="turn", embedder=embedder)
        began, half = perf_counter(), 0.0
        for done, _ in enumerate(building, start=1):
            if done == turns // 2:
                half = perf_counter()
        seconds, late = perf_counter() - began, perf_counter() - half
        peak = getrusage(RUSAGE_SELF).ru_maxrss * 1024 / 1e6
        vectors = building.memory.structure.vector.nbytes / 1e6
        anew = None
        if turns <= LARGEST_RAPTOR:
            began = perf_counter()
            segviz.build(spoken, "raptor", unit="turn", embedder=embedder)
            anew = perf_counter() - began
        one = 1000 * late / (turns - turns // 2)
        lines += [
            Line("build", turns, seconds, "s", anew, "RAPTOR", BUILD.get(turns)),
            Line("build, memory", turns, peak, "MB", vectors, "its vectors"),
            Line("one more turn", turns, one, "ms", anew and 1000 * anew, "RAPTOR built anew"),
        ]
    return lines


def question() -> list[Line]:
    lines = []
    for turns in TO_100K:
        memory = history(turns)
        for name in RELEVANCE:
            spent = 1000 * best(lambda m=memory, r=name: m.ask(ASKED, relevance=r))
            lines.append(Line(f"ask, {name}", turns, spent, "ms", budget=QUESTION.get(turns)))
    return lines


OPENED = """
import sys, segviz
memory = segviz.open(sys.argv[1])
memory.structure, memory.units
memory.ask("What of the telescope?", relevance="dense")
for line in open("/proc/self/status"):
    if line.startswith("RssAnon"):
        print(int(line.split()[1]) / 1e3)
"""


def file() -> list[Line]:
    lines = []
    for turns in TO_100K:
        memory = history(turns)
        vectors = len(memory.structure) * 1024 / 1e6
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.npz"
            memory.save(path)
            del memory
            told = subprocess.run(
                [sys.executable, "-c", OPENED, str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            lines += [
                Line("file", turns, path.stat().st_size / 1e6, "MB", vectors, "its vectors"),
                Line("open", turns, best(lambda p=path: segviz.open(p), 0), "s"),
                Line("memory", turns, float(told.stdout), "MB", vectors, "its vectors"),
            ]
    return lines


def moments() -> list[Line]:
    lines = []
    for turns in TO_100K:
        steps = history(turns).steps
        places = random.Random(0).choices(range(turns), k=20)
        anew = sum(best(lambda p=p, s=steps: replay(s[:p]), 0) for p in places[:4]) / 4
        known = Moments(steps)
        known.at(turns)
        began = perf_counter()
        for place in places:
            known.at(place)
        spent = (perf_counter() - began) / len(places)
        lines.append(Line("any step", turns, 1000 * spent, "ms", 1000 * anew, "replayed anew"))
    return lines


COSTS: dict[str, Callable[[], list[Line]]] = {
    "build": build,
    "question": question,
    "file": file,
    "moments": moments,
}


# --- drawing -----------------------------------------------------------------------------------

_WIDE, _TALL, _ACROSS = 440, 300, 3
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 170, 40, 40
_COLOURS = ("#b5390b", "#3b6ea5", "#7a7a7a", "#5a8f3c")
Curve = list[tuple[int, float]]


def curves(lines: Sequence[Line]) -> dict[tuple[str, str], dict[str, Curve]]:
    """By cost and unit, then by name ("segviz" first): size and value, ascending."""
    found: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for line in lines:
        panel = found.setdefault((line.what, line.unit), {"segviz": {}})
        if line.value == line.value and line.value > 0:
            panel["segviz"][line.size] = line.value
        if line.other:
            panel.setdefault(line.alternative, {})[line.size] = line.other
    return {
        key: {name: sorted(points.items()) for name, points in panel.items() if points}
        for key, panel in found.items()
    }


def slope(curve: Curve) -> float | None:
    """The exponent of growth over the last two decades, by least squares; None for one point."""
    last = [point for point in curve if point[0] * 101 >= curve[-1][0]]
    if len(last) < 2:
        return None
    return round(float(np.polyfit(*np.log10(np.array(last)).T, 1)[0]), 6) + 0.0  # never -0


def draw(lines: Sequence[Line], path: Path = PICTURE) -> None:
    """Every cost as a panel with logarithmic axes, in one SVG."""
    panels = curves(lines)
    rows = -(-len(panels) // _ACROSS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE * _ACROSS}" '
        f'height="{_TALL * rows}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for number, ((what, unit), panel) in enumerate(panels.items()):
        x, y = number % _ACROSS * _WIDE, number // _ACROSS * _TALL
        parts += [f'<g transform="translate({x},{y})">', *_panel(what, unit, panel), "</g>"]
    path.write_text("\n".join([*parts, "</svg>\n"]), encoding="utf-8")


def _panel(what: str, unit: str, panel: dict[str, Curve]) -> list[str]:
    points = np.log10(np.array([point for curve in panel.values() for point in curve]))
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    x0, x1, y0, y1 = floor(x0 + 0.01), ceil(x1 - 0.01), floor(y0), max(ceil(y1), floor(y0) + 1)
    width, height = _WIDE - _LEFT - _RIGHT, _TALL - _TOP - _BOTTOM

    def place(size: float, value: float) -> tuple[float, float]:
        across = (log10(size) - x0) / max(x1 - x0, 1)
        return _LEFT + width * across, _TOP + height * (1 - (log10(value) - y0) / (y1 - y0))

    out = [f'<text x="{_LEFT}" y="22" font-size="14">{escape(what)}, {unit}</text>']
    for decade in range(x0, x1 + 1):
        x, _ = place(10**decade, 10**y0)
        out.append(f'<path d="M{x:.1f} {_TOP}v{height}" stroke="#e4e1dc"/>')
        label = f"{10**decade:,}" if decade < 4 else f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[decade]}"
        out.append(f'<text x="{x:.1f}" y="{_TALL - 22}" text-anchor="middle">{label}</text>')
    for decade in range(y0, y1 + 1):
        _, y = place(10**x0, 10**decade)
        out.append(f'<path d="M{_LEFT} {y:.1f}h{width}" stroke="#e4e1dc"/>')
        label = f"{10.0**decade:g}" if -4 < decade < 5 else f"1e{decade}"
        out.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    taken: list[float] = []
    for (name, curve), colour in zip(panel.items(), _COLOURS, strict=False):
        spots = [place(*point) for point in curve]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in spots]
        rise = slope(curve)
        told = name if rise is None else f"{name}, slope {rise:.2f}"
        end, beside = spots[-1][0] + 7, spots[-1][1] + 4
        if end > _LEFT + width * 0.75:
            end = _LEFT + width + 7
        else:  # above its last point, where no other line goes on
            beside -= 10
        while any(abs(beside - other) < 13 for other in taken):
            beside += 1
        taken.append(beside)
        out.append(f'<text x="{end:.1f}" y="{beside:.1f}" fill="{colour}">{escape(told)}</text>')
    return out


def told(lines: Sequence[Line]) -> None:
    """Prints all lines, and how everything grows."""
    show([line for line in lines if line.value == line.value])
    rises = {what: slope(panel["segviz"]) for (what, _), panel in curves(lines).items()}
    rising = (f"{what} {rise:.2f}" for what, rise in rises.items() if rise is not None)
    print(f"\nSlopes over the last two decades: {', '.join(rising)}.")
    print(f"\nThe machine's load at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    print("\n![Costs against size](results/growth.svg)")


def main() -> None:
    names = sys.argv[1:] or list(COSTS)
    lines = []
    for name in names:
        lines += COSTS[name]()
        print(f"{name} is measured", file=sys.stderr, flush=True)
    told(lines)
    draw(lines, PICTURE if names == list(COSTS) else Path(tempfile.gettempdir()) / "growth.svg")


if __name__ == "__main__":
    main()
