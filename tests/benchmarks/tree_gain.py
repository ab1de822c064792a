"""What propagation along the tree adds to each relevance, with two controls.

Run ``python -m tests.benchmarks.tree_gain`` from the project's root. The controls are a tree that
knows nothing but sessions (root, session, unit) and averaging over neighbours in time, without a
tree. Policy, α and H are chosen by evidence reached on some LoCoMo conversations and reported on
the others. Gains are paired with no propagation,
with 95 % intervals that resample conversations and the questions in them. The defaults of tree and
relevance were chosen with the five LoCoMo conversations in sight. Nothing is asserted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import segviz
from segviz.construct import Arrival, Candidate, Declared
from segviz.conversation import Conversation
from segviz.evaluation.sweep import sweep
from segviz.memory import Memory
from tests.benchmarks.recall import ALPHAS, HORIZONS, STILL, TREE, Setting, named, together
from tests.benchmarks.report import interval, real_data, table
from tests.data import HELD_OUT, TUNED_ON

RELEVANCES = ("dense", "hybrid", "contextual:beside=0,asked=0", "contextual")
MEASURED = ("recall", "reached", "quoted", "answer_words")
HEAD = (
    *("relevance", "structure", "setting"),
    *(">leaf recall", ">evidence reached", ">gold turns quoted", ">answer words"),
)


@dataclass(frozen=True)
class BySession(Declared):
    """Joins the units of a session in one node below the root, whatever they say."""

    name = "by session"

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Returns the session's node, or the root where a session begins; None without one."""
        if unit.opens_session:
            return 1 if len(candidates) > 1 else None
        return 0 if candidates else None


Memories = Mapping[str, Mapping[str, Memory]]
"""Memories by kind of structure, then by conversation."""


def built(conversations: Sequence[Conversation]) -> Memories:
    """Builds the segment tree and the tree of sessions of every conversation."""
    sessions = segviz.SegmentTree(compatibility=BySession())
    return {
        "segment tree": {one.id: segviz.build(one) for one in conversations},
        "sessions": {one.id: segviz.build(one, sessions) for one in conversations},
    }


def chosen(memories: Sequence[Memory], relevance: str, policies: Sequence[str]) -> Setting:
    """Returns the setting that reaches most evidence; ties go to fewer hops, then smaller α."""
    totals: dict[Setting, float] = {}
    for memory in memories:
        grid = {"alphas": ALPHAS, "horizons": HORIZONS[1:], "relevance": relevance}
        questions = memory.conversation.questions
        for cell in sweep(memory, questions, policies=policies, **grid).cells:
            setting = (cell.policy, cell.alpha, cell.horizon)
            share = cell.outcomes.mean("reached").value * len(questions)
            totals[setting] = totals.get(setting, 0.0) + share
    totals.pop(STILL, None)
    order = sorted(totals, key=lambda setting: (setting[2], setting[1]))
    return max(order, key=totals.__getitem__)


def rows(on: Memories, there: Memories) -> list[tuple[str, ...]]:
    """Chooses on the memories ``on`` and measures on those ``there``."""
    found = []
    for relevance in RELEVANCES:
        for kind, structure, policies in (
            ("segment tree", "segment tree", TREE),
            ("sessions", "sessions", TREE),
            ("neighbours, no tree", "segment tree", ("neighbours",)),
        ):
            setting = chosen(list(on[structure].values()), relevance, policies)
            memories = list(there[structure].values())
            after = together(memories, relevance, setting)
            before = together(memories, relevance, STILL)
            gains = (interval(after.gain(before, name), signed=True) for name in MEASURED)
            found.append((relevance, kind, named("", setting).lstrip(", "), *gains))
    return found


def main() -> None:
    """Prints both directions."""
    corpus = segviz.load(real_data("locomo", "locomo5.json"))
    halves = {names: built([corpus[name] for name in names]) for names in (TUNED_ON, HELD_OUT)}
    for on, there in ((TUNED_ON, HELD_OUT), (HELD_OUT, TUNED_ON)):
        questions = sum(len(corpus[name].questions) for name in there)
        print(f"\nLoCoMo, chosen on {', '.join(on)}; {', '.join(there)}, {questions} questions:\n")
        print(table(HEAD, rows(halves[on], halves[there])))


if __name__ == "__main__":
    main()
