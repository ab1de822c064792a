"""What each ingredient of the contextual relevance and the tree add, on three data sets.

Run ``python -m tests.benchmarks.ingredients`` from the project's root with the data under
SEGVIZ_DATA or ../shared/data. Recall over leaves at the K each data set is usually read at;
RealMem's questions are asked of the memory as it stood. *Chosen elsewhere*: the weights of the
ingredients are those under which the evidence of the other conversations is likeliest, so that no
weight has seen the conversation it is reported on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

import segviz
from segviz.construct import parameters
from segviz.conversation import Conversation, category_label
from segviz.evaluation import evaluate
from segviz.evaluation.sweep import sweep
from segviz.memory import Memory
from segviz.retrieval import relevance_model
from segviz.retrieval.relevance import Contextual, parts
from tests.benchmarks.recall import STILL, Setting, flat, named
from tests.benchmarks.report import SETS, number, real_data, table
from tests.data import HELD_OUT, TUNED_ON

Floats = NDArray[np.float64]
KS = {"LoCoMo": (10,), "LongMemEval oracle": (3,), "LongMemEval-S": (5, 10), "RealMem": (10,)}
"""The K at which the recall of each data set is reported."""
INGREDIENTS = ("words", "meaning", "similar", "dates")
CONTEXT = ("beside", "asked")
SECOND = ("opening",)
BOTH: Setting = ("both", 0.3, 3)
TOP_DOWN: Setting = ("top-down", 0.1, 2)
POLICIES: tuple[Setting, ...] = (STILL, TOP_DOWN, BOTH, ("both", 0.95, 3), ("neighbours", 0.5, 2))
NO_SECOND = "contextual:opening=0"
BARE = f"{NO_SECOND},beside=0,asked=0"
ADDED: dict[str, tuple[str, Setting]] = {
    "top-down .1/2": (BARE, TOP_DOWN),
    "both .3/3": (BARE, BOTH),
    "nodes beside in time": (f"{NO_SECOND},asked=0", STILL),
}
"""What may be added to leaves that are scored alone: by the tree twice, by time once."""
SYSTEMS = ("segment-tree", "clustering", "memtree", "raptor", "h-mem", "memforest", "xmemory")


def conversations(name: str) -> list[Conversation]:
    """The conversations of a data set that have questions."""
    found = [each for file in SETS[name] for each in segviz.load(real_data(file))]
    return [each for each in found if each.questions]


def recalls(
    memories: Sequence[Memory], k: int, relevance: str, settings: Sequence[Setting]
) -> dict[Setting, Floats]:
    """Leaf recall of every counted question under each setting."""
    found: dict[Setting, list[Floats]] = {setting: [] for setting in settings}
    moving = [setting for setting in settings if setting[0] != "none"] or [("top-down", 0.1, 1)]
    policies, alphas, horizons = (tuple(dict.fromkeys(axis)) for axis in zip(*moving, strict=True))
    for memory in memories:
        swept = sweep(
            memory,
            memory.conversation.questions,
            policies=policies,
            alphas=alphas,
            horizons=horizons,
            relevance=relevance,
            k=k,
        )
        cells = {(cell.policy, cell.alpha, cell.horizon): cell for cell in swept.cells}
        cells["none", 0.0, 0] = swept.baseline
        for setting, columns in found.items():
            column = cells[setting].outcomes.column("recall")
            columns.append(column[~np.isnan(column)])
    return {setting: np.concatenate(columns) for setting, columns in found.items()}


def counted_kinds(memory: Memory, k: int) -> list[str]:
    """The kind of every counted question."""
    asked = memory.conversation.questions
    found = evaluate(memory, asked, policy="none", relevance="lexical", k=k).outcomes
    counted = ~np.isnan(found.column("recall"))
    return [category_label(found.categories[place]) for place in np.flatnonzero(counted)]


@dataclass(frozen=True)
class Scored:
    """The ingredients of the leaves for every counted question of a conversation."""

    parts: Mapping[str, Floats]
    gold: NDArray[np.bool_]
    category: NDArray[np.int64]

    def found(self, weights: Mapping[str, float], k: int) -> NDArray[np.int64]:
        """How many gold leaves are among the k best under these weights, int64 (q,)."""
        total = sum(weights[name] * part for name, part in self.parts.items() if weights[name])
        best = np.argsort(-np.asarray(total + np.zeros(self.gold.shape)), axis=1, kind="stable")
        return np.asarray(np.take_along_axis(self.gold, best[:, :k], axis=1).sum(axis=1))

    def recall(self, weights: Mapping[str, float]) -> Floats:
        """Recall of the ten best leaves under these weights, float64 (q,)."""
        return np.asarray(self.found(weights, 10) / self.gold.sum(axis=1))


def scored(memory: Memory, relevance: str = "contextual") -> Scored:
    """The ingredients as they are before they are weighted."""
    structure, model = memory.structure.collapsed, relevance_model(relevance)
    scorer = memory.scorer(relevance, structure)
    leaves = np.array(structure.leaves)
    units = {turn: unit.index for unit in memory.units for turn in unit.turn_ids}
    rows, gold, category = [], [], []
    for question in memory.conversation.questions:
        held = {units[turn] for turn in question.evidence if turn in units}
        if held:
            found = parts(scorer, question.text)
            rows.append({name: part[leaves] for name, part in found.items()})
            gold.append(np.isin(structure.start[leaves], list(held)))
            category.append(question.category or 0)
    heat = model.temperature
    return Scored(
        {
            name: np.stack([row[name] for row in rows]) * heat / getattr(model, name)
            for name in rows[0]
        },
        np.stack(gold),
        np.array(category),
    )


def chosen(those: Sequence[Scored]) -> dict[str, float]:
    """The weights, in units of the first, under which the gold leaves of these conversations are
    likeliest, each of them drawn from the softmax of the weighted ingredients over the leaves."""
    names = list(those[0].parts)
    stacked = [np.stack(list(each.parts.values()), axis=-1) for each in those]

    def loss(weights: Floats) -> tuple[float, Floats]:
        """What is convex in the weights, and its slope."""
        value, slope = 0.0, np.zeros(len(names))
        for each, part in zip(those, stacked, strict=True):
            log = log_softmax(part @ weights, axis=1)
            value -= log[each.gold].sum()
            missed = np.exp(log) * each.gold.sum(axis=1, keepdims=True) - each.gold
            slope += np.tensordot(missed, part)
        return value, slope

    found = minimize(loss, np.ones(len(names)), jac=True, bounds=[(0, None)] * len(names)).x
    highest = {each.name: each.spec.high for each in parameters(Contextual)}
    return {
        name: float(min(weight, highest[name]))
        for name, weight in zip(names, found / found[0], strict=True)
    }


def chosen_on(others: Sequence[Memory]) -> dict[str, float]:
    """The weights chosen on these memories: that of openings, which begin at the sum of the
    others, once the others are known."""
    first = chosen([scored(each, NO_SECOND) for each in others])
    return first | chosen([scored(each, under(first)) for each in others])


def under(weights: Mapping[str, float]) -> str:
    """The relevance of these weights, with openings to be weighed."""
    kept = ",".join(f"{name}={value}" for name, value in weights.items() if name not in SECOND)
    return f"contextual:{kept}"


def elsewhere(found: Mapping[str, Memory]) -> list[dict[str, Any]]:
    """Recall with weights chosen on other conversations: leave one out, and both directions of a
    split."""
    rows = []
    splits = [((name,), tuple(n for n in found if n != name)) for name in found]
    splits += [(HELD_OUT, TUNED_ON), (TUNED_ON, HELD_OUT)]
    for reported, others in splits:
        weights = chosen_on([found[name] for name in others if name in found])
        those = [scored(found[name], under(weights)) for name in reported if name in found]
        columns = [each.recall(weights) for each in those]
        category = [each.category for each in those]
        rows.append(
            {"reported_on": reported, "weights": weights, "recall": columns, "category": category}
        )
    return rows


def in_turns(those: Sequence[Conversation]) -> dict[str, float]:
    """What other projects report: over the questions of categories 1 to 4 in turn units, recall
    and any hit at ten; any hit of all questions within 30 turns read, as so many turns or as 15
    exchanges, and with the neural model in a folder under weights chosen on the others."""
    usual = {each.name: each.default for each in parameters(Contextual)}
    memories = [segviz.build(each, unit="turn") for each in those]
    turns, alone = ([scored(m, r) for m in memories] for r in ("contextual", "contextual:asked=0"))
    exchanges = [scored(segviz.build(each)) for each in those]
    columns = {
        "turn units, recall@10": [each.recall(usual)[each.category < 5] for each in turns],
        "turn units, recall@10 without asked": [
            each.recall(usual)[each.category < 5] for each in alone
        ],
        "turn units, any hit": [each.found(usual, 10)[each.category < 5] > 0 for each in turns],
        "30 turns, any hit": [each.found(usual, 30) > 0 for each in turns],
        "15 exchanges, any hit": [each.found(usual, 15) > 0 for each in exchanges],
    }
    return {label: float(np.concatenate(each).mean()) for label, each in columns.items()}


def variants() -> dict[str, str]:
    """Every ingredient off, alone and cumulative, as relevance settings."""
    names = (*INGREDIENTS, *CONTEXT, *SECOND)
    rows = {}
    for name in names:
        rows[f"without {name}"] = f"contextual:{name}=0"
    for name in INGREDIENTS:
        others = ",".join(f"{each}=0" for each in names if each != name)
        rows[f"{name} alone"] = f"contextual:{others}"
    for place in range(2, len(names)):
        others = ",".join(f"{each}=0" for each in names[place:])
        rows["+ " + names[place - 1]] = f"contextual:{others}"
    return rows


def measured(wanted: Iterable[str]) -> dict[str, Any]:
    """All that the tables are made from."""
    result: dict[str, Any] = {"k": {name: KS[name] for name in wanted}}
    rows: dict[str, dict[str, list[float]]] = {}

    def note(name: str, label: str, columns: Sequence[Floats]) -> None:
        rows.setdefault(label, {})[name] = [float(column.mean()) for column in columns]

    for name, ks in result["k"].items():
        memories = [segviz.build(each) for each in conversations(name)]
        bare = [flat(each) for each in memories]
        note(name, "BM25 over the units", [recalls(bare, k, "lexical", [STILL])[STILL] for k in ks])
        for relevance, settings in (
            ("hybrid", POLICIES),
            ("contextual", POLICIES),
            ("contextual:beside=0", (BOTH,)),
        ):
            found = [recalls(memories, k, relevance, settings) for k in ks]
            for setting in settings:
                note(name, named(relevance, setting), [each[setting] for each in found])
        for label, relevance in variants().items():
            # A memory of every moment takes its time.
            if name != "RealMem" or label.removeprefix("without ") in SECOND:
                columns = [recalls(memories, k, relevance, [STILL])[STILL] for k in ks]
                note(name, label, columns)
    result["rows"] = rows
    if "LoCoMo" in result["k"]:
        result |= _locomo()
    result["systems"] = [
        row
        for name in result["k"]
        for row in _tree_adds(name, SYSTEMS if name == "LoCoMo" else SYSTEMS[:1])
    ]
    return result


def _locomo() -> dict[str, Any]:
    those = conversations("LoCoMo")
    memories = {each.id: segviz.build(each) for each in those}
    rows = elsewhere(memories)
    left_out = rows[: len(memories)]
    values = np.concatenate([column for row in left_out for column in row["recall"]])
    category = np.concatenate([column for row in left_out for column in row["category"]])
    means = {"all": values.mean()} | {
        f"category {each}": values[category == each].mean() for each in sorted({*category.tolist()})
    }
    return {"elsewhere": rows, "left_out": means, "terms": in_turns(those)}


def _tree_adds(name: str, systems: Sequence[str]) -> list[dict[str, Any]]:
    """What a structure adds, on one data set, to leaves that are scored without any context."""
    rows = []
    k = KS[name][-1]
    for system in systems:
        memories = [segviz.build(each, system=system) for each in conversations(name)]
        bare = recalls(memories, k, BARE, [STILL, TOP_DOWN, BOTH])
        columns = {
            label: bare[setting]
            if relevance == BARE
            else recalls(memories, k, relevance, [setting])[setting]
            for label, (relevance, setting) in ADDED.items()
        }
        kinds = {name: np.ones(len(bare[STILL]), dtype=np.bool_)}
        if system == "segment-tree":
            labels = np.array([label for memory in memories for label in counted_kinds(memory, k)])
            kinds |= {f"{name}, {each}": labels == each for each in sorted({*labels.tolist()})}
        for label, kept in kinds.items():
            gains = {what: _gain((column - bare[STILL])[kept]) for what, column in columns.items()}
            none = float(bare[STILL][kept].mean())
            rows.append({"data": label, "system": system, "none": none, **gains})
    return rows


def _gain(paired: Floats) -> dict[str, float]:
    resampled = np.random.default_rng(0).integers(len(paired), size=(2000, len(paired)))
    low, high = np.quantile(paired[resampled].mean(axis=1), (0.025, 0.975))
    return {"gain": float(paired.mean()), "low": float(low), "high": float(high)}


def told(found: Mapping[str, Any]) -> None:
    """Prints the tables of what was measured."""
    heads = [f">{name} @{k}" for name, ks in found["k"].items() for k in ks]
    print("Recall over leaves:\n")
    rows = [
        (
            label,
            *(
                number(cells[name][i]) if name in cells else ""
                for name, ks in found["k"].items()
                for i in range(len(ks))
            ),
        )
        for label, cells in found["rows"].items()
    ]
    print(table(("", *heads), rows))
    if "elsewhere" not in found:
        return
    print("\nLoCoMo, weights chosen on the other conversations:\n")
    names = list(found["elsewhere"][0]["weights"])
    rows = [
        (
            ", ".join(row["reported_on"]),
            number(np.concatenate(row["recall"]).mean()),
            *(f"{row['weights'][name]:.2f}" for name in names),
        )
        for row in found["elsewhere"]
    ]
    print(table(("reported on", ">recall@10", *(f">{name}" for name in names)), rows))
    means = ", ".join(f"{name} {number(value)}" for name, value in found["left_out"].items())
    print(f"\nEach conversation left out in turn: {means}.")
    print("\nIn the terms of other projects:\n")
    print(table(("", ">"), ((label, number(value)) for label, value in found["terms"].items())))
    print("\nWhat a structure adds to leaves that are scored without any context:\n")

    def gain(cell: Mapping[str, float]) -> str:
        return f"{cell['gain']:+.3f} [{cell['low']:.3f}, {cell['high']:.3f}]"

    print(
        table(
            ("data", "system", ">none", *(f">{label}" for label in ADDED)),
            (
                (
                    row["data"],
                    row["system"],
                    number(row["none"]),
                    *(gain(row[label]) for label in ADDED),
                )
                for row in found["systems"]
            ),
        )
    )


def main() -> None:
    told(measured(KS))


if __name__ == "__main__":
    main()
