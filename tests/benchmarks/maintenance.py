"""Maintenance of a segment tree: shape and evidence recall before and after.

Run ``python -m tests.benchmarks.maintenance [FILE]`` from the project's root, with the data
of ``tests.benchmarks.recall``. Hybrid relevance, recall@10 over leaves, the questions of all
conversations pooled; shapes are means over the conversations, literal trees, every node counted.
``rebuild`` is of the node with most children below the root. Nothing is asserted here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from segviz.memory import Memory
from segviz.tree.shape import shape
from tests.benchmarks.recall import locomo_memories, named, recall_of
from tests.benchmarks.report import data_file, table

SETTINGS = (
    ("none", 0.0, 0),
    ("top-down", 0.1, 2),
    ("top-down", 0.95, 1),
    ("both", 0.95, 2),
    ("neighbours", 0.7, 3),
)


def rebuilt(memory: Memory) -> Memory:
    structure = memory.structure
    inner = set(range(len(structure))) - set(structure.roots)
    return memory.operate("rebuild", node=max(inner, key=lambda n: len(structure.children[n])))


OPERATIONS: dict[str, Callable[[Memory], Memory]] = {
    "as built": lambda memory: memory,
    "compress": lambda memory: memory.operate("compress"),
    "rebuild the widest": rebuilt,
    "merge at 100 %": lambda memory: memory.operate("merge_duplicates"),
    "merge at 85 %": lambda memory: memory.operate("merge_duplicates", percent=85),
    "rebuild, merge, compress": lambda memory: (
        rebuilt(memory).operate("merge_duplicates", percent=85).operate("compress")
    ),
}


def main() -> None:
    memories = list(locomo_memories(data_file()).values())
    rows = []
    for name, operation in OPERATIONS.items():
        changed = [operation(memory) for memory in memories]
        shapes = [shape(memory.structure) for memory in changed]
        nodes = [int(m.structure.active.sum()) / len(m.structure.leaves) for m in changed]
        means = [
            np.mean(nodes),
            np.mean([s.mean_depth for s in shapes]),
            np.mean([s.branching for s in shapes]),
            np.mean([s.widest for s in shapes]),
        ]
        recalls = [recall_of(changed, "hybrid", setting) for setting in SETTINGS]
        forms = ("{:.2f}", "{:.2f}", "{:.2f}", "{:.1f}")
        shown = (form.format(mean) for form, mean in zip(forms, means, strict=True))
        rows.append((name, *shown, *(f"{recall.value:.3f}" for recall in recalls)))
    settings = (f">{named('', setting)[2:]}" for setting in SETTINGS)
    print(table(("", ">nodes/leaf", ">depth", ">branching", ">widest", *settings), rows))


if __name__ == "__main__":
    main()
