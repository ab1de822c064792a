"""SegTreeMem's Table 3 in our metric: what is lost when 30 % of the units change places.

Run ``python -m tests.benchmarks.permutation [FILE] [SEEDS]`` from the project's root; by
default the LoCoMo conversations under SEGVIZ_DATA or ../shared/data and five seeds. Offline
defaults, exchange units. Nothing is asserted here.
"""

from __future__ import annotations

import sys
from functools import partial

import segviz
from segviz.evaluate.permutation import Propagation, permutation
from tests.benchmarks.report import data_file, interval, table

SYSTEMS = ("segment-tree", "clustering")
SETTINGS = (("none", 0.0, 0), ("top-down", 0.1, 2), ("both", 0.3, 2))
HEAD = ("", ">original", ">permuted", ">loss, 95 %")
PAPER = {"segment-tree": (0.639, 0.538), "clustering": (0.603, 0.583)}


def named(setting: Propagation) -> str:
    policy, alpha, horizon = setting
    return policy if policy == "none" else f"{policy} {alpha:g}/{horizon}"


def main() -> None:
    path = data_file()
    seeds = tuple(range(int(sys.argv[2]) if len(sys.argv) > 2 else 5))
    corpus = segviz.load(path)
    builders = {name: partial(segviz.build, system=name) for name in SYSTEMS}
    for relevance in ("hybrid", "dense"):
        found = permutation(
            tuple(corpus), builders, seeds=seeds, settings=SETTINGS, relevance=relevance
        )
        print(f"\n{relevance}, {found.share:.0%} of the units moved, {len(seeds)} seeds:\n")
        rows = [
            (
                f"{row.system}, {named(row.setting)}, {row.measure}",
                f"{row.original.value:.3f}",
                f"{row.permuted.value:.3f}",
                interval(row.loss, True),
            )
            for row in found.losses
        ]
        print(table(HEAD, rows))
        rows = [
            (
                f"{other.first} loses more than {other.second}, {named(other.setting)}, "
                f"{other.measure}",
                interval(other.more, True),
                str(other.more.n),
            )
            for other in found.differences
        ]
        print("\n" + table(("", ">by", ">n"), rows))
    print("\nPaper, Table 3, LoCoMo (LLM judge, batch construction, no propagation):\n")
    said = [
        (name, f"{original:.3f}", f"{permuted:.3f}", f"{original - permuted:+.3f}")
        for name, (original, permuted) in PAPER.items()
    ]
    print(table(HEAD, said))


if __name__ == "__main__":
    main()
