"""What a build, a question, a saved memory and a step back cost, against size.

Run ``python -m tests.benchmarks.growth [COST …]`` from the project's root. A slope is that of the
last two decades: 1 grows as the size does, 0 not at all. Times are the shortest of some, as other
work only makes them longer.

``build``      turns embedded and inserted, what one more costs, the memory it took; beside RAPTOR,
               built anew, and what the app expects of it
``question``   ``memory.ask`` whole, by every relevance
``file``       the saved memory's size, the time to open it, and what a process holds that opened it
               and asked
``moments``    any step of a history, beside replaying it from its beginning
"""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

import numpy as np

import segviz
from segviz.embedding import Cached, WordLlamaEmbedder
from segviz.memory import Building
from segviz.retrieval.relevance import RELEVANCE
from segviz.tree import Moments, replay
from segviz.ui.sidebar.build import expected_seconds
from tests.benchmarks.report import Line, best, real_data, show
from tests.benchmarks.synthetic import conversation, history

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
        if turns in BUILD:  # what the app says of it before
            fresh = partial(Building, spoken, unit="turn")
            told = expected_seconds(lambda f=fresh: f(embedder=Cached(WordLlamaEmbedder())))
            lines.append(Line("build, expected", turns, told, "s", seconds, "build", 2.0, True))
        one = 1000 * late / (turns - turns // 2)
        lines += [
            Line("build", turns, seconds, "s", anew, "RAPTOR", BUILD.get(turns)),
            Line("build, memory", turns, peak, "MB", vectors, "its vectors"),
            Line("one more turn", turns, one, "ms", anew and 1000 * anew, "RAPTOR built anew"),
        ]
    if (real := real_data("locomo", "locomo5.json")).is_file():
        talk = segviz.load(real)["conv-47"]
        seconds = best(lambda: segviz.build(talk), 0)
        lines.append(Line("build, conv-47", len(talk.turns), seconds, budget=1.0))
    return lines


def question() -> list[Line]:
    lines = []
    for turns in TO_100K:
        memory = history(turns)
        for name in RELEVANCE:
            spent = 1000 * best(lambda m=memory, r=name: m.ask(ASKED, relevance=r))
            lines.append(Line(f"ask, {name}", turns, spent, "ms", budget=QUESTION.get(turns)))
        middle = memory.units[turns // 2].time
        spent = 1000 * best(lambda m=memory, when=middle: m.ask(ASKED, as_of=when))
        lines.append(Line("ask, as of its middle", turns, spent, "ms", budget=QUESTION.get(turns)))
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


def slope(points: Sequence[tuple[int, float]]) -> float | None:
    """Returns the exponent of growth over the last two decades, by least squares; None for one
    point."""
    last = [point for point in points if point[0] * 101 >= points[-1][0]]
    return float(np.polyfit(*np.log10(np.array(last)).T, 1)[0]) if len(last) > 1 else None


def told(lines: Sequence[Line]) -> None:
    """Prints all lines, and how everything grows."""
    show(lines)
    points: dict[str, list[tuple[int, float]]] = {}
    for line in lines:
        points.setdefault(line.what, []).append((line.size, line.value))
    rises = {what: slope(those) for what, those in points.items()}
    rising = (f"{what} {rise:.2f}" for what, rise in rises.items() if rise is not None)
    print(f"\nSlopes over the last two decades: {', '.join(rising)}.")
    print(f"\nThe machine's load at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


def main() -> None:
    lines = []
    for name in sys.argv[1:] or COSTS:
        lines += COSTS[name]()
        print(f"{name} is measured", file=sys.stderr, flush=True)
    told(lines)


if __name__ == "__main__":
    main()
