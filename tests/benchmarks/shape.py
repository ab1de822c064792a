"""Shape of calibrated segment trees on real conversations, beside the paper's Table 5.

Run ``python -m tests.benchmarks.shape [FILE …]`` from the project's root; by default the
LoCoMo conversations the defaults were set on, then LongMemEval and RealMem, on which nothing
was tuned (under SEGVIZ_DATA or ../shared/data). Nothing is asserted here; the targets are in
tests/test_real_conversations.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import segviz
from segviz.conversation import Conversation
from segviz.evaluate.published import TABLE_5
from segviz.tree.shape import boundary_f1, random_f1, session_starts, shape

FILES = (
    "locomo/locomo5.json",
    "longmemeval/s_gpt4_4edbafa2.json",
    "realmem/Kenta_Tanaka.json",
)
HEAD = (
    "leaves",
    "nodes/leaf",
    "max depth",
    "mean depth",
    "branching",
    "widest",
    "F1",
    "random",
    "build s",
)


def measure(conversation: Conversation) -> tuple[float, ...]:
    """One row: shape with single-child nodes left out, boundary agreement, build time."""
    began = perf_counter()
    memory = segviz.build(conversation)
    seconds = perf_counter() - began
    found = shape(memory.structure)
    starts = session_starts(unit.session for unit in memory.units)
    return (
        found.leaves,
        found.nodes_per_leaf,
        found.max_depth,
        found.mean_depth,
        found.branching,
        found.widest,
        boundary_f1(memory.structure, starts),
        random_f1(memory.structure, starts),
        seconds,
    )


def main() -> None:
    folder = Path(os.environ.get("SEGVIZ_DATA") or Path(__file__).parents[3] / "shared" / "data")
    paths = [Path(name) for name in sys.argv[1:]] or [folder / name for name in FILES]
    print(f"{'':>22}" + "".join(f"{name:>11}" for name in HEAD))
    for path in paths:
        rows = []
        for conversation in segviz.load(path):
            rows.append(measure(conversation))
            print(f"{conversation.id:>22}" + "".join(f"{value:>11.2f}" for value in rows[-1]))
        if len(rows) > 1:
            print(f"{'mean':>22}" + "".join(f"{v:>11.2f}" for v in np.mean(rows, axis=0)))
    for row in TABLE_5:
        if row.method.endswith("cosine"):
            values = (
                row.leaves,
                row.nodes / row.leaves,
                row.max_depth,
                row.mean_depth,
                row.branching,
            )
            print(f"{'paper, ' + row.data:>22}" + "".join(f"{v:>11.2f}" for v in values))


if __name__ == "__main__":
    main()
