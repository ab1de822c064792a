"""Replaying a history, and looking at its moments in any order.

Run ``python -m tests.benchmarks.replay [TURNS …]`` from the project's root. Scrubbing jumps
to forty places spread over the history; its alternative is a replay from the beginning for
each. Playing goes on by one step at a time.
"""

from __future__ import annotations

import random
import sys
from functools import partial
from statistics import mean
from time import perf_counter

import segviz
from segviz.tree import Moments, replay
from tests.benchmarks.report import Line, best, run
from tests.benchmarks.synthetic import conversation


def each(moments: Moments, places: list[int]) -> float:
    began = perf_counter()
    for place in places:
        moments.at(place)
    return (perf_counter() - began) / len(places)


def measure(sizes: tuple[int, ...] = (10_000, 100_000)) -> list[Line]:
    lines = []
    for turns in sizes:
        steps = segviz.build(conversation(turns), unit="turn").steps
        places = random.Random(0).sample(range(turns), 40)
        anew = mean(best(partial(replay, steps[:p]), least=0) for p in places[:4])
        moments = Moments(steps)
        moments.at(turns)
        middle = turns // 2
        moments.at(middle)
        whole = best(partial(replay, steps), least=0)
        lines += [
            Line("replay", turns, whole, budget=1 if turns <= 10_000 else None),
            Line("scrub to any step", turns, each(moments, places), "s", anew, "replayed anew"),
            Line(
                "play one step on",
                turns,
                each(moments, list(range(middle + 1, middle + 40))),
                "s",
                anew,
                "replayed anew",
            ),
        ]
    return lines


if __name__ == "__main__":
    sizes = tuple(int(turns) for turns in sys.argv[1:])
    run(lambda: measure(sizes) if sizes else measure(), __doc__)
