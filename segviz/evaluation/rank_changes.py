"""Compares two rankings of the same questions node by node: two settings, or two memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segviz.conversation import Question
from segviz.evaluation.evaluation import ranked
from segviz.evaluation.question_batch import Limits, batches
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings
from segviz.tree import Structure

Turns = tuple[tuple[int, ...], tuple[int, ...]]
"""Numbers of the gold turns that a text has, quotes or answers, and of those it only answers."""


@dataclass(frozen=True, slots=True, eq=False)
class QuestionRanks:
    """Ranking of one question.

    Attributes:
        structure: the memory at the time of the question, n nodes.
        rank: 1-based rank of each node, int32 (n + 1,), 0 for none. The last is padding.
        read: ids of the read nodes, best first.
        gold: the gold turns that a node has, quotes or answers, as numbers from 0. The keys are the
            read nodes with any, and all gold leaves.
        answers: those of them for which the node only states the answer.
        narrow: the keys of ``gold`` that have turns themselves.
        cut: the node whose text a token budget cuts, with its turns and answers as they are read.
    """

    structure: Structure
    rank: NDArray[np.int32]
    read: tuple[int, ...]
    gold: Mapping[int, tuple[int, ...]]
    answers: Mapping[int, tuple[int, ...]]
    narrow: frozenset[int]
    cut: tuple[int, tuple[int, ...], tuple[int, ...]] | None = None

    def cut_gold(self, node: int) -> Turns | None:
        """Returns the turns and answers of a node as they are read, None if its text is not cut."""
        return self.cut[1:] if self.cut and self.cut[0] == node else None


@dataclass(frozen=True, slots=True)
class RankChange:
    """Ranks of one node before and after.

    ``nodes`` are its ids before and after, -1 if that memory lacks it; ``ranks`` its 1-based
    ranks, 0 for none; ``read`` is True where it is read. ``gold`` has the numbers of the gold turns
    that it has (if it is ``narrow``), quotes or answers, ``answers`` those that it only answers.
    ``cut`` has both as they are read before and after, where a token budget cuts its text.
    """

    nodes: tuple[int, int]
    ranks: tuple[int, int]
    read: tuple[bool, bool]
    gold: tuple[int, ...]
    answers: tuple[int, ...]
    narrow: bool
    cut: tuple[Turns | None, Turns | None] = (None, None)


def question_ranks(
    memory: Memory, questions: Sequence[Question], settings: RetrievalSettings
) -> list[QuestionRanks]:
    """Ranks all nodes for each question, as ``evaluate`` does.

    Takes O(q · n) memory for q questions and n nodes.
    """
    settings = settings.resolved(memory.model)
    rankings: dict[int, QuestionRanks] = {}
    for batch in batches(memory, questions, Limits(settings)):
        order, n = ranked(memory, batch, settings), len(batch.structure)
        rank, places = np.zeros((len(order), n + 1), dtype=np.int32), batch.admitted(order)
        np.put_along_axis(rank, places, np.arange(1, order.shape[1] + 1)[None], axis=1)
        rank[:, -1] = 0
        cuts = batch.gold_of_cuts(order)
        for row, (place, top) in enumerate(zip(batch.places, batch.tops(order), strict=True)):
            read = tuple(node for node in top.tolist() if node < n)
            rankings[place] = QuestionRanks(
                batch.structure, rank[row], read, *batch.gold_of(row, read), cuts.get(row)
            )
    return [rankings[place] for place in range(len(questions))]


def rank_changes(
    before: Sequence[QuestionRanks], after: Sequence[QuestionRanks]
) -> list[tuple[RankChange, ...]]:
    """Returns, for each question, the nodes that are read before or after, and all gold leaves.

    Nodes of two memories are the same if they have the same span and text.
    """
    twins: dict[tuple[int, int], tuple[dict[int, int], dict[int, int]]] = {}
    changes = []
    # Both lists of pairs (node before, node after) may have a node; a pair counts once.
    for one, two in zip(before, after, strict=True):
        pair = id(one.structure), id(two.structure)
        if pair not in twins:
            twins[pair] = _twins(one.structure, two.structure)
        new_of, old_of = twins[pair]
        nodes = dict.fromkeys([(old_of.get(node, -1), node) for node in (*two.read, *two.gold)])
        nodes |= dict.fromkeys([(node, new_of.get(node, -1)) for node in (*one.read, *one.gold)])
        changes.append(tuple(_change(one, two, old, new) for old, new in nodes))
    return changes


def _twins(before: Structure, after: Structure) -> tuple[dict[int, int], dict[int, int]]:
    """Maps the nodes that are in both structures to each other: old to new, and new to old."""
    if before is after:
        same = {node: node for node in range(len(before))}
        return same, same

    def keys(structure: Structure) -> dict[tuple[int, int, str], int]:
        nodes = np.flatnonzero(structure.retrievable).tolist()
        start, stop, text = structure.start.tolist(), structure.stop.tolist(), structure.text
        return {(start[node], stop[node], text[node]): node for node in nodes}

    known = keys(after)
    new = {node: known[key] for key, node in keys(before).items() if key in known}
    return new, {there: node for node, there in new.items()}


def _change(before: QuestionRanks, after: QuestionRanks, old: int, new: int) -> RankChange:
    """Returns how the node ``old`` of one memory, ``new`` in the other, changed its rank."""
    return RankChange(
        nodes=(old, new),
        ranks=(int(before.rank[old]), int(after.rank[new])),
        read=(old in before.read, new in after.read),
        gold=before.gold.get(old) or after.gold.get(new, ()),
        answers=before.answers.get(old) or after.answers.get(new, ()),
        narrow=old in before.narrow or new in after.narrow,
        cut=(before.cut_gold(old), after.cut_gold(new)),
    )
