"""Saving and opening a memory, beside pickle.

Run ``python -m tests.benchmarks.store [TURNS]`` from the project's root. Opening reads,
checks every value and the laws of the structure; pickle checks nothing and runs whatever
code the file names, which is why it is not used.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from pathlib import Path

import segviz
from tests.benchmarks.report import Line, best, run
from tests.benchmarks.synthetic import conversation


def measure(turns: int = 10_000) -> list[Line]:
    memory = segviz.build(conversation(turns), unit="turn")
    steps = memory.steps
    raw = pickle.dumps(steps)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.json"
        saved = best(lambda: memory.save(path), least=0)
        opened = best(lambda: segviz.open(path), least=0)
        size = path.stat().st_size
    return [
        Line("save", turns, saved, "s", best(lambda: pickle.dumps(steps), least=0), "pickle"),
        Line("open", turns, opened, "s", best(lambda: pickle.loads(raw), least=0), "pickle"),
        Line("saved size", turns, size / 1e6, "MB", len(raw) / 1e6, "pickle"),
    ]


if __name__ == "__main__":
    turns = [int(turns) for turns in sys.argv[1:]]
    run(lambda: measure(*turns), __doc__)
