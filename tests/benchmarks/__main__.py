"""All benchmarks: ``python -m tests.benchmarks [NAME …] [--list] [--write]``.

Without names ``growth`` runs: every cost against size, beside an alternative measured in the same
run, and the budget where there is one. The others print tables of their own; most need real
conversations (SEGVIZ_DATA or ../shared/data), some a Chromium, none a network. Nothing is asserted:
times belong to a machine. ``--write`` writes what each prints to
``tests/benchmarks/results/NAME.md``.
"""

import argparse
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module

from tests.benchmarks.report import write

TABLES: dict[str, str] = {
    "growth": "every cost against size",
    "sweep": "the full sweep of conv-26",
    "recall": "evidence recall of every policy, with baselines",
    "ingredients": "what each ingredient of relevance and the tree add, on three data sets",
    "tree_gain": "what propagation adds to each relevance, beside sessions and neighbours in time",
    "opening": "whether propagation is seen at work in the setting the app opens with",
    "attribution": "the turns of stored facts found again, and at which stage evidence is lost",
    "shape": "tree shapes beside the paper's Table 5",
    "nodes": "texts of inner nodes, before and after: what they say and what they are worth",
    "yardsticks": "what labels and texts of inner nodes say, level by level, before and after",
    "constants": "constants of extracts, chosen on some conversations and reported on others",
    "texts": "texts written by hand against flat leaves and extracts; dates; propagation",
    "summaries": "LoCoMo's own summaries of sessions as annotations, against our extracts",
    "calls": "model calls per leaf",
    "systems": "all systems on one conversation",
    "large": "a list of 280 MB on disk: listing it, reading one conversation, memory",
    "startup": "from the command to the painted demo (Chromium)",
    "drag": "script time per frame while a slider moves (Chromium)",
    "latency": "from a change on Ask to its answer on the screen (Chromium)",
    "rerun": "functions of segviz that a change on Ask runs (Chromium)",
    "sessions": "twenty browser sessions at once for ten minutes (Chromium)",
    "watching": "an agent that writes 20 turns a second, watched (Chromium); 28,000 turns",
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
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TABLES))
    parser.add_argument("--list", action="store_true", help="what there is, then stop")
    parser.add_argument("--write", action="store_true", help="write the tables to results/NAME.md")
    given = parser.parse_args()
    if given.list:
        for name, about in TABLES.items():
            print(f"{name:<14}{about}")
        return
    unknown = [name for name in given.names if name not in TABLES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(TABLES)}")
    for name in given.names or ["growth"]:
        print(f"== {name}", flush=True)
        with captured() as printed:
            sys.argv[1:] = []
            import_module(f"tests.benchmarks.{name}").main()
        if given.write:
            print(f"written to {write(name, f'{name}: {TABLES[name]}', printed.getvalue())}")


if __name__ == "__main__":
    main()
