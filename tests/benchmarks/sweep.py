"""Time of the full sweep of conv-26.

Run ``python -m tests.benchmarks.sweep [FILE]`` from the project's root. The memory's relevance
model is prepared before. Nothing is asserted here.
"""

from functools import partial

import segviz
from segviz.evaluation.sweep import sweep
from tests.benchmarks.report import Line, best, data_file, show

BUDGET = 3.0


def main() -> None:
    corpus = segviz.load(data_file())
    conversation = corpus["conv-26"] if "conv-26" in corpus.ids else corpus[0]
    memory, questions = segviz.build(conversation), conversation.questions
    found = sweep(memory, questions)
    print(
        f"{conversation.id}: {len(memory.structure)} nodes, {len(questions)} questions, "
        f"{len(found.policies)} policies x {len(found.alphas)} alphas x {len(found.horizons)} "
        "horizons, with 95 % CI and level shares\n"
    )
    seconds = best(partial(sweep, memory, questions))
    show([Line(f"sweep of {len(questions)} questions", len(found.cells), seconds, budget=BUDGET)])


if __name__ == "__main__":
    main()
