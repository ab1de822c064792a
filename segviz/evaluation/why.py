"""Explains why one retrieval finds a gold turn that another misses.

Functions here return the best-ranked node with that turn in each retrieval, and the words of the
question on which the rank of a node depends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from segviz.retrieval import Result, ranking, ranks
from segviz.retrieval.gold import GoldEvidence
from segviz.text.words import content_tokens

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Holder:
    """Best-ranked node of one result that has a given gold turn.

    Attributes:
        node: id of the node, None if no node has the turn.
        rank: 1-based rank, 0 if a native retrieval did not return the node.
        units: number of units that a reader reads before the node.
    """

    node: int | None
    rank: int
    units: float


def rank_of(result: Result, node: int) -> int:
    """Returns the 1-based rank of a node among all ranked nodes.

    Under a native retrieval it is the rank among the returned nodes, 0 for any other node.
    """
    if result.native:
        return result.after.index(node) + 1 if node in result.after else 0
    return ranks([node], result.final, result.structure, result.settings.levels)[0]


def ahead(result: Result, node: int) -> tuple[list[int], int]:
    """Returns the nodes ranked before ``node``, widest first, and how many units they cover."""
    asked, structure = result.settings, result.structure
    whole = (
        result.after if result.native else ranking(result.final, structure, asked.levels).tolist()
    )
    before = list(whole[: whole.index(node)] if node in whole else whole)
    units = {each: set(structure.coverage(each)) for each in before}
    return sorted(before, key=lambda each: -len(units[each])), len(set().union(*units.values()))


def deciding_turn(
    results: Sequence[Result], golds: Sequence[GoldEvidence]
) -> tuple[str, list[Holder]] | None:
    """Finds the gold turn that one result reads much earlier than another, for one question.

    Returns the turn and, for each result, the best-ranked node with it; None for a question without
    gold turns. The turn is the one for which 1 / (1 + units read before the node) differs most
    between two results, so that late ranks count little. This number is 0 without such a node. Of
    equal turns the first is returned.
    """

    def holder(result: Result, gold: GoldEvidence, turn: str) -> Holder:
        """Returns the node of a result that has the turn and ranks best."""
        nodes = [node for node, turns in gold.by_node.items() if turn in turns]
        if not nodes:
            return Holder(None, rank=0, units=math.inf)
        # Rank 0, not returned, comes after all ranks.
        node = min(nodes, key=lambda one: rank_of(result, one) or len(result.structure) + 1)
        _, units = ahead(result, node)
        return Holder(node, rank_of(result, node), units)

    def gap(holders: Sequence[Holder]) -> float:
        early = [1 / (1 + one.units) for one in holders]
        return max(early) - min(early)

    turns = dict.fromkeys(turn for gold in golds for turn in gold.turns)
    holders = [
        (turn, [holder(*pair, turn) for pair in zip(results, golds, strict=True)]) for turn in turns
    ]
    return max(holders, key=lambda one: gap(one[1]), default=None)


def ranks_without_words(ask: Callable[[str], Result], question: str, node: int) -> dict[str, int]:
    """Returns how the rank of a node changes when each content word is removed from the question.

    ``ask`` retrieves for a text. Words whose removal does not change the rank are left out; rank 0
    means that the node is not returned. The largest ratio of ranks comes first.
    """
    whole, words = ask(question), dict.fromkeys(map(str.lower, _WORD.findall(question)))
    before, last = rank_of(whole, node), len(whole.structure) + 1
    moved: dict[str, int] = {}
    for word in words.keys() & content_tokens(question):
        rest = re.sub(rf"\b{re.escape(word)}\b", " ", question, flags=re.IGNORECASE)
        if _WORD.search(rest):
            moved[word] = rank_of(ask(rest), node)

    def move(word: str) -> tuple[float, str]:
        return -abs(math.log((moved[word] or last) / (before or last))), word

    return {word: moved[word] for word in sorted(moved, key=move) if moved[word] != before}
