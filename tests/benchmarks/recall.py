"""Every measure of every policy and relevance on real conversations, with a split.

Run ``python -m tests.benchmarks.recall [FILE]`` from the project's root; by default the LoCoMo
conversations under SEGVIZ_DATA or ../shared/data. Exchange units, offline default. What is
measured is written to ``tests/benchmarks/results/recall.json``, or beside FILE, with settings,
versions and seed, and the tables are made from that file. Nothing is asserted here; the targets
are in tests/retrieval/test_recall.py.

Intervals resample conversations and the questions within them; with five conversations they
are rough. The yardstick is BM25 over the units alone; ``lexical`` in a tree counts word
frequencies in the inner nodes too. The split picks on three conversations and reports on two
others, and the other way round, but the tree's and the hybrid's defaults were set with LoCoMo in
view, so that only the choice of policy, alpha and horizon is held out. ``CLAIMS``, what the README
says of retrieval, are measured on the conversations seen, on further ones if FILE has such, and on
the data sets on which nothing was chosen.
"""

import platform
import sys
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
from segviz.evaluation.sweep import pooled_sweep, sweep
from segviz.memory import Memory
from segviz.retrieval import RELEVANCE
from segviz.tree import Add, Step
from tests.benchmarks.report import SETS, data_file, interval, number, real_data, stored, table
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
COLUMNS = ("recall", "reached", "reached_lift", "quoted", "quoted_lift", "answer_words")
COLUMNS += ("answer_words_lift", "ndcg", "words")
SPLIT = ("hybrid", "contextual", "contextual:beside=0,asked=0")
"""Relevances whose best policy, alpha and horizon are chosen on some and reported on others."""
ALONE = "contextual:beside=0,asked=0"
"""Relevance of a leaf without its neighbours."""
FLAT = "flat leaves"
CLAIMS: dict[str, tuple[str, str, Setting, tuple[str, str, Setting] | None]] = {
    "leaf recall, BM25": ("recall", f"lexical, {FLAT}", STILL, None),
    "leaf recall, hybrid": ("recall", "hybrid", STILL, None),
    "leaf recall, contextual": ("recall", "contextual", STILL, None),
    **{
        f"{what} over {relevance}": (measure, relevance, setting, (measure, relevance, STILL))
        for what, measure, relevance, setting in (
            ("leaf recall, along the tree .3/3", "recall", ALONE, ("both", 0.3, 3)),
            ("leaf recall, neighbours in time .5/2", "recall", ALONE, ("neighbours", 0.5, 2)),
            ("leaf recall, along the tree .95/3", "recall", "contextual", ("both", 0.95, 3)),
            ("leaf recall, re-ranked leaves .7/2", "recall", "hybrid", ("both", 0.7, 2)),
            ("evidence reached, bottom-up .1/2", "reached", "dense", ("bottom-up", 0.1, 2)),
            ("evidence reached, bottom-up .1/2", "reached", "softmax", ("bottom-up", 0.1, 2)),
            ("gold turns quoted, opening", "quoted", "hybrid", ("both", 0.2, 2)),
            ("evidence reached, opening", "reached", "hybrid", ("both", 0.2, 2)),
        )
    },
    **{
        f"evidence reached, mixed ten over {FLAT}, {relevance}": (
            *("reached", relevance, STILL),
            ("reached", f"{relevance}, {FLAT}", STILL),
        )
        for relevance in ("hybrid", "contextual")
    },
}
"""Means, and paired differences: measure, relevance and setting, and those it is compared with."""
ELSEWHERE = (f"lexical, {FLAT}", "hybrid", "contextual")
"""Relevances measured on the data sets on which nothing was chosen; the others take an hour."""
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


def every(
    memories: Sequence[Memory], relevance: str, settings: Iterable[Setting]
) -> dict[Setting, Outcomes]:
    """The outcomes under each setting, and without propagation; a question is scored once."""
    moving = [setting for setting in settings if setting != STILL] or [LITERAL]
    axes = dict(zip(("policies", "alphas", "horizons"), zip(*moving, strict=True), strict=True))
    swept = pooled_sweep(
        [memory.conversation.id for memory in memories],
        [sweep(m, m.conversation.questions, relevance=relevance, **axes) for m in memories],
    )
    return {cell.setting: cell.outcomes for cell in (swept.baseline, *swept.cells)}


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


def _relevances(relevance: str, _: Setting, other: tuple[str, str, Setting] | None) -> list[str]:
    return [relevance, *([other[1]] if other else [])]


def claims(memories: Sequence[Memory], only: Sequence[str]) -> dict[str, dict[str, Mean]]:
    """The claims that need no other relevance than ``only``, on these memories.

    Each is of all questions, and without the unanswerable ones. A relevance scores them once.
    """
    wanted = {
        claim: (measure, [one for one in ((relevance, setting), other and other[1:]) if one])
        for claim, (measure, relevance, setting, other) in CLAIMS.items()
        if {*_relevances(relevance, setting, other)} <= {*only}
    }
    known: dict[tuple[str, Setting], Outcomes] = {}
    for relevance in only:
        settings = {each for _, pair in wanted.values() for name, each in pair if name == relevance}
        those = [flat(one) for one in memories] if FLAT in relevance else memories
        of = every(those, relevance.removesuffix(f", {FLAT}"), settings)
        known |= {(relevance, setting): outcomes for setting, outcomes in of.items()}
    found: dict[str, dict[str, Mean]] = {}
    for claim, (measure, (one, *other)) in wanted.items():
        for column, counted in (("all", True), ("answerable", False)):
            found.setdefault(claim, {})[column] = (
                known[one].gain(known[other[0]], measure, adversarial=counted)
                if other
                else known[one].mean(measure, adversarial=counted)
            )
    return found


def named(relevance: str, setting: Setting) -> str:
    policy, alpha, horizon = setting
    return f"{relevance}, {policy}" + ("" if policy == "none" else f" {alpha:g}/{horizon}")


def measured(memories: Mapping[str, Memory]) -> dict[str, Any]:
    """All that the tables are made from, as plain values."""
    rows = []
    for relevance in RELEVANCE:
        each = every([*memories.values()], relevance, SETTINGS)
        still = each[STILL]
        for setting in SETTINGS:
            found = each[setting]
            policy, alpha, horizon = setting
            seen = [name for name in COLUMNS if sees(name, policy)]
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
    seen = {name: one for name, one in memories.items() if name in TUNED_ON + HELD_OUT}
    others = [one for name, one in memories.items() if name not in seen]
    whole = dict.fromkeys(name for _, *one in CLAIMS.values() for name in _relevances(*one))
    claimed = {
        name: claims(those, [*whole])
        for name, those in (("LoCoMo, seen", [*seen.values()]), ("others", others))
        if those
    }
    for name in ("RealMem", "LongMemEval-S"):
        talks = (talk for file in SETS[name] for talk in segviz.load(real_data(file)))
        claimed[name] = claims([segviz.build(talk) for talk in talks if talk.questions], ELSEWHERE)
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
        "claims": claimed,
    }


def _cell(row: dict[str, Any], name: str, what: str) -> str:
    mean = row["measures"].get(name, {}).get(what)
    if mean is None:
        return "cannot see"
    return f"{mean['value']:.0f}" if name == "words" else number(mean["value"])


def _gain(row: dict[str, Any], name: str) -> str:
    mean = row["measures"].get(name, {}).get("gain")
    return "cannot see" if mean is None else interval(Mean(**mean), True)


def _counted(claim: str, mean: dict[str, Any]) -> tuple[str, str]:
    return f"{mean['n']:,}", interval(Mean(**mean), " over " in claim)


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

    print("\nOf each data set; differences are paired:\n")
    print(
        table(
            ("data", "measure", ">n", ">all questions", ">n", ">answerable ones"),
            (
                (data, claim, *(cell for one in both.values() for cell in _counted(claim, one)))
                for data, found_there in found["claims"].items()
                for claim, both in found_there.items()
            ),
        )
    )


def main() -> None:
    file = data_file()
    path = RESULTS if len(sys.argv) < 2 else file.with_suffix(".recall.json")
    told(stored(path, measured(locomo_memories(file))))


if __name__ == "__main__":
    main()
