"""Shape of calibrated segment trees on real conversations, beside the paper's Table 5.

Run ``python -m tests.benchmarks.shape [FILE …]`` from the project's root; by default the
LoCoMo conversations the defaults were set on, then LongMemEval and RealMem, on which nothing
was tuned (under SEGVIZ_DATA or ../shared/data). Nothing is asserted here; the targets are in
tests/systems/test_real_conversations.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import segviz
from segviz.conversation import Conversation
from segviz.evaluate.published import TABLE_5
from segviz.tree.shape import boundary_f1, random_f1, session_starts, shape
from tests.benchmarks.report import real_data, table

FILES = (
    "locomo/locomo5.json",
    "longmemeval/s_gpt4_4edbafa2.json",
    "realmem/Kenta_Tanaka.json",
)
HEAD = (
    "",
    ">leaves",
    ">nodes/leaf",
    ">max depth",
    ">mean depth",
    ">depth std",
    ">branching",
    ">widest",
    ">F1",
    ">F1, random cut",
)
FORMS = ("{:.0f}", "{:.2f}", "{:.1f}", "{:.1f}", "{:.2f}", "{:.1f}", "{:.0f}", "{:.2f}", "{:.2f}")


def measure(conversation: Conversation) -> tuple[float, ...]:
    """One row: shape with same-text chains as one node, boundary agreement."""
    memory = segviz.build(conversation)
    found = shape(memory.structure)
    starts = session_starts(unit.session for unit in memory.units)
    return (
        found.leaves,
        found.nodes_per_leaf,
        found.max_depth,
        found.mean_depth,
        found.depth_std,
        found.branching,
        found.widest,
        boundary_f1(memory.structure, starts),
        random_f1(memory.structure, starts),
    )


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]] or [real_data(name) for name in FILES]
    table_rows = []
    for path in paths:
        conversations = list(segviz.load(path))
        rows = [measure(conversation) for conversation in conversations]
        named = [conversation.id for conversation in conversations]
        if len(rows) > 1:
            rows.append(tuple(np.mean(rows, axis=0)))
            named.append(f"mean of {len(conversations)}")
        table_rows += [
            (name, *(form.format(value) for form, value in zip(FORMS, row, strict=True)))
            for name, row in zip(named, rows, strict=True)
        ]
    for row in TABLE_5:
        if row.method.endswith("cosine"):
            values = (
                row.leaves,
                row.nodes / row.leaves,
                row.max_depth,
                row.mean_depth,
                row.depth_std,
                row.branching,
            )
            said = (form.format(v) for form, v in zip(FORMS, values, strict=False))
            table_rows.append((f"paper, {row.data}", *said, "", "", ""))
    print(table(HEAD, table_rows))


if __name__ == "__main__":
    main()
