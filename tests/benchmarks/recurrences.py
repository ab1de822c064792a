"""Semantic cross-links: evidence recall@10 with and without them.

Run ``python -m tests.benchmarks.recurrences [FILE]`` from the project's root, with the data
of ``tests.benchmarks.recall``. Hybrid relevance, recall@10 over leaves, the questions of all
conversations pooled. For every way of linking the best alpha and horizon of the grid stand
beside the best of top-down on the same grid; both are picked on the questions they are
scored on. The last columns compare the two question by question, at these settings, for
all questions and for those of category 1 (multi-hop), which links were meant for. Nothing is
asserted here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from segviz.evaluate import Mean, evaluate
from segviz.evaluate.aggregate import mean_ci
from segviz.pipeline import Memory
from tests.benchmarks.recall import Setting, best, data_file, grid, locomo_memories, named

LINKS = ((40, 20, 3), (50, 20, 3), (60, 20, 3), (70, 20, 3), (50, 20, 1), (50, 50, 3))
MULTI_HOP = 1


def rows(memories: Sequence[Memory], setting: Setting) -> list[tuple[int | None, float]]:
    """Category and recall of every counted question."""
    policy, alpha, horizon = setting
    return [
        (row.category, row.recall)
        for memory in memories
        for row in evaluate(
            memory, memory.conversation.questions, policy=policy, alpha=alpha, horizon=horizon
        ).rows
        if row.recall is not None
    ]


def difference(
    ours: list[tuple[int | None, float]],
    other: list[tuple[int | None, float]],
    category: int | None = None,
) -> Mean:
    pairs = zip(ours, other, strict=True)
    return mean_ci(np.array([a[1] - b[1] for a, b in pairs if category in (None, a[0])]))


def main() -> None:
    memories = list(locomo_memories(data_file()).values())
    plain = grid(memories, ("top-down",))
    base = best(plain, ("top-down",))
    before = rows(memories, base)
    print(f"{named('hybrid', base)}, best of grid: {plain[base]:.4f}")
    for percent, apart, most in LINKS:
        linked = [
            memory.operate("link_recurrences", percent=percent, apart=apart, most=most)
            for memory in memories
        ]
        found = grid(linked, ("cross-links",))
        chosen = best(found, ("cross-links",))
        after = rows(linked, chosen)
        links = sum(len(memory.structure.relations) for memory in linked)
        print(
            f"least {percent} %, {apart} apart, {most} each: {links:>5} links  "
            f"{named('hybrid', chosen):>28} {found[chosen]:.4f}  "
            f"difference {difference(after, before)}  "
            f"multi-hop {difference(after, before, MULTI_HOP)}"
        )


if __name__ == "__main__":
    main()
