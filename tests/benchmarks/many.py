"""Sweeps of many conversations: one process beside several, or beside a Dask cluster.

Run ``python -m tests.benchmarks.many [FILE] [--workers N] [--scheduler ADDRESS]`` from the
project's root, with the data of ``tests.benchmarks.recall``; two processes by default
(extra ``parallel``), or the workers of a Dask scheduler (extra ``cluster``). Segment tree
and BM25, two seeds, the default grid. Nothing is asserted here; whether the numbers agree
to the last digit is printed.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from functools import partial
from time import perf_counter

import segviz
from segviz.evaluation.parallel import measure_many
from tests.benchmarks.report import real_data, table

SYSTEMS = ("segment-tree", "bm25")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.many")
    parser.add_argument("file", nargs="?", default=real_data("locomo", "locomo5.json"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scheduler", metavar="ADDRESS")
    given = parser.parse_args()
    corpus = tuple(segviz.load(given.file))
    builders = {name: partial(segviz.build, system=name) for name in SYSTEMS}
    run = partial(measure_many, segviz.sweep, corpus, builders, seeds=(0, 1))
    results, rows = [], []
    for name, workers in {
        "one process": 1,
        given.scheduler or f"{given.workers} processes": None if given.scheduler else given.workers,
    }.items():
        with ExitStack() as opened:
            if workers is None:
                import distributed
                import joblib

                client = opened.enter_context(distributed.Client(given.scheduler))
                opened.enter_context(joblib.parallel_config(backend="dask", client=client))
            began = perf_counter()
            results.append(run(workers=workers))
        rows.append((name, str(len(results[-1])), f"{perf_counter() - began:.1f} s"))
    print(table(("", ">sweeps", ">time"), rows))
    print("\nThe same numbers:", "yes" if repr(results[0]) == repr(results[1]) else "NO")


if __name__ == "__main__":
    main()
