"""MemForest's claim of locality: nodes written again per unit as the memory grows.

Run ``python -m tests.benchmarks.locality [FILE [CONVERSATION]]`` from the project's root; by
default conv-47 of the LoCoMo conversations under SEGVIZ_DATA or ../shared/data. Beside the
nodes MemForest writes for one more unit stand the nodes a full rebuild of its trees would
write. Nothing is asserted here.
"""

from __future__ import annotations

import sys

import numpy as np

import segviz
from segviz.tree import Add, Retire, Revise
from tests.benchmarks.report import data_file, table

PARTS = 8


def refreshed(memory: segviz.Memory) -> tuple[list[int], list[int]]:
    """Per step: nodes above level 1 that got a new text, and how many there are."""
    levels: dict[int, int] = {}
    texts: dict[int, str] = {}
    alive: set[int] = set()
    written, total = [], []
    for step in memory.steps:
        touched = set()
        for event in step.events:
            if isinstance(event, Add):
                levels[event.node] = event.level
                alive.add(event.node)
            if isinstance(event, Add | Revise):
                # A node may be revised without being written: its times, or that it waits.
                if levels[event.node] > 1 and texts.get(event.node) != event.text:
                    touched.add(event.node)
                texts[event.node] = event.text
            elif isinstance(event, Retire):
                alive.discard(event.node)
        written.append(len(touched & alive))
        total.append(sum(levels[node] > 1 for node in alive))
    return written, total


def main() -> None:
    path = data_file()
    name = sys.argv[2] if len(sys.argv) > 2 else "conv-47"
    conversation = segviz.load(path)[name]
    for refresh in ("eager", "lazy"):
        memory = segviz.build(conversation, "memforest", refresh=refresh)
        written, total = refreshed(memory)
        calls = sum(step.cost.annotated for step in memory.steps)
        print(
            f"\n{name}, {refresh}: {calls} texts asked for, {sum(written)} nodes with a new text\n"
        )
        rows = []
        for part in np.array_split(np.arange(len(written)), PARTS):
            mean = float(np.mean([written[i] for i in part]))
            whole = total[part[-1]]
            rows.append((str(part[-1] + 1), f"{mean:.1f}", str(whole), f"{mean / whole:.1%}"))
        print(table((">units", ">new texts per unit", ">full rebuild", ">share"), rows))


if __name__ == "__main__":
    main()
