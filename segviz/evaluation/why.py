"""Explains why one retrieval finds a gold turn that another misses: the node that decides in each,
and the words of the question that give it its rank."""

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
    """The best-ranked ``node`` of one result that holds a gold turn, None where none does. Its
    ``rank`` is 1-based, 0 for a node that a system's own retrieval did not return; ``units`` are
    read before it."""

    node: int | None
    rank: int
    units: float


def rank_of(result: Result, node: int) -> int:
    """Returns the 1-based rank of a node among all that compete; under a system's own retrieval
    its place in what was returned, 0 where it is not there."""
    if result.own:
        return result.after.index(node) + 1 if node in result.after else 0
    return ranks([node], result.final, result.structure, result.settings.levels)[0]


def ahead(result: Result, node: int) -> tuple[list[int], int]:
    """Returns the nodes that rank before this one, those over most units first, and over how many
    units they lie together: so many are read until it is its turn."""
    asked, structure = result.settings, result.structure
    whole = result.after if result.own else ranking(result.final, structure, asked.levels).tolist()
    before = list(whole[: whole.index(node)] if node in whole else whole)
    units = {each: set(structure.coverage(each)) for each in before}
    return sorted(before, key=lambda each: -len(units[each])), len(set().union(*units.values()))


def deciding_turn(
    results: Sequence[Result], golds: Sequence[GoldEvidence]
) -> tuple[str, list[Holder]] | None:
    """Finds the gold turn that one result reads much earlier than another, for one question.

    Args:
        results: what each memory retrieves for the question.
        golds: where the gold turns of the question lie in each of these structures.

    Returns:
        The turn and, for each result, the best-ranked node that holds it. Turns are compared by
        1 / (1 + units read before the node), so that places far behind count little; 0 where no
        node holds it. The earlier turn where several differ alike. None for a question without
        gold turns.
    """

    def holder(result: Result, gold: GoldEvidence, turn: str) -> Holder:
        nodes = [node for node, held in gold.held.items() if turn in held]
        if not nodes:
            return Holder(None, 0, math.inf)
        node = min(nodes, key=lambda one: rank_of(result, one) or len(result.structure) + 1)
        return Holder(node, rank_of(result, node), ahead(result, node)[1])

    def gap(holders: Sequence[Holder]) -> float:
        early = [1 / (1 + one.units) for one in holders]
        return max(early) - min(early)

    turns = dict.fromkeys(turn for gold in golds for turn in gold.turns)
    found = [
        (turn, [holder(*pair, turn) for pair in zip(results, golds, strict=True)]) for turn in turns
    ]
    return max(found, key=lambda one: gap(one[1]), default=None)


def ranks_without_words(ask: Callable[[str], Result], question: str, node: int) -> dict[str, int]:
    """Asks again without each content word of the question, in any relevance and any system.

    Args:
        ask: retrieves for a text.
        question: the whole question.
        node: the node whose rank is looked up.

    Returns:
        The rank of the node without each word that moves it, those first that move it most, by the
        ratio of ranks; 0 where the node is then not returned.
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
