"""Every measure of every policy and relevance on real conversations, with a split.

Run ``python -m tests.benchmarks.recall [FILE]`` from the project's root; by default the LoCoMo
conversations under SEGVIZ_DATA or ../shared/data. Exchange units, offline default. What is
measured is written to ``tests/benchmarks/results/recall.json`` with settings, versions and
seed, and the tables are made from that file. Nothing is asserted here; the targets are in
tests/retrieval/test_recall.py.

Intervals resample conversations and the questions within them; with five conversations they
are rough. The yardstick is BM25 over the units alone; ``lexical`` in a tree counts word
frequencies in the inner nodes too. The split picks on three conversations and reports on two
others, and the other way round, but the tree's and the hybrid's defaults were set with LoCoMo in
view, so that only the choice of policy, alpha and horizon is held out.
"""

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import segviz
from segviz.evaluation import MEASURES, Mean, Outcomes, Sweep, evaluate, pooled
from segviz.evaluation.evaluation import summary
from segviz.evaluation.measures import sees
from segviz.evaluation.sweep import sweep
from segviz.memory import Memory
from segviz.retrieval import RELEVANCE
from segviz.tree import Add, Step
from tests.benchmarks.report import data_file, interval, number, stored, table
from tests.data import HELD_OUT, TUNED_ON

POLICIES = ("top-down", "bottom-up", "both", "neighbours")
TREE = ("top-down", "bottom-up", "both")
ALPHAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.95)
HORIZONS = (0, 1, 2, 3)
Setting = tuple[str, float, int]
STILL: Setting = ("none", 0.0, 0)
LITERAL: Setting = ("top-down", 0.1, 2)
SETTINGS: tuple[Setting, ...] = (
    STILL,
    LITERAL,
    ("bottom-up", 0.1, 2),
    ("top-down", 0.95, 1),
    ("bottom-up", 0.95, 2),
    ("both", 0.95, 3),
    ("neighbours", 0.5, 2),
)
"""No propagation, the paper's two, and a strong setting of each policy."""
SPLIT = ("hybrid", "contextual", "contextual:beside=0,asked=0")
"""Relevances whose best policy, alpha and horizon are chosen on some and reported on others."""
RESULTS = Path(__file__).parent / "results" / "recall.json"


def locomo_memories(path: Path) -> dict[str, Memory]:
    """A default memory of every conversation of a file, by id."""
    return {conversation.id: segviz.build(conversation) for conversation in segviz.load(path)}


def outcomes(memory: Memory, relevance: str, setting: Setting) -> Outcomes:
    """The outcomes of the questions of a memory."""
    policy, alpha, horizon = setting
    asked = {"policy": policy, "alpha": alpha, "horizon": horizon, "relevance": relevance}
    return evaluate(memory, memory.conversation.questions, **asked).outcomes


def together(memories: Iterable[Memory], relevance: str, setting: Setting) -> Outcomes:
    """The outcomes of the questions of all memories."""
    return pooled({one.conversation.id: outcomes(one, relevance, setting) for one in memories})


def recall_of(memories: Iterable[Memory], relevance: str, setting: Setting) -> Mean:
    """Recall over the questions of all memories."""
    return together(memories, relevance, setting).mean("recall")


def recalls(memories: Iterable[Memory], relevance: str, setting: Setting) -> NDArray[np.float64]:
    """Recall of every counted question, float64 (q,)."""
    column = together(memories, relevance, setting).column("recall")
    return column[~np.isnan(column)]


def literal_gain(memories: Sequence[Memory], measure: str = "recall") -> Mean:
    """What the paper's setting adds to plain cosines, question by question."""
    still = together(memories, "dense", STILL)
    return together(memories, "dense", LITERAL).gain(still, measure)


def flat(memory: Memory) -> Memory:
    """The same units as leaves without a tree above them."""
    structure = memory.structure
    steps = []
    for i, (step, leaf) in enumerate(zip(memory.steps, structure.leaves, strict=True)):
        span = int(structure.start[leaf]), int(structure.stop[leaf])
        add = Add(i, 0, span, structure.text[leaf], structure.vector[leaf])
        steps.append(Step(step.unit, "", None, (add,)))
    return replace(memory, steps=tuple(steps))


def bm25(memories: Iterable[Memory]) -> Mean:
    """Recall of BM25 over the units alone."""
    return recall_of([flat(memory) for memory in memories], "lexical", STILL)


def swept(memory: Memory, policies: Sequence[str] = POLICIES, relevance: str = "hybrid") -> Sweep:
    """The grid of one memory."""
    return sweep(
        memory,
        memory.conversation.questions,
        policies=policies,
        alphas=ALPHAS,
        horizons=HORIZONS,
        relevance=relevance,
    )


def grid(
    memories: Iterable[Memory], policies: Sequence[str] = POLICIES, relevance: str = "hybrid"
) -> dict[Setting, float]:
    """Recall of every setting over all memories, from one sweep of each."""
    columns: dict[Setting, list[NDArray[np.float64]]] = {}
    for memory in memories:
        for cell in swept(memory, policies, relevance).cells:
            key = (cell.policy, cell.alpha, cell.horizon)
            columns.setdefault(key, []).append(cell.outcomes.column("recall"))
    return {key: float(np.nanmean(np.concatenate(found))) for key, found in columns.items()}


def best(cells: dict[Setting, float], policies: Sequence[str]) -> Setting:
    """The best setting of these policies; ties to fewer hops, then smaller alpha."""
    allowed = sorted((key for key in cells if key[0] in policies), key=lambda s: (s[2], s[1]))
    return max(allowed, key=cells.__getitem__)


def named(relevance: str, setting: Setting) -> str:
    policy, alpha, horizon = setting
    return f"{relevance}, {policy}" + ("" if policy == "none" else f" {alpha:g}/{horizon}")


def measured(memories: Mapping[str, Memory]) -> dict[str, Any]:
    """All that the tables are made from, as plain values."""
    rows = []
    for relevance in RELEVANCE:
        still = together(memories.values(), relevance, STILL)
        for setting in SETTINGS:
            found = together(memories.values(), relevance, setting)
            policy, alpha, horizon = setting
            seen = [name for name in MEASURES if sees(name, policy)]
            rows.append(
                {
                    "relevance": relevance,
                    **{"policy": policy, "alpha": alpha, "horizon": horizon},
                    "measures": summary(found, still, seen),
                    "levels": found.levels,
                }
            )
    splits = []
    for chosen_on, reported_on in ((TUNED_ON, HELD_OUT), (HELD_OUT, TUNED_ON)):
        those = [memories[name] for name in chosen_on if name in memories]
        others = [memories[name] for name in reported_on if name in memories]
        if not those or not others:
            continue
        for relevance in SPLIT:
            cells = grid(those, relevance=relevance)
            for note, policies in (("any policy", POLICIES), ("tree policies", TREE)):
                setting = best(cells, policies)
                splits.append(
                    {
                        "chosen_on": chosen_on,
                        "reported_on": reported_on,
                        "relevance": relevance,
                        "best_of": note,
                        "setting": setting,
                        "where_chosen": cells[setting],
                        "recall": recall_of(others, relevance, setting),
                        "none": recall_of(others, relevance, STILL),
                        "bm25": bm25(others),
                    }
                )
    versions = {name: metadata.version(name) for name in ("numpy", "wordllama", "bm25s")}
    versions = {"segviz": segviz.__version__, **versions}
    return {
        "format": "segviz-results",
        "version": 1,
        "versions": {"python": platform.python_version(), **versions},
        "seed": 0,
        "unit": "exchange",
        "k": 10,
        "units": 20,
        "tokens": 1000,
        "conversations": {
            name: len(memory.conversation.questions) for name, memory in memories.items()
        },
        "rows": rows,
        "bm25": bm25(memories.values()),
        "splits": splits,
    }


COLUMNS = ("recall", "reached", "reached_lift", "quoted", "quoted_lift", "answer_words")
COLUMNS += ("answer_words_lift", "ndcg", "words")


def _cell(row: dict[str, Any], name: str, what: str) -> str:
    mean = row["measures"].get(name, {}).get(what)
    if mean is None:
        return "cannot see"
    return f"{mean['value']:.0f}" if name == "words" else number(mean["value"])


def _gain(row: dict[str, Any], name: str) -> str:
    mean = row["measures"].get(name, {}).get("gain")
    return "cannot see" if mean is None else interval(Mean(**mean), True)


def told(found: dict[str, Any]) -> None:
    """Print the tables of a results file."""
    questions = sum(found["conversations"].values())
    names = [
        named(row["relevance"], (row["policy"], row["alpha"], row["horizon"]))
        for row in found["rows"]
    ]
    labels = [f">{MEASURES[name].label}" for name in COLUMNS]
    for what, which in (
        ("all", f"All {questions} questions of {len(found['conversations'])} conversations"),
        ("without_adversarial", "Without category 5"),
    ):
        print(f"\n{which}; K 10, 20 units, 1,000 tokens:\n")
        rows = zip(names, found["rows"], strict=True)
        print(
            table(
                ("relevance, policy α/H", *labels, ">leaves in the top"),
                (
                    (
                        name,
                        *(_cell(row, column, what) for column in COLUMNS),
                        f"{row['levels']['0']:.2f}",
                    )
                    for name, row in rows
                ),
            )
        )
    print(f"\nLeaf recall of BM25 over the units alone: {interval(Mean(**found['bm25']))}.")
    print("\nGain over no propagation, question by question, all questions:\n")
    shown = ("recall", "reached", "quoted", "answer_words")
    print(
        table(
            ("relevance, policy α/H", *(f">{MEASURES[name].label}" for name in shown)),
            (
                (name, *(_gain(row, column) for column in shown))
                for name, row in zip(names, found["rows"], strict=True)
                if row["policy"] != "none"
            ),
        )
    )
    print("\nLeaf recall of settings, chosen on some conversations, reported on others:\n")
    print(
        table(
            ("reported on", "best of", "setting", ">where chosen", ">there", ">none", ">BM25"),
            (
                (
                    ", ".join(split["reported_on"]),
                    split["best_of"],
                    named(split["relevance"], tuple(split["setting"])),
                    f"{split['where_chosen']:.3f}",
                    *(interval(Mean(**split[name])) for name in ("recall", "none", "bm25")),
                )
                for split in found["splits"]
            ),
        )
    )


def main() -> None:
    told(stored(RESULTS, measured(locomo_memories(data_file()))))


if __name__ == "__main__":
    main()
