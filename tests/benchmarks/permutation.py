"""SegTreeMem's Table 3 in our metric: what is lost when 30 % of the units change places.

Run ``python -m tests.benchmarks.permutation [FILE] [SEEDS]`` from the project's root; by
default the LoCoMo conversations under SEGVIZ_DATA or ../shared/data and five seeds. Offline
defaults, exchange units. Nothing is asserted here.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import segviz
from segviz.evaluation import Outcomes
from segviz.evaluation.reproduce import Bench, losses
from tests.benchmarks.report import data_file, interval, table

SYSTEMS = ("segment-tree", "clustering")
SETTINGS = (("none", 0.0, 0), ("top-down", 0.1, 2), ("both", 0.3, 2))
MEASURES = ("recall", "reached", "quoted", "answer_words")
HEAD = ("", ">original", ">permuted", ">loss, 95 %")
PAPER = {"segment-tree": (0.639, 0.538), "clustering": (0.603, 0.583)}


def named(setting: tuple[str, float, int]) -> str:
    policy, alpha, horizon = setting
    return policy if policy == "none" else f"{policy} {alpha:g}/{horizon}"


def differs(found: dict[str, tuple[Outcomes, Outcomes]], measure: str) -> tuple[str, str]:
    """How much more the first system loses, question by question."""
    first, second = (
        replace(whole, values={measure: tuple(whole.column(measure) - moved.column(measure))})
        for whole, moved in found.values()
    )
    more = first.gain(second, measure)
    return interval(more, True), str(more.n)


def main() -> None:
    path = data_file()
    seeds = range(int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    bench = Bench(tuple(segviz.load(path)))
    for relevance in ("hybrid", "dense"):
        print(f"\n{relevance}, 30% of the units moved, {len(seeds)} seeds:\n")
        rows, more = [], []
        for setting in SETTINGS:
            policy, alpha, horizon = setting
            found = losses(
                bench,
                {name: (name, {}) for name in SYSTEMS},
                seeds,
                policy=policy,
                alpha=alpha,
                horizon=horizon,
                relevance=relevance,
            )
            rows += [
                (
                    f"{name}, {named(setting)}, {measure}",
                    f"{whole.mean(measure).value:.3f}",
                    f"{moved.mean(measure).value:.3f}",
                    interval(whole.gain(moved, measure), True),
                )
                for name, (whole, moved) in found.items()
                for measure in MEASURES
            ]
            more += [(f"{named(setting)}, {m}", *differs(found, m)) for m in MEASURES]
        print(table(HEAD, rows))
        head = f"{SYSTEMS[0]} loses more than {SYSTEMS[1]}"
        print("\n" + table((head, ">by", ">n"), more))
    print("\nPaper, Table 3, LoCoMo (LLM judge, batch construction, no propagation):\n")
    said = [
        (name, f"{original:.3f}", f"{permuted:.3f}", f"{original - permuted:+.3f}")
        for name, (original, permuted) in PAPER.items()
    ]
    print(table(HEAD, said))


if __name__ == "__main__":
    main()
