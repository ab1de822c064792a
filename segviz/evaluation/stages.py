"""Follows every gold turn through a memory: written, ranked, read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from segviz.conversation import Category, Question, category_label, category_order
from segviz.evaluation.aggregate import Row
from segviz.evaluation.compare import Chart
from segviz.memory import Memory, settings_for
from segviz.retrieval import RetrievalSettings, ranks, select

NEVER_WRITTEN, NOT_RANKED, NOT_READ, WRONG, READ = STAGES = (
    "never written",
    "written, not ranked",
    "ranked, not read",
    "read, answered wrong",
    "read",
)
"""How far a gold turn comes, the earliest loss first.

A node holds a turn if it has it, quotes it or, above it, states the answer. ``never written``: no
node holds it. ``written, not ranked``: none that does is among the K best.
``ranked, not read``: one is, and the token budget ends before it. ``read``: one is read.
``read, answered wrong``: the same, and the question was answered wrong, where answers are known.
"""

STAGE_CHART = Chart("group", STAGES, kind="stack")
"""How ``figures.charts.rows_figure`` draws :func:`stage_rows`: a column of shares for each group.
"""


@dataclass(frozen=True, slots=True)
class EvidenceStage:
    """Stage at which one gold turn of one question was lost, or that it was read.

    ``question`` is the index of the question, ``session`` the id of the turn's session, ``stage``
    one of :data:`STAGES`. ``node`` is the best-ranked node that holds the turn, ``rank`` its
    1-based rank and ``score`` its final score; all are None if no node holds the turn, ``rank``
    also if a system's own retrieval gives the node no score. ``needed`` is the score of the last
    of the K best, None if fewer than K came back.
    """

    question: int
    category: Category | None
    turn: str
    session: str
    stage: str
    node: int | None = None
    rank: int | None = None
    score: float | None = None
    needed: float | None = None


def evidence_stages(
    memory: Memory,
    questions: Sequence[Question],
    settings: RetrievalSettings | None = None,
    **changes: Any,
) -> tuple[EvidenceStage, ...]:
    """Returns the stage of every gold turn of every question.

    Args:
        memory: any memory; a question is asked of it as it stood at the question's moment.
        questions: evidence ids that are no turns of the conversation are left out.
        settings: of the retrieval. Here the ``k`` best nodes count as ranked. With a ``budget`` of
            tokens, only those of them that fit into it count as read.
        **changes: fields of the settings that differ.

    Returns:
        One record for each question and gold turn, in their order.

    Raises:
        ValueError: For a setting out of range.
    """
    asked = settings_for(memory, settings, changes)
    where = {
        turn.id: session.id for session in memory.conversation.sessions for turn in session.turns
    }
    stages = []
    for question, turns in with_gold(questions, where):
        # The K best nodes, those of them that the budget reads, and the score of the last.
        result = memory.ask(question, replace(asked, budget=None))
        structure, top = result.structure, list(result.after)
        read = set(select(top, structure.text, asked.k, asked.budget))
        needed = float(result.final[top[-1]]) if len(top) == asked.k and not asked.expand else None
        # The rank of every node that has a gold turn.
        gold = memory.gold(question, structure)
        holders = sorted(gold.by_node)
        by_score = ranks(holders, result.final, structure, asked.levels)
        place = {node: rank for node, rank in zip(holders, by_score, strict=True) if rank}
        if result.native:  # what it does not score, it does not rank
            place = {node: rank for node, rank in place.items() if result.final[node] > 0}
        place |= {node: rank for rank, node in enumerate(top, start=1)}
        # Each turn comes as far as the best-ranked node that has it.
        for turn in turns:
            mine = [node for node in holders if turn in gold.by_node[node]]
            best = min(mine, key=lambda node: (place.get(node, len(structure)), node), default=None)
            head = question.index, question.category, turn, where[turn]
            if best is None:
                stages.append(EvidenceStage(*head, NEVER_WRITTEN))
                continue
            stage = READ if best in read else NOT_READ if best in top else NOT_RANKED
            score = float(result.final[best])
            stages.append(EvidenceStage(*head, stage, best, place.get(best), score, needed))
    return tuple(stages)


def with_gold(
    questions: Iterable[Question], known: Collection[str]
) -> Iterator[tuple[Question, list[str]]]:
    """Yields the questions with gold turns, each with those of their ids that are ``known``."""
    for question in questions:
        if turns := [turn for turn in dict.fromkeys(question.evidence) if turn in known]:
            yield question, turns


def with_answers(
    stages: Sequence[EvidenceStage], right: Mapping[int, bool]
) -> tuple[EvidenceStage, ...]:
    """Returns the stages with those turns marked that were read for a wrong answer.

    ``right`` maps the index of a question to True if it was answered right from what was read, as
    ``AnswerEvaluation.right`` does.
    """
    wrong = {question for question, well in right.items() if not well}
    return tuple(
        replace(one, stage=WRONG) if one.stage == READ and one.question in wrong else one
        for one in stages
    )


GROUPS: dict[str, tuple[Callable[[EvidenceStage], str], Callable[[EvidenceStage], Any]]] = {
    "": (lambda one: "all", lambda one: 0),
    "category": (
        lambda one: category_label(one.category),
        lambda one: category_order(one.category),
    ),
    "session": (lambda one: one.session, lambda one: (len(one.session), one.session)),
}
"""Groupings of gold turns: the name of a group and its order, which for sessions is that of
their numbers."""


def stage_rows(stages: Sequence[EvidenceStage], by: str = "") -> list[Row]:
    """Returns the share of gold turns in each stage.

    Args:
        stages: the stages of gold turns, of any number of questions.
        by: "" for one row over all; "category" or "session" for a row for each of these.
    """
    name_of, order = GROUPS[by]
    rows: list[Row] = []
    for name in dict.fromkeys(map(name_of, sorted(stages, key=order))):
        mine = [one.stage for one in stages if name_of(one) == name]
        row: Row = {"group": name, "gold turns": len(mine)}
        rows.append(row | {stage: mine.count(stage) / len(mine) for stage in STAGES})
    return rows


def occurring(rows: Sequence[Row]) -> list[str]:
    """Returns the stages with at least one turn in ``rows``; the others need no column."""
    return [stage for stage in STAGES if any(row[stage] for row in rows)]
