"""The setting the app opens with, beside others on the same relevance: is propagation seen at work,
and what does it cost?

Run ``python -m tests.benchmarks.opening`` from the project's root. *Enters* is the share of the
questions in whose ten a node comes that was not there without propagation, and how many nodes come
on average; up to 60 questions of each conversation are asked for that. The differences to no
propagation are paired, with 95 % intervals. The setting was chosen with the five LoCoMo
conversations and the samples in sight; LongMemEval and RealMem were measured afterwards. Nothing is
asserted.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import segviz
from segviz.conversation import Conversation, sample_path
from segviz.evaluation.evaluation import Outcomes, evaluate, pooled
from segviz.retrieval import OPENING, PRESETS
from tests.benchmarks.report import SETS, interval, real_data, table
from tests.data import HELD_OUT, TUNED_ON

TRIED = (("both", 0.1, 2), ("both", 0.2, 2), ("both", 0.3, 2), ("bottom-up", 0.1, 2))
ASKED = 60
MEASURED = ("recall", "reached", "quoted", "answer_words")
HEAD = (
    *("", "setting", ">enters", ">nodes"),
    *(">leaf recall", ">evidence reached", ">gold turns quoted", ">answer words"),
)


def rows(name: str, conversations: Sequence[Conversation]) -> list[tuple[str, ...]]:
    """A row for each setting over the questions of all conversations."""
    opening = PRESETS[OPENING]
    plain = replace(opening, policy="none")
    memories = [segviz.build(conversation) for conversation in conversations]
    before = pooled({m.conversation.id: measured(m, plain) for m in memories})
    found = []
    for policy, alpha, horizon in TRIED:
        setting = replace(opening, policy=policy, alpha=alpha, horizon=horizon)
        after = pooled({m.conversation.id: measured(m, setting) for m in memories})
        came = [
            len(set(result.after) - set(result.before))
            for memory in memories
            for result in (memory.ask(q, setting) for q in memory.conversation.questions[:ASKED])
        ]
        mark = ", opening" if setting == opening else ""
        found.append(
            (
                name,
                f"{policy} {alpha:g}/{horizon}{mark}",
                f"{np.mean([n > 0 for n in came]):.0%}",
                f"{np.mean(came):.1f}",
                *(interval(after.gain(before, measure), signed=True) for measure in MEASURED),
            )
        )
    return found


def measured(memory: segviz.Memory, settings: segviz.RetrievalSettings) -> Outcomes:
    """All measures of a memory's questions under one setting."""
    return evaluate(memory, memory.conversation.questions, settings).outcomes


def main() -> None:
    """Prints one table."""
    locomo = segviz.load(real_data("locomo", "locomo5.json"))
    first = [locomo[name] for name in TUNED_ON]
    others = [locomo[name] for name in HELD_OUT]
    samples = [segviz.load(sample_path(name))[0] for name in ("ines-theo", "noor-caleb")]
    oracle = list(segviz.load(real_data("longmemeval", "oracle_sample.json")))
    realmem = [segviz.load(real_data(file))[0] for file in SETS["RealMem"]]
    groups = {
        "LoCoMo 26, 30, 43": first,
        "LoCoMo 47, 49": others,
        "the samples": samples,
        "LongMemEval oracle": oracle,
        "RealMem": realmem,
    }
    print("Hybrid relevance, ten nodes, differences to no propagation:\n")
    print(table(HEAD, [row for name, group in groups.items() for row in rows(name, group)]))


if __name__ == "__main__":
    main()
