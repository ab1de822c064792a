"""Semantic cross-links: evidence recall@10 with and without them.

Run ``python -m tests.benchmarks.recurrences [FILE]`` from the project's root, with the data
of ``tests.benchmarks.recall``. Hybrid relevance, recall@10 over leaves, the questions of all
conversations pooled. For every way of linking the best alpha and horizon of the grid stand
beside the best of top-down on the same grid; both are picked on the questions they are
scored on. The last columns compare the two question by question, at these settings, for
all questions and for those of category 1 (multi-hop), which links were meant for.

Below that, held out: the way of linking and both settings are chosen by the multi-hop questions
of three conversations alone and scored on those of the two others. Nothing is asserted here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from segviz.evaluate import Mean, evaluate
from segviz.evaluate.aggregate import mean_ci
from segviz.memory import Memory
from tests.benchmarks.recall import (
    ALPHAS,
    HELD_OUT,
    HORIZONS,
    TUNED_ON,
    Setting,
    best,
    data_file,
    grid,
    locomo_memories,
    named,
)

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


def multi_hop(memories: Sequence[Memory], setting: Setting) -> Mean:
    """Recall over the multi-hop questions alone."""
    return mean_ci(
        np.array([value for kind, value in rows(memories, setting) if kind == MULTI_HOP])
    )


def linked_by(memories: Sequence[Memory], how: tuple[int, int, int]) -> list[Memory]:
    percent, apart, most = how
    return [
        memory.operate("link_recurrences", percent=percent, apart=apart, most=most)
        for memory in memories
    ]


def held_out(tuning: Sequence[Memory], held: Sequence[Memory]) -> None:
    """Choose by the multi-hop questions of ``tuning``, print those of ``held``."""
    hops = [horizon for horizon in HORIZONS if horizon]
    plain = [("top-down", alpha, horizon) for alpha in ALPHAS for horizon in hops]
    crossed = [("cross-links", alpha, horizon) for _, alpha, horizon in plain]
    base = max(plain, key=lambda setting: multi_hop(tuning, setting).value)
    trees = {how: linked_by(tuning, how) for how in LINKS}
    pairs = [(how, setting) for how in LINKS for setting in crossed]
    how, setting = max(pairs, key=lambda pair: multi_hop(trees[pair[0]], pair[1]).value)
    linked = linked_by(held, how)
    print(f"\nmulti-hop, chosen on {', '.join(TUNED_ON)}, scored on {', '.join(HELD_OUT)}:")
    chosen_on = multi_hop(tuning, base).value, multi_hop(trees[how], setting).value
    percent, apart, most = how
    print(f"  chosen: {named('hybrid', base)} ({chosen_on[0]:.3f} where chosen);")
    print(
        f"          {named('hybrid', setting)} on links of least {percent} %, {apart} apart, "
        f"{most} each ({chosen_on[1]:.3f} where chosen)"
    )
    gain = difference(rows(linked, setting), rows(held, base), MULTI_HOP)
    print(f"  without links {multi_hop(held, base)}")
    print(f"  with links    {multi_hop(linked, setting)}")
    print(f"  difference    {gain}")


def main() -> None:
    by_name = locomo_memories(data_file())
    memories = list(by_name.values())
    plain = grid(memories, ("top-down",))
    base = best(plain, ("top-down",))
    before = rows(memories, base)
    print(f"{named('hybrid', base)}, best of grid: {plain[base]:.4f}")
    for percent, apart, most in LINKS:
        linked = linked_by(memories, (percent, apart, most))
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
    if not {*TUNED_ON, *HELD_OUT} - by_name.keys():
        held_out([by_name[name] for name in TUNED_ON], [by_name[name] for name in HELD_OUT])


if __name__ == "__main__":
    main()
