"""Building: what an insertion costs as the conversation grows, and memory.

Run ``python -m tests.benchmarks.construction [TURNS …]`` from the project's root. Turns are
units, embeddings included, offline defaults. Insertion times are of this process's
processor, so that other work on the machine does not count; building is by the clock. The
alternative to inserting a unit is building anew, as RAPTOR must: one clustering of all
units into layers, measured up to 1,000 turns.
"""

from __future__ import annotations

import resource
import sys
from itertools import pairwise
from time import perf_counter, process_time

import segviz
from segviz.embedding import Cached, WordLlamaEmbedder
from segviz.memory import Building
from segviz.tree import Add, Revise
from tests.benchmarks.report import Line, run
from tests.benchmarks.synthetic import conversation
from tests.data import ROOT

EDGE = 1_000
REBUILT = (250, 1_000)


def insertions(turns: int) -> tuple[list[float], float]:
    """Processor seconds of every insertion but the first, and seconds by the clock."""
    spoken = conversation(turns)
    embedder = Cached(WordLlamaEmbedder())
    embedder.embed(["warm"])
    began = perf_counter()
    marks = [process_time() for _ in Building(spoken, unit="turn", embedder=embedder)]
    return [after - before for before, after in pairwise(marks)], perf_counter() - began


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def rebuild(turns: int) -> float:
    """Seconds of one RAPTOR build."""
    spoken = conversation(turns)
    embedder = Cached(WordLlamaEmbedder())
    embedder.embed([unit.text for unit in spoken.units("turn")])
    began = perf_counter()
    segviz.build(spoken, "raptor", unit="turn", embedder=embedder)
    return perf_counter() - began


def embedding(turns: int) -> Line:
    """A build beside its limit: embedding every text that any step wrote, and nothing else."""
    building = Building(conversation(turns), unit="turn", embedder=Cached(WordLlamaEmbedder()))
    began = process_time()
    steps = list(building)
    whole = process_time() - began
    events = [event for step in steps for event in step.events if isinstance(event, Add | Revise)]
    texts = list(dict.fromkeys(event.text for event in events))
    embedder = WordLlamaEmbedder()
    began = process_time()
    embedder.embed(texts)
    alone = process_time() - began
    return Line("build, processor", turns, whole, other=alone, alternative="embedding alone")


def measure(sizes: tuple[int, ...] = (10_000, 100_000)) -> list[Line]:
    lines = [sample(), embedding(10_000)]
    for turns in REBUILT:
        each, _ = insertions(turns)
        last = each[-turns // 2 :]
        lines.append(
            Line(
                "one more unit",
                turns,
                1000 * sum(last) / len(last),
                "ms",
                1000 * rebuild(turns),
                "RAPTOR built anew",
            )
        )
    for turns in sizes:
        # Repeated where it is short, best of each part: other work only makes it longer.
        runs = [insertions(turns) for _ in range(3 if turns < 50_000 else 1)]
        seconds = min(whole for _, whole in runs)
        early = min(sum(each[:EDGE]) for each, _ in runs)
        late = min(sum(each[-EDGE:]) for each, _ in runs)
        lines += [
            Line("build", turns, seconds, budget=60 if turns >= 100_000 else None),
            Line(
                "last 1,000 insertions",
                turns,
                late,
                other=early,
                alternative="first 1,000",
                budget=1.2,
                relative=True,
            ),
            Line("peak memory so far", turns, peak_gb(), "GB", budget=1),
        ]
    return lines


def sample() -> Line:
    """The larger bundled conversation as the app builds it; conv-47 has twice its turns."""
    spoken = segviz.load(ROOT / "sample_data" / "ines-theo.json")[0]
    embedder = Cached(WordLlamaEmbedder())
    began = perf_counter()
    segviz.build(spoken, embedder=embedder)
    return Line("build the bundled sample", len(spoken.turns), perf_counter() - began, budget=0.5)


if __name__ == "__main__":
    sizes = tuple(int(turns) for turns in sys.argv[1:])
    run(lambda: measure(sizes) if sizes else measure(), __doc__)
