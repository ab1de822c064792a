"""Does a setting chosen per question beat one for all? Fit on half, report on the other.

Run ``python -m tests.benchmarks.adaptive [FILE]`` from the project's root, with the data of
``tests.benchmarks.recall``. Hybrid relevance, evidence recall@10 over leaves, the questions
of all conversations together. The halves are told apart by a hash of the question's text,
so that no conversation is missing from either. The signs a rule may use were fixed before
fitting (``segviz.retrieval.adaptive.SIGNS``); the fit is greedy: of all signs and settings the pair
that gains most over the best single setting becomes the next rule, as long as it decides at
least 25 questions of those left and gains at least .001 over the half.

The shipped list is the one fitted on half 0 with all policies; a test compares them. The
other lines show how much of its gain is luck.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segviz.evaluate import Mean, measures
from segviz.evaluate.aggregate import mean_ci
from segviz.evaluate.scores import first_scores, gold_of
from segviz.memory import Memory
from segviz.retrieval import combine, spread
from segviz.retrieval.adaptive import RULES, SIGNS, Setting, traits
from tests.benchmarks.recall import ALPHAS, HORIZONS, POLICIES, data_file, locomo_memories, named

FEWEST = 25
LEAST = 0.001
MOST_RULES = 4
MENUS = {
    "all policies": POLICIES,
    "tree policies": ("top-down", "bottom-up", "both"),
    "the paper's": ("top-down", "bottom-up"),
}


@dataclass(frozen=True)
class Table:
    """Recall of every setting (s, q), which signs each question shows, its half (q,)."""

    settings: tuple[Setting, ...]
    recall: NDArray[np.float64]
    signs: dict[str, NDArray[np.bool_]]
    half: NDArray[np.int64]


def recall_of_every_setting(
    memory: Memory, initial: NDArray[np.float64], settings: Sequence[Setting]
) -> NDArray[np.float64]:
    """As ``evaluate`` with each setting, (s, q), but with the hops spread once per policy."""
    structure, gold = memory.structure, gold_of(memory, memory.conversation.questions)
    leaves = np.array(structure.leaves)
    hops = {p: spread(initial, structure.edges, p, max(HORIZONS), structure) for p in POLICIES}
    rows = []
    for policy, alpha, horizon in settings:
        final = combine(hops[policy], policy, alpha, horizon) if horizon else initial
        ranked = measures.order(final, leaves)
        rows.append(measures.recall(np.take_along_axis(gold.leaves, ranked, axis=1), 10))
    return np.array(rows)


def table(memories: Sequence[Memory]) -> Table:
    """All counted questions of all memories."""
    settings: list[Setting] = [("none", 0.0, 0)]
    settings += [(p, a, h) for p in POLICIES for a in ALPHAS for h in HORIZONS if h]
    parts, seen, half = [], [], []
    for memory in memories:
        questions = memory.conversation.questions
        initial = first_scores(memory, questions, "hybrid")
        counted = np.flatnonzero(gold_of(memory, questions).counted)
        parts.append(recall_of_every_setting(memory, initial, settings)[:, counted])
        for i in counted.tolist():
            seen.append(traits(questions[i].text, initial[i], memory.structure))
            half.append(hashlib.sha256(questions[i].text.encode()).digest()[0] % 2)
    signs = {name: np.array([sign.shown(t) for t in seen]) for name, sign in SIGNS.items()}
    return Table(tuple(settings), np.concatenate(parts, axis=1), signs, np.array(half))


Rules = list[tuple[str, Setting]]


def fit(found: Table, half: int, policies: Sequence[str]) -> tuple[Setting, Rules]:
    """The best single setting of a half and the rules that gain over it, in order."""
    here = found.half == half
    menu = [i for i, s in enumerate(found.settings) if s[0] in (*policies, "none")]
    base = max(menu, key=lambda i: float(found.recall[i, here].mean()))
    rules: Rules = []
    left = here.copy()
    while len(rules) < MOST_RULES:
        gain, name, setting = max(
            (
                (float((found.recall[i] - found.recall[base])[left & shown].sum()), name, i)
                for name, shown in found.signs.items()
                if (left & shown).sum() >= FEWEST
                for i in menu
            ),
            key=lambda option: option[0],
            default=(0.0, "", base),
        )
        if gain < LEAST * here.sum():
            break
        rules.append((name, found.settings[setting]))
        left &= ~found.signs[name]
    return found.settings[base], rules


def applied(found: Table, base: Setting, rules: Rules) -> NDArray[np.float64]:
    """Recall of every question (q,) under these rules."""
    row = {setting: found.recall[i] for i, setting in enumerate(found.settings)}
    values = row[base].copy()
    for name, setting in reversed(rules):
        values = np.where(found.signs[name], row[setting], values)
    return values


def held_out(found: Table, half: int, base: Setting, rules: Rules) -> tuple[Mean, Mean, Mean]:
    """On the other half: the best single setting, the rules, and their paired difference."""
    there = found.half != half
    single = found.recall[found.settings.index(base)][there]
    chosen = applied(found, base, rules)[there]
    return mean_ci(single), mean_ci(chosen), mean_ci(chosen - single)


def main() -> None:
    found = table(list(locomo_memories(data_file()).values()))
    for half in (0, 1):
        for menu, policies in MENUS.items():
            base, rules = fit(found, half, policies)
            single, chosen, difference = held_out(found, half, base, rules)
            print(f"fitted on half {half}, {menu}{' (shipped)' * (tuple(rules) == RULES)}")
            for name, setting in rules:
                print(f"  the question {SIGNS[name].words}: {named('', setting)[2:]}")
            print(f"  otherwise: {named('', base)[2:]}")
            print(f"  held out: single {single}\n            rules  {chosen}")
            print(f"            difference {difference}")
    best = found.recall.max(axis=0)
    print(f"the best setting for each question, known afterwards: {mean_ci(best)}")


if __name__ == "__main__":
    main()
