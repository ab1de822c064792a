"""Shape of segment trees and their agreement with sessions, beside the paper's Table 5.

Run ``python -m tests.benchmarks.shape [FILE …]`` from the project's root; by default the
LoCoMo conversations the defaults were set on, then LongMemEval and RealMem, on which nothing
was tuned (under SEGVIZ_DATA or ../shared/data). *Contentless* is the share of contentless lines
in inner nodes. F1 is the agreement of level-1 nodes with sessions. No tree here is told where
sessions begin: plain cosine at its best threshold of .30, .35 and .40 and a random cut into as
many level-1 nodes stand beside. The last table sets the thresholds on some LoCoMo conversations
and reports on the others. Nothing is asserted here; the targets are in
tests/systems/test_real_conversations.py.
"""

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import segviz
from segviz.construct.compatibility import Calibrated, Cosine
from segviz.conversation import Conversation
from segviz.evaluation.aggregate import Row
from segviz.evaluation.node_texts import contentless_share
from segviz.evaluation.published import printed_shapes
from segviz.tree.shape import boundary_f1, random_f1, session_starts, shape
from tests.benchmarks.report import real_data, table
from tests.data import HELD_OUT, TUNED_ON

FILES = ("locomo/locomo5.json", "longmemeval/s_gpt4_4edbafa2.json", "realmem/Kenta_Tanaka.json")
HEAD = (
    *("", ">leaves", ">nodes/leaf", ">max depth", ">mean depth", ">depth std", ">branching"),
    *(">widest", ">contentless", ">F1", ">F1, random cut", ">F1, cosine"),
)
F1 = HEAD[1:].index(">F1")
FORMS = ("{:.0f}", "{:.2f}", "{:.1f}", "{:.2f}", "{:.2f}", "{:.1f}", "{:.0f}", *("{:.2f}",) * 4)
COSINE = (0.30, 0.35, 0.40)
HALVES = (TUNED_ON, HELD_OUT)
GRID = tuple(itertools.product((-0.06, -0.03, 0.0), (-0.16, -0.12), (0.08, 0.10, 0.12)))


def measure(conversation: Conversation, model: Calibrated | Cosine) -> tuple[float, ...]:
    """Measures the shape with same-text chains as one node, the share of contentless lines, the
    agreement with sessions and that of a random cut."""
    memory = segviz.build(conversation, system=segviz.SegmentTree(compatibility=model))
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
        contentless_share(memory.structure, conversation.speakers) or 0.0,
        boundary_f1(memory.structure, starts),
        random_f1(memory.structure, starts),
    )


def plain_cosine(conversations: Sequence[Conversation]) -> list[float]:
    """F1 of plain cosine, one per conversation, at the threshold with the best mean."""
    found = [[measure(c, Cosine(threshold))[F1] for c in conversations] for threshold in COSINE]
    return max(found, key=sum)


def published() -> list[tuple[float, ...]]:
    """nodes/leaf, max depth, mean depth, depth std and branching of the paper's cosine rows."""
    names = ("nodes/leaf", "max depth", "mean depth", "depth std", "branching")
    return [tuple(row[name] for name in names) for row in cosine_rows()]


def cosine_rows() -> list[Row]:
    """Returns the paper's rows of trees by cosine similarity, one per data set."""
    return [row for row in printed_shapes("segment-tree", "") if " cosine," in row["memory"]]


def crossed(conversations: Sequence[Conversation]) -> None:
    """Sets level 1, level 3 and crowding on one half by F1, the shape within 15 % of the
    paper's cosine row, and prints what they reach on the other half."""
    named = [conversation.id for conversation in conversations]
    if not all(name in named for half in HALVES for name in half):
        return
    grid = [
        np.array([measure(c, Calibrated(one, level_3=three, crowding=c_)) for c in conversations])
        for one, three, c_ in GRID
    ]
    wanted = np.array(published()[0])
    lines = []
    for half, other in (HALVES, HALVES[::-1]):
        on, off = ([named.index(name) for name in names] for names in (half, other))

        def fits(rows: np.ndarray, on: list[int] = on) -> float:
            mean = rows[on].mean(axis=0)
            near = np.abs(mean[1:6] / wanted - 1).max() <= 0.15
            return float(mean[F1]) if near else -1.0

        best = max(range(len(GRID)), key=lambda i: fits(grid[i]))
        one, three, crowding = GRID[best]
        chosen = f"level_1 {one:g}, level_3 {three:g}, crowding {crowding:g}"
        means = (grid[best][rows].mean(axis=0) for rows in (on, off))
        lines.append((", ".join(half), chosen, *(f"{mean[F1]:.2f}" for mean in means)))
    print("\nThresholds set on some conversations, F1 there and on the others:\n")
    print(table(("set on", "thresholds", ">F1 there", ">F1, others"), lines))


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]] or [real_data(name) for name in FILES]
    table_rows = []
    for path in paths:
        conversations = list(segviz.load(path))
        cosine = plain_cosine(conversations)
        rows = [
            (*measure(conversation, Calibrated()), other)
            for conversation, other in zip(conversations, cosine, strict=True)
        ]
        named = [conversation.id for conversation in conversations]
        if len(rows) > 1:
            rows.append(tuple(np.mean(rows, axis=0)))
            named.append(f"mean of {len(conversations)}")
        table_rows += [
            (name, *(form.format(value) for form, value in zip(FORMS, row, strict=True)))
            for name, row in zip(named, rows, strict=True)
        ]
    for row, values in zip(cosine_rows(), published(), strict=True):
        said = (form.format(v) for form, v in zip(FORMS, (row["leaves"], *values), strict=False))
        table_rows.append((f"paper, {row['memory']}", *said, "", "", "", "", ""))
    print(table(HEAD, table_rows))
    for path in paths:
        crossed(list(segviz.load(path)))


if __name__ == "__main__":
    main()
