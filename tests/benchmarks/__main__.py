"""All benchmarks: ``python -m tests.benchmarks [NAME …] [--list] [--write] [--plot FILE.html]``.

Without names those of cost against size run and end in one table: what was measured,
beside an alternative measured in the same run, and the budget where there is one. The
others print tables of their own; most need real conversations (SEGVIZ_DATA or
../shared/data), some a Chromium, none a network. Nothing is asserted: times belong to a
machine. ``--write`` puts the table of each into its block of ``tests/benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path

from tests.benchmarks import construction, payload, propagation, query, replay, store
from tests.benchmarks.report import README, Line, block, plot, show, write

SCALING: dict[str, Callable[[], list[Line]]] = {
    "construction": construction.measure,
    "query": query.measure,
    "propagation": propagation.measure,
    "replay": replay.measure,
    "payload": payload.measure,
    "store": store.measure,
}

TABLES: dict[str, str] = {
    "sweep": "the full sweep of conv-26 beside asking one by one",
    "recall": "evidence recall of every policy, with baselines",
    "ingredients": "what each ingredient of relevance and the tree add, on three data sets",
    "permutation": "what is lost when units change places",
    "shape": "tree shapes beside the paper's Table 5",
    "calls": "model calls per leaf",
    "systems": "all systems on one conversation",
    "locality": "nodes MemForest writes per unit",
    "maintenance": "shape and recall before and after maintenance",
    "many": "sweeps of many conversations, one process beside several",
    "large": "a list of 280 MB on disk: listing it, reading one conversation, memory",
    "startup": "from the command to the painted demo (Chromium)",
    "drag": "script time per frame while a slider moves (Chromium)",
    "frames": "script time per frame while the tree is panned and zoomed (Chromium)",
    "latency": "from a change on Ask to its answer on the screen (Chromium)",
    "large_app": "the app on 100,000 turns, one turn of 5 MB and 280 MB of JSON (Chromium)",
    "sessions": "twenty browser sessions at once for ten minutes (Chromium)",
    "watching": "an agent that writes 20 turns a second, watched (Chromium); 28,000 turns",
    "life": "memory over 500 page loads and 50 sessions (Chromium)",
}


@contextmanager
def captured() -> Iterator[io.StringIO]:
    """What is printed meanwhile; it appears on the screen as well."""
    kept, screen = io.StringIO(), sys.stdout

    class Both(io.TextIOBase):
        def write(self, text: str) -> int:
            screen.write(text)
            screen.flush()
            return kept.write(text)

    with redirect_stdout(Both()):
        yield kept


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description="Benchmarks of cost and quality."
    )
    known = (*SCALING, *TABLES)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--list", action="store_true", help="what there is, then stop")
    parser.add_argument("--write", action="store_true", help="put the tables into the README")
    parser.add_argument("--plot", type=Path, help="write cost against size here (HTML)")
    given = parser.parse_args()
    if given.list:
        for name, function in SCALING.items():
            about = sys.modules[function.__module__].__doc__ or ""
            print(f"{name:<14}{about.splitlines()[0]}")
        for name, about in TABLES.items():
            print(f"{name:<14}{about}")
        return
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(known)}")
    lines: list[Line] = []
    for name in given.names or SCALING:
        print(f"== {name}", flush=True)
        with captured() as printed:
            if name in SCALING:
                found = SCALING[name]()
                show(found)
                lines += found
            else:
                sys.argv[1:] = []
                import_module(f"tests.benchmarks.{name}").main()
        if given.write:
            write(name, block(name, printed.getvalue()))
            print(f"written into {README}")
    if len(given.names) != 1 and lines:
        print("\n== all together")
        show(lines)
    if given.plot:
        plot(lines, given.plot)
        print(f"written: {given.plot}")


if __name__ == "__main__":
    main()
