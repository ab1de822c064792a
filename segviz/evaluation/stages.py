"""Follows every gold turn through a memory: written, ranked, read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Any

from segviz.conversation import Category, Question, category_label, category_order
from segviz.evaluation.aggregate import Row
from segviz.evaluation.compare import Chart
from segviz.memory import Memory, settings_for
from segviz.retrieval import RetrievalSettings, estimated_tokens
from segviz.retrieval.gold import FATES
from segviz.tree import Structure

NEVER_WRITTEN, NOT_RANKED, NOT_READ, WRONG, READ = STAGES = (
    "never written",
    "written, not ranked",
    "ranked, not read",
    "read, answered wrong",
    "read",
)
"""How far a gold turn comes, the earliest loss first.

A node holds a turn if it has it, quotes it or, above it, states the answer. ``never written``: no
node holds it. ``written, not ranked``: none that does is among the K best or, with a token budget,
comes back under any. ``ranked, not read``: one does, and the budget ends before it or cuts the turn
out of it. ``read``: one is read.
``read, answered wrong``: the same, and the question was answered wrong, where answers are known.
"""

DEEP = 100
"""Number of texts that a system's own search is asked for, so that lost evidence has a rank."""

_UNLIMITED = 1_000_000_000  # tokens of a budget that reads all that comes back

DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100)
"""Numbers K of the curve over K."""

TOKENS = (100, 300, 600, 1200, 2400, 4800)
"""Numbers of tokens of the curve over tokens."""

STAGE_CHART = Chart("group", STAGES, kind="stack")
"""How ``figures.charts.rows_figure`` draws :func:`stage_rows`: a column of shares for each group.
"""


@dataclass(frozen=True, slots=True)
class EvidenceStage:
    """Stage at which one gold turn of one question was lost, or that it was read.

    ``question`` is the index of the question, ``session`` the id of the turn's session, ``stage``
    one of :data:`STAGES`. ``node`` is the best-ranked node that holds the turn, ``rank`` its
    1-based rank and ``score`` its final score; all are None if no node holds the turn, ``rank``
    also if the node may not come back, is skipped as a repeat, or a system's own search for 100
    texts does not return it. ``needed`` is the score of the last of the K best, None if fewer than
    K came back, or of the last in the budget. ``tokens`` are those of all texts down to the node.
    ``above`` are the nodes that rank above it, the best first; the 100 best if no node holds the
    turn, or its rank is higher or unknown. ``newer`` of them begin later than it does.
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
    tokens: int | None = None
    newer: int = 0
    above: tuple[int, ...] = ()


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
        settings: of the retrieval. The ``k`` best nodes count as read. A ``budget`` of tokens takes
            the place of ``k``: what it reads counts, the last text as it is cut, and all nodes that
            may come back count as ranked; of a system's own search, what it returns for ``k``.
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
    stages: list[EvidenceStage] = []
    begun: tuple[Structure, Callable[[int], int]] | None = None
    for question, turns in with_gold(questions, where):
        # What is read, what becomes of the turns in it, and the score of the last node.
        result = memory.ask(question, asked)
        structure, top = result.structure, result.after
        gold = memory.gold(question, structure)
        fates = gold.fate(result.evidence)
        full = len(top) == asked.k if asked.budget is None else bool(top)
        needed = float(result.final[top[-1]]) if full and not asked.expand else None
        # Every node in the order in which more would be read; of a system's own search, in that of
        # a longer list or, under a budget, of all that it returns.
        every = replace(asked, budget=_UNLIMITED)
        order = every.read(asked.order(result.final, structure), structure)
        if result.native:
            longer = every if asked.budget else replace(asked, k=max(asked.k, DEEP))
            order = list(dict.fromkeys([*top, *memory.ask(question, longer).after]))
        ranked = set(order if asked.budget else top)
        holders = sorted(gold.by_node)
        place = {node: rank for rank, node in enumerate(order, start=1)}
        tokens = list(accumulate(estimated_tokens(structure.text[node]) for node in order))
        if begun is None or begun[0] is not structure:
            begun = structure, beginnings(memory, structure)
        # Each turn comes as far as the best-ranked node that has it.
        for turn in turns:
            mine = [node for node in holders if turn in gold.by_node[node]]
            best = min(mine, key=lambda node: (place.get(node, len(structure)), node), default=None)
            head = question.index, question.category, turn, where[turn]
            if best is None:
                stages.append(EvidenceStage(*head, NEVER_WRITTEN, above=tuple(order[:DEEP])))
                continue
            stage = NOT_READ if best in ranked else NOT_RANKED
            stage = READ if fates[turn] in FATES[:3] else stage
            score, rank = float(result.final[best]), place.get(best)
            spent = tokens[rank - 1] if rank else None
            above = tuple(order[: min(rank - 1, DEEP) if rank else DEEP])
            newer = sum(begun[1](node) > begun[1](best) for node in above)
            scores = score, needed, spent, newer
            stages.append(EvidenceStage(*head, stage, best, rank, *scores, above))
    return tuple(stages)


def beginnings(memory: Memory, structure: Structure) -> Callable[[int], int]:
    """Returns a function of a node: the place of its first turn in the conversation, -1 for none.

    The place of the turn does not depend on the units.
    """
    places = {turn.id: place for place, turn in enumerate(memory.conversation.turns)}

    @cache
    def begins(node: int) -> int:
        return min((places[turn] for turn in memory.turn_ids(node, structure)), default=-1)

    return begins


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


def curve_rows(stages: Sequence[EvidenceStage]) -> list[Row]:
    """Returns the share of gold turns that a larger K, or more tokens, would read.

    A row has ``read`` ("10 texts" or "600 tokens") and the ``share`` of gold turns among the best
    texts of that number. A turn counts as read if all of its text is.
    """
    whole = max(len(stages), 1)
    rows: list[Row] = []
    for k in DEPTHS:
        share = sum(one.rank is not None and one.rank <= k for one in stages) / whole
        rows.append({"read": f"{k} texts", "share": share})
    for most in TOKENS:
        share = sum(one.tokens is not None and one.tokens <= most for one in stages) / whole
        rows.append({"read": f"{most} tokens", "share": share})
    return rows


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
