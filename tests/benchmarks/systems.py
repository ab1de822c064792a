"""All systems on one conversation: shape, evidence recall, reading.

Run ``python -m tests.benchmarks.systems [FILE [CONVERSATION [SYSTEM …]]]`` from the
project's root; by default every registered system on LoCoMo conv-47 under SEGVIZ_DATA or
../shared/data. Exchange units, offline defaults. Nothing is asserted here.
"""

import sys

import segviz
from segviz.evaluation.compare import compare
from tests.benchmarks.report import data_file, interval, table

HEAD = (
    *("", "kind", ">nodes", ">depth", ">std", ">branching", ">widest", ">recall@10, leaves"),
    *(">reached", ">quoted", ">answer words", ">words", ">short"),
)


_SHOWN = ("recall", "reached", "quoted", "answer_words")


def main() -> None:
    path = data_file()
    corpus = segviz.load(path)
    wanted = sys.argv[2] if len(sys.argv) > 2 else "conv-47"
    conversation = corpus[wanted] if wanted in corpus.ids else corpus[0]
    names = sys.argv[3:] or segviz.SYSTEMS
    memories = {name: segviz.build(conversation, name) for name in names}
    print(f"{conversation.id}, {len(next(iter(memories.values())).units)} units")
    for relevance in ("contextual", "dense"):
        found = compare(memories, conversation.questions, relevance=relevance)
        print(f"\n{relevance}, {found.questions} questions:\n")
        rows = [
            (
                f"{row.name}, {row.method}",
                row.shape.kind,
                str(row.shape.nodes),
                f"{row.shape.mean_depth:.1f}",
                f"{row.shape.depth_std:.2f}",
                f"{row.shape.branching:.1f}",
                str(row.shape.widest),
                *(interval(row.outcomes.mean(name)) for name in _SHOWN),
                f"{row.outcomes.value('words'):.0f}",
                f"{row.outcomes.value('short'):.2f}",
            )
            for row in found.rows
        ]
        print(table(HEAD, rows))


if __name__ == "__main__":
    main()
