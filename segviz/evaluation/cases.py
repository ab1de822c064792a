"""Finds the worked examples of SegTreeMem's appendix C in a conversation and measures them.

The five questions of App. C.4 are about conversation conv-47 of LoCoMo and are recognised by their
text. :func:`seen` describes what a memory retrieves for one of them. :func:`cascade_seen` compares
the size of a memory with the degenerate tree of App. C.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from segviz.conversation import Question
from segviz.memory import Memory
from segviz.retrieval import Result, RetrievalSettings, ranks
from segviz.retrieval.gold import GoldEvidence
from segviz.systems import level_name, level_names
from segviz.text.captions import counted
from segviz.text.words import content_tokens
from segviz.tree.shape import shape

CONVERSATION = "conv-47"
"""Id of the LoCoMo conversation of the five questions."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question of App. C.4.

    Attributes:
        name: its name in the paper.
        title: its point, in a line.
        questions: possible wordings, :func:`normalised`, the preferred one first.
        paper: the result that the paper reports.
        note: a difference between the data set and the paper.
        settings: retrieval settings that are compared.
        watch: a word; its frequency among the retrieved texts is reported.
    """

    name: str
    title: str
    questions: tuple[str, ...]
    paper: str
    settings: tuple[RetrievalSettings, ...]
    note: str = ""
    watch: str = ""


def _setting(relevance: str, policy: str = "none", alpha: float = 0.1) -> RetrievalSettings:
    return RetrievalSettings(policy=policy, alpha=alpha, horizon=2, relevance=relevance, k=10)


# The paper retrieves by dense relevance, with α 0.1 and H 2 (Table 4).
CASES: tuple[Case, ...] = (
    Case(
        "Q1",
        "A summary answers where its leaf is not retrieved",
        ("what did john suggest james practice before playing fifa 23 together",),
        "The narrow node over the dialogue of 5 November keeps the gamepad in its summary. MemTree "
        "and RAPTOR reach the topic and lose this detail.",
        (_setting("dense"), _setting("hybrid"), _setting("hybrid", "top-down", 0.3)),
    ),
    Case(
        "Q2",
        "A parent's summary holds what a short reply says",
        ("what is the name of john s cousin s dog",),
        "The summary over the dialogue of 7 November ends with the dog's name, so the short reply "
        "that gives it need not be retrieved. MemTree and RAPTOR retrieve the turns around it.",
        (_setting("dense"), _setting("hybrid")),
    ),
    Case(
        "Q3",
        "A summary can lose the exact detail",
        ("when did john resume playing drums in his adulthood",),
        "A failure. Retrieval reaches the right stretch of time, but the summary speaks of hobbies "
        "and not of drums. MemTree retrieves the literal turn.",
        (_setting("dense", "top-down"), _setting("hybrid", "top-down")),
        watch="drum",
    ),
    Case(
        "Q4",
        "Propagation decides a near tie",
        (
            "what is james planning to do after receiving samantha s phone number",
            "what is john planning to do after receiving samantha s phone number",
        ),
        "Without propagation an unrelated turn about a video card ranks just above the turn about "
        "Samantha. The parents of the latter are about her, too, and propagation lifts it.",
        (_setting("dense"), _setting("dense", "top-down"), _setting("hybrid", "top-down")),
        note="The paper asks about John. LoCoMo answers the question about James, and counts the "
        "one about John as unanswerable.",
        watch="Samantha",
    ),
    Case(
        "Q5",
        "Propagation can bring in a distractor",
        ("which of james s family members have visited him in the last year",),
        "Top-down lets in a turn about a cousin, and the answer becomes wrong. Bottom-up stays "
        "with mother and sister.",
        (
            _setting("dense", "top-down"),
            _setting("dense", "bottom-up"),
            _setting("hybrid", "top-down"),
            _setting("hybrid", "bottom-up"),
        ),
        watch="cousin",
    ),
)


def normalised(question: str) -> str:
    """Returns the words of a question in lower case, without punctuation."""
    return " ".join(re.findall(r"\w+", question.lower()))


def cases_in(questions: Sequence[Question]) -> list[tuple[Case, Question]]:
    """Returns the cases whose question is one of ``questions``, each with this question."""
    known = {normalised(question.text): question for question in reversed(questions)}
    return [
        (case, known[wording])
        for case in CASES
        if (wording := next(filter(known.__contains__, case.questions), None)) is not None
    ]


def setting_name(settings: RetrievalSettings) -> str:
    """Returns the settings in words, such as "dense, top-down, α 0.1, H 2"."""
    policy, alpha, horizon = settings.propagation
    how = "no propagation" if policy == "none" else f"{policy}, α {alpha:g}, H {horizon}"
    return f"{settings.relevance}, {how}"


def seen(memory: Memory, question: Question, settings: RetrievalSettings, watch: str = "") -> str:
    """Describes in a few sentences what a memory retrieves for a question.

    The sentences have the ranks of the gold leaves, the best node above them with the words of the
    answer in its text, the number of nodes that only propagation brings into the top K, and the
    number of texts with the word ``watch``.
    """
    result = memory.ask(question, settings)
    gold = memory.gold(question.evidence, result.structure)
    if not gold.leaves:
        return "No leaf of this memory has the evidence."
    names = level_names(memory.system)
    report = [_leaves(result, gold), _wider(result, gold, question.answer or "", names)]
    if result.settings.propagation[0] != "none":
        entered = counted(len(result.entered), "node")
        report.append(f"New in the top {len(result.after)}: {entered}.")
    if watch:
        number = sum(watch.lower() in each.text.lower() for each in result.evidence)
        report.append(f"“{watch}” is in {number} of {counted(len(result.evidence), 'text')}.")
    return " ".join(report)


def _leaves(result: Result, gold: GoldEvidence) -> str:
    """Describes the ranks of the gold leaves before and after propagation.

    Also says how many of them are retrieved.
    """
    structure, levels = result.structure, result.settings.levels
    before, after = (
        ranks(gold.leaves, scores, structure, levels) for scores in (result.initial, result.final)
    )
    moved = [f"{b} → {a}" if b != a else f"{a}" for b, a in zip(before, after, strict=True)]
    retrieved = len({*gold.leaves} & {*result.after})
    return (
        f"{counted(len(moved), 'gold leaf', 'gold leaves')}: rank {' and '.join(moved)} of "
        f"{int(structure.active.sum()):,} nodes, {retrieved or 'none'} retrieved."
    )


def _wider(result: Result, gold: GoldEvidence, answer: str, names: Sequence[str]) -> str:
    """Describes the retrieved node above a gold leaf that has the most words of the answer.

    If some gold leaves are not retrieved, only nodes above these are considered.
    """
    missed = [leaf for leaf in gold.leaves if leaf not in result.after]
    turns = {turn for leaf in missed or gold.leaves for turn in gold.by_node[leaf]}
    words = content_tokens(answer)
    over = [
        (len(shared := words & content_tokens(each.text)), -each.rank_after, shared, each)
        for each in result.evidence
        if each.node not in gold.leaves and turns & {*each.turn_ids}
    ]
    which = "a missed leaf" if missed else "a gold leaf"
    if not over:
        return f"No wider node over {which} is retrieved."
    *_, shared, best = max(over, key=lambda candidate: candidate[:2])
    spoken = [f"“{word}”" for word in sorted(shared, key=answer.lower().find)]
    return (
        f"Rank {best.rank_after} ({level_name(best.level, names)}) lies above {which} and says "
        f"{' and '.join(spoken) or 'no word of the answer'}."
    )


def cascade_seen(memory: Memory) -> str:
    """Describes a memory's leaves, nodes, levels and new roots.

    Ends with the number of nodes of the worst case (App. C.3.1) with as many leaves.
    """
    measured = shape(memory.structure)
    leaves, depth = measured.leaves, int(memory.structure.level.max(initial=0)) + 1
    alone = sum(step.decision is not None and step.decision.chosen is None for step in memory.steps)
    return (
        f"{counted(leaves, 'leaf', 'leaves')} make {measured.nodes + measured.unary:,} nodes on "
        f"{counted(depth, 'level')}. {counted(alone, 'leaf', 'leaves')} joined nothing and began a "
        f"new root; {counted(measured.unary, 'node')} repeat the text of their only child. Where "
        f"nothing ever joins there are {leaves * (leaves + 1) // 2:,} nodes."
    )
