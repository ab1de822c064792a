"""Time of the full sweep of conv-26 beside asking every question for every setting.

Run ``python -m tests.benchmarks.sweep [FILE]`` from the project's root. The alternative,
``memory.ask`` per question and setting (twice: leaves and all levels), is timed on a few
settings and EXTRAPOLATED to the grid; it computes no confidence interval. Both run in this
process, on a memory whose relevance model is prepared. Nothing is asserted here.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter

import segviz
from segviz.evaluation.sweep import sweep
from tests.benchmarks.report import Line, data_file, show

SAMPLE = (("top-down", 0.1, 2), ("bottom-up", 0.5, 3), ("both", 0.3, 1))
REPEATS = 5
BUDGET = 2.0


def main() -> None:
    path = data_file()
    corpus = segviz.load(path)
    conversation = corpus["conv-26"] if "conv-26" in corpus.ids else corpus[0]
    memory = segviz.build(conversation)
    questions = conversation.questions

    began = perf_counter()
    memory.scorer("hybrid")
    prepared = perf_counter() - began
    times = []
    for _ in range(REPEATS):
        began = perf_counter()
        found = sweep(memory, questions)
        times.append(perf_counter() - began)

    began = perf_counter()
    for policy, alpha, horizon in SAMPLE:
        for question in questions:
            for levels in ((0,), None):
                memory.ask(
                    question.text, policy=policy, alpha=alpha, horizon=horizon, levels=levels
                )
    each = (perf_counter() - began) / len(SAMPLE)

    settings = len(found.cells)
    print(
        f"{conversation.id}: {len(memory.structure)} nodes, {len(questions)} questions, "
        f"{settings} settings ({len(found.policies)} policies x {len(found.alphas)} alphas x "
        f"{len(found.horizons)} horizons), with 95 % CI and level shares"
    )
    print(f"the relevance model is prepared once, in {prepared:.2f} s\n")
    other = f"ask per question and setting, EXTRAPOLATED from {len(SAMPLE)} settings"
    what = f"sweep of {len(questions)} questions, median of {REPEATS}"
    show([Line(what, settings, median(times), "s", each * settings, other, BUDGET)])


if __name__ == "__main__":
    main()
