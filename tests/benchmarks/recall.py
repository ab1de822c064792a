"""Evidence recall@10 over leaves on real conversations: baselines, policies, a split.

Run ``python -m tests.benchmarks.recall [FILE]`` from the project's root; by default the
LoCoMo conversations under SEGVIZ_DATA or ../shared/data. Exchange units, offline default,
mean over all counted questions of all conversations together. Nothing is asserted here;
the targets are in tests/retrieval/test_recall.py.

The yardstick is BM25 over the units alone; ``lexical`` in a tree counts word frequencies
in the inner nodes too. *Best of grid* is picked on the questions it is reported on and
therefore too high. The split picks on three conversations and reports on two others, but
the tree's and the hybrid's defaults were set with LoCoMo in view, so that only the choice
of policy, alpha and horizon is held out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import segviz
from segviz.construct.annotate import Extractive
from segviz.construct.compatibility import Calibrated
from segviz.conversation import Conversation
from segviz.evaluate import Mean, evaluate, sweep
from segviz.evaluate.aggregate import mean_ci
from segviz.evaluate.scores import first_scores
from segviz.memory import Memory
from segviz.retrieval import RELEVANCE
from segviz.tree import Add, Step
from tests.benchmarks.report import data_file, interval, table

TUNED_ON = ("conv-26", "conv-30", "conv-43")
HELD_OUT = ("conv-47", "conv-49")
POLICIES = ("top-down", "bottom-up", "both", "neighbours")
TREE = ("top-down", "bottom-up", "both")
ALPHAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.95)
HORIZONS = (0, 1, 2, 3)
Setting = tuple[str, float, int]
STILL: Setting = ("none", 0.0, 0)
LITERAL: Setting = ("top-down", 0.1, 2)


def locomo_memories(path: Path) -> dict[str, Memory]:
    """A default memory of every conversation of a file, by id."""
    return {conversation.id: segviz.build(conversation) for conversation in segviz.load(path)}


def pooled(memories: Iterable[Memory], relevance: str, setting: Setting) -> Mean:
    """Recall over the questions of all memories together."""
    return mean_ci(recalls(memories, relevance, setting))


def recalls(memories: Iterable[Memory], relevance: str, setting: Setting) -> NDArray[np.float64]:
    """Recall of every counted question, float64 (q,)."""
    policy, alpha, horizon = setting
    values = [
        row.recall
        for memory in memories
        for row in evaluate(
            memory,
            memory.conversation.questions,
            policy=policy,
            alpha=alpha,
            horizon=horizon,
            relevance=relevance,
        ).rows
        if row.recall is not None
    ]
    return np.array(values)


def literal_gain(memories: Sequence[Memory]) -> Mean:
    """What the paper's setting adds to plain cosines, question by question."""
    return mean_ci(recalls(memories, "dense", LITERAL) - recalls(memories, "dense", STILL))


def nearby(conversations: Sequence[Conversation]) -> list[tuple[int, float, Mean]]:
    """``literal_gain`` on trees with other annotation lengths and thresholds.

    The sign of so small a difference hangs on the tree: this says how much.
    """
    found = []
    for words, level_1 in itertools.product((60, 80, 100, 120), (-0.06, -0.03)):
        system = segviz.SegmentTree(
            compatibility=Calibrated(level_1=level_1), annotate=Extractive(max_words=words)
        )
        memories = [segviz.build(conversation, system=system) for conversation in conversations]
        found.append((words, level_1, literal_gain(memories)))
    return found


def flat(memory: Memory) -> Memory:
    """The same units as leaves without a tree above them."""
    structure = memory.structure
    steps = tuple(
        Step(
            step.unit,
            "",
            None,
            (
                Add(
                    i,
                    0,
                    (int(structure.start[leaf]), int(structure.stop[leaf])),
                    structure.text[leaf],
                    structure.vector[leaf],
                ),
            ),
        )
        for i, (step, leaf) in enumerate(zip(memory.steps, structure.leaves, strict=True))
    )
    return replace(memory, steps=steps)


def bm25(memories: Iterable[Memory]) -> Mean:
    """Pooled recall of BM25 over the units alone."""
    return pooled([flat(memory) for memory in memories], "lexical", STILL)


def grid(memories: Iterable[Memory], policies: Sequence[str] = POLICIES) -> dict[Setting, float]:
    """Pooled hybrid recall of every setting, from one sweep per memory."""
    total: dict[Setting, float] = {}
    counted = 0
    for memory in memories:
        found = sweep(
            memory,
            memory.conversation.questions,
            policies=policies,
            alphas=ALPHAS,
            horizons=HORIZONS,
        )
        counted += found.baseline.recall.n
        for cell in found.cells:
            key = (cell.policy, cell.alpha, cell.horizon)
            total[key] = total.get(key, 0.0) + cell.recall.value * cell.recall.n
    return {key: value / counted for key, value in total.items()}


def best(cells: dict[Setting, float], policies: Sequence[str]) -> Setting:
    """The best setting of these policies; ties to fewer hops, then smaller alpha."""
    allowed = sorted((key for key in cells if key[0] in policies), key=lambda s: (s[2], s[1]))
    return max(allowed, key=cells.__getitem__)


def named(relevance: str, setting: Setting) -> str:
    policy, alpha, horizon = setting
    return f"{relevance}, {policy}" + ("" if policy == "none" else f" {alpha:g}/{horizon}")


def short(means: Iterable[Mean]) -> list[str]:
    return [f"{mean.value:.3f}" for mean in means]


def top_shares(memory: Memory, relevance: str) -> list[float]:
    """The share of the initial score that each question's best node holds."""
    scores = first_scores(
        memory, memory.conversation.questions, relevance, memory.structure.collapsed
    )
    return [float(row.max()) for row in scores]


def main() -> None:
    memories = locomo_memories(data_file())
    cells = grid(memories.values())
    rows: list[tuple[str, str, Setting]] = [
        ("", "lexical", STILL),
        ("", "dense", STILL),
        ("paper setting", "dense", LITERAL),
        ("paper setting", "dense", ("bottom-up", 0.1, 2)),
        ("", "softmax", LITERAL),
        ("", "hybrid", STILL),
        *(("best of grid", "hybrid", best(cells, [policy])) for policy in POLICIES),
    ]
    yardstick = [bm25([memory]) for memory in memories.values()]
    lines = [("BM25 over the units alone", *short(yardstick), interval(bm25(memories.values())))]
    for note, relevance, setting in rows:
        each = [pooled([memory], relevance, setting) for memory in memories.values()]
        name = named(relevance, setting) + f" ({note})" * bool(note)
        lines.append((name, *short(each), interval(pooled(memories.values(), relevance, setting))))
    counted = len(recalls(memories.values(), "hybrid", STILL))
    head = ("", *(f">{name}" for name in memories), f">all, {counted} questions, 95 %")
    print(table(head, lines))

    print("\nThe paper's setting less no propagation, plain cosines, question by question:\n")
    lines = []
    for name, of in (("all", memories), ("chosen on", TUNED_ON), ("held out", HELD_OUT)):
        those = [memories[each] for each in of if each in memories]
        if those:
            lines.append((f"{name} ({', '.join(of)})", interval(literal_gain(those), True)))
    conversations = [memory.conversation for memory in memories.values()]
    for words, level_1, gain in nearby(conversations):
        name = f"all, annotations of {words} words, threshold {level_1:.2f}"
        lines.append((name, interval(gain, True)))
    print(table(("conversations", ">gain"), lines))

    print("\nShare of the initial score that a question's best node holds:\n")
    lines = []
    for relevance in RELEVANCE:
        shares = [share for m in memories.values() for share in top_shares(m, relevance)]
        low, middle, high = np.quantile(shares, (0.05, 0.5, 0.95))
        lines.append((relevance, *(f"{value:.3f}" for value in (low, middle, high))))
    print(table(("relevance", ">5 %", ">median", ">95 %"), lines))

    tuning = [memories[name] for name in TUNED_ON if name in memories]
    held = [memories[name] for name in HELD_OUT if name in memories]
    if not tuning or not held:
        return
    chosen = grid(tuning)
    print(f"\nChosen on {', '.join(TUNED_ON)}, reported on {', '.join(HELD_OUT)}:\n")
    lines = []
    for note, policies in (("any policy", POLICIES), ("tree policies", TREE)):
        setting = best(chosen, policies)
        reached = interval(pooled(held, "hybrid", setting))
        lines.append((note, named("hybrid", setting), f"{chosen[setting]:.3f}", reached))
    lines.append(("yardstick", "BM25 over the units alone", "", interval(bm25(held))))
    lines.append(("", named("hybrid", STILL), "", interval(pooled(held, "hybrid", STILL))))
    print(table(("best of", "setting", ">where chosen", ">held out"), lines))


if __name__ == "__main__":
    main()
