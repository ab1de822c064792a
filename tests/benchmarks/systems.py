"""All systems on one conversation: shape, evidence recall, reading; ways to read a segment tree.

Run ``python -m tests.benchmarks.systems [FILE [CONVERSATION [SYSTEM …]]]`` from the
project's root; by default every registered system on LoCoMo conv-47 under SEGVIZ_DATA or
../shared/data. Exchange units, offline defaults. The last table, of all conversations of the
file, has what ten nodes of the segment tree give, read in several ways, in place of the ten best
leaves by the same relevance. Nothing is asserted here.
"""

import sys
from collections.abc import Iterable
from dataclasses import replace

import segviz
from segviz.conversation import Conversation
from segviz.evaluation.compare import compare
from segviz.evaluation.evaluation import Outcomes, evaluate, pooled
from segviz.evaluation.measures import MEASURES
from segviz.retrieval import OPENING, PRESETS, RERANKED, RetrievalSettings
from tests.benchmarks.report import data_file, interval, table

HEAD = (
    *("", "kind", ">nodes", ">depth", ">std", ">branching", ">widest", ">recall@10, leaves"),
    *(">reached", ">quoted", ">answer words", ">words", ">short"),
)


_SHOWN = ("recall", "reached", "quoted", "answer_words")
READ = {
    "hybrid, mixed ten": replace(PRESETS[OPENING], policy="none"),
    OPENING: PRESETS[OPENING],
    f"{OPENING}, expand 2": replace(PRESETS[OPENING], expand=2),
    RERANKED: PRESETS[RERANKED],
    "contextual, mixed ten": replace(PRESETS["best evidence"], policy="none"),
}
GAINED = ("recall", "reached", "quoted", "answer_words", "gold_turns_600", "gold_turns_1200")


def against_leaves(talks: Iterable[Conversation]) -> None:
    """Prints the paired differences of each way of ``READ`` to flat leaves."""
    memories = [segviz.build(talk) for talk in talks]

    def read(settings: RetrievalSettings) -> Outcomes:
        parts = {m.conversation.id: (m, m.conversation.questions) for m in memories}
        return pooled({name: evaluate(*one, settings).outcomes for name, one in parts.items()})

    rows: list[tuple[str, ...]] = []
    leaves: dict[str | None, Outcomes] = {}
    for label, settings in READ.items():
        flat = replace(PRESETS["no propagation"], relevance=settings.relevance, levels=(0,))
        if flat.relevance not in leaves:
            leaves[flat.relevance] = read(flat)
        before, after = leaves[flat.relevance], read(settings)
        gains = [interval(after.gain(before, name), signed=True) for name in GAINED]
        rows.append((label, *gains))
    names = (f">{MEASURES[name].label}" for name in GAINED)
    print(f"\nThe segment tree against its leaves alone, {len(before)} questions, ten nodes:\n")
    print(table(("read", *names), rows))


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
    against_leaves(corpus)


if __name__ == "__main__":
    main()
