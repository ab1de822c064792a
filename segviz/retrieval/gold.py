"""Finds a question's gold evidence in a structure and among the retrieved nodes."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

from segviz.conversation import Unit
from segviz.retrieval.result import Evidence
from segviz.retrieval.selection import cut, estimated_tokens
from segviz.text.answers import Part, parts_given, stated, stated_words
from segviz.text.words import quotes
from segviz.tree import Structure
from segviz.tree.structure import reachable

FOUND, QUOTED, ANSWERED, MISSED, ABSENT, LATER = FATES = (
    "found",
    "quoted",
    "answered",
    "missed",
    "not in any leaf",
    "not in memory yet",
)
"""Fates of a gold turn; the first three are *in evidence*."""


@dataclass(frozen=True)
class GoldEvidence:
    """Gold turns of a question in a structure.

    Attributes:
        turns: ids of the gold turns, in the order of the question.
        leaves: the leaves that contain a gold turn, oldest first. A ghost (the leaf of a message
            that the memory does not store) is replaced by the stored texts made from it.
        by_node: maps a node to its gold turns. A leaf or stored text has the turns of its units, a
            node above them the turns that its text quotes or answers: it states the parts of the
            gold answer that the turn gives (``parts_given``). Nodes without gold turns are missing.
        answers: maps a node to those of its gold turns that it does not quote.
        contents: text of each gold turn by id.
        given: the parts of the gold answer that each gold turn gives, by id; empty without one.
        later: gold turns that come after the structure's last unit.
    """

    turns: tuple[str, ...]
    leaves: tuple[int, ...]
    by_node: dict[int, tuple[str, ...]]
    answers: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    contents: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    later: frozenset[str] = frozenset()

    def fate(self, evidence: Sequence[Evidence]) -> dict[str, str]:
        """Classifies each gold turn by the retrieved nodes in ``evidence``.

        ``found``: a retrieved leaf, or node over a single unit, has the turn. ``quoted``: only the
        text of a wider retrieved node quotes it. ``answered``: the text of a retrieved node above
        it states the data set's answer or, if that is a list, the parts that the turn gives.
        ``missed``: no retrieved node has it. ``not in any leaf``: the structure has no leaf of the
        turn, because the unit rule dropped it or the memory stored nothing of it. ``not in memory
        yet``: the turn comes later.
        """
        fates: dict[str, set[str]] = defaultdict(set)
        for each in evidence:
            # A leaf or a node over a single unit shows the turn itself, a wider node a summary.
            narrow = each.span[1] - each.span[0] == 1 or each.node in self.leaves
            for turn in self.by_node.get(each.node, ()):
                quoted, answered = self.quoted(each.node, turn), True
                if each.cut:  # only what is read counts
                    quoted = quotes(each.text, self.contents[turn])
                    answered = self._answered_by(each.node, turn, each.text)
                if quoted:
                    fates[turn].add(FOUND if narrow else QUOTED)
                elif answered:
                    fates[turn].add(ANSWERED)
        stored = {turn for leaf in self.leaves for turn in self.by_node[leaf]}
        return {
            turn: next((fate for fate in FATES if fate in fates[turn]), MISSED)
            if turn in stored
            else (LATER if turn in self.later else ABSENT)
            for turn in self.turns
        }

    def quoted(self, node: int, turn: str) -> bool:
        """Returns True unless a node of ``by_node`` has a turn only by stating the answer."""
        return turn not in self.answers.get(node, ())

    def needed(self, node: int, text: str) -> dict[str, tuple[int, int]]:
        """Returns how many tokens of a node's ``text`` must be read for each of its gold turns.

        The first number is that of tokens that quote the turn, the second that of tokens that
        answer it; one more than the text has if all of it does not.
        """
        tokens = range(1, estimated_tokens(text) + 1)

        def first(has: Callable[[str], bool]) -> int:
            return 1 + bisect_left(tokens, True, key=lambda read: has(cut(text, read)))

        return {
            turn: (
                first(partial(quotes, quoted=self.contents[turn])),
                first(partial(self._answered_by, node, turn)),
            )
            for turn in self.by_node.get(node, ())
        }

    def _answered_by(self, node: int, turn: str, part: str) -> bool:
        """Returns True if ``part``, the beginning of a text, states what a gold turn answers.

        A leaf has its own turns and answers no other.
        """
        given = () if node in self.leaves else self.given.get(turn, ())
        return bool(given) and stated(stated_words(part), given)


def gold_leaves(
    structure: Structure, units: Sequence[Unit], turns: Container[str]
) -> Iterator[tuple[int, int, str]]:
    """Yields leaf, or ghost, index of the unit and id of each of ``turns`` that is in a leaf."""
    for leaf in structure.leaves:
        for index in range(int(structure.start[leaf]), int(structure.stop[leaf])):
            yield from ((leaf, index, turn) for turn in units[index].turn_ids if turn in turns)


def gold_evidence(
    structure: Structure,
    units: Sequence[Unit],
    turns: Sequence[str],
    contents: Mapping[str, str],
    answer: str | None = None,
) -> GoldEvidence:
    """Finds the gold ``turns`` in a structure.

    Args:
        structure: the memory at one moment.
        units: the units of its leaves.
        turns: ids of the gold turns.
        contents: text of each gold turn by id, without ids that are no turn.
        answer: the data set's answer, if it has one.

    Returns:
        The leaves that contain a gold turn, and the gold turns that each node contains, quotes or
        answers.
    """
    leaves: list[int] = []
    by_node: dict[int, tuple[str, ...]] = {}
    answers: dict[int, tuple[str, ...]] = {}
    given = dict(zip(contents, parts_given(answer or "", [*contents.values()]), strict=True))
    words_of = cache(lambda node: stated_words(structure.text[node]))
    here = gold_leaves(structure, units, set(turns)) if turns else ()
    for leaf, _, turn in here:
        # The leaf has the turn, and so have the stored texts that were written from it.
        holders = structure.holders(leaf, turn)
        leaves += [node for node in holders if node not in leaves]
        # Above them a turn counts only where a text quotes it or states its part of the answer.
        for node in reachable(structure.parents, holders):
            if node not in holders and not quotes(structure.text[node], contents[turn]):
                if not (given[turn] and stated(words_of(node), given[turn])):
                    continue
                answers[node] = (*answers.get(node, ()), turn)
            if turn not in (had := by_node.get(node, ())):  # leaves may overlap
                by_node[node] = (*had, turn)
    known = int(structure.stop.max(initial=0))
    later = {turn for unit in units[known:] for turn in unit.turn_ids} if turns else set()
    return GoldEvidence(
        tuple(turns),
        tuple(leaves),
        by_node,
        answers,
        contents,
        given,
        frozenset(later.intersection(turns)),
    )
