"""Finds the worked examples of SegTreeMem's appendix C in a conversation and measures them.

``cases.toml`` has the examples. The five questions of App. C.4 are about conversation conv-47 of
LoCoMo and are recognised by their text. :func:`seen` describes what a memory retrieves for one of
them. :func:`cascade_seen` compares the size of a memory with the degenerate tree of App. C.3.1.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

from segviz.conversation import Question
from segviz.memory import Memory
from segviz.retrieval import Result, RetrievalSettings, ranks
from segviz.retrieval.gold import GoldEvidence
from segviz.systems import level_name, level_names
from segviz.text.captions import counted
from segviz.text.words import content_tokens
from segviz.tree.shape import diagnose, shape

CONVERSATION = "conv-47"
"""Id of the LoCoMo conversation of the five questions."""

PAPER = RetrievalSettings(policy="none", alpha=0.1, horizon=2, relevance="dense", k=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A worked example: a question of App. C.4 or a dialogue of App. C.3.

    Attributes:
        name: its name in the paper.
        place: where the paper has it.
        title: its point, in a line.
        paper: the result that the paper reports, and how the data set differs from it.
        questions: possible wordings, :func:`normalised`, the preferred one first.
        settings: retrieval settings that are compared.
        watch: a word; its frequency among the retrieved texts is reported.
        cascades: True if the open tree is compared with the degenerate one.
        sample, parameters, link: a conversation, the system's parameters that show the case on it,
            and the label of a link to it.
    """

    name: str
    place: str
    title: str
    paper: str
    questions: tuple[str, ...] = ()
    settings: tuple[RetrievalSettings, ...] = ()
    watch: str = ""
    cascades: bool = False
    sample: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    link: str = ""


def _cases(kind: str) -> tuple[Case, ...]:
    """Returns the cases of a kind in ``cases.toml``."""
    text = files(__package__).joinpath("cases.toml").read_text("utf-8")
    return tuple(
        Case(
            **row
            | {
                "questions": tuple(row.get("questions", ())),
                "settings": tuple(replace(PAPER, **each) for each in row.get("settings", ())),
            }
        )
        for row in tomllib.loads(text)[kind]
    )


CASES, DIALOGUES = _cases("questions"), _cases("dialogues")


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
    gold = memory.gold(question, result.structure)
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


def cascades(memory: Memory) -> bool:
    """Returns True if the memory's tree cascades (App. C.3.1)."""
    return "cascade" in {one.kind for one in diagnose(shape(memory.structure))}


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
