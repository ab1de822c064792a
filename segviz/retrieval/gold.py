"""Finds a question's gold evidence in a structure and among the retrieved nodes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from segviz.conversation import Unit
from segviz.retrieval.result import Evidence
from segviz.text.words import quotes
from segviz.tree import Structure
from segviz.tree.structure import reachable

HIT, COVERED, MISSED, ABSENT = "hit", "covered", "missed", "not in any leaf"


@dataclass(frozen=True)
class GoldEvidence:
    """Gold turns of a question in a structure.

    Attributes:
        turns: ids of the gold turns, in the order of the question.
        leaves: the leaves that contain a gold turn, oldest first. A ghost (the leaf of a message
            that the memory does not store) is replaced by the stored texts made from it.
        by_node: maps a node to its gold turns. A leaf or stored text has the turns of its units, a
            node above them the turns that its text quotes. Nodes without gold turns are missing.
    """

    turns: tuple[str, ...]
    leaves: tuple[int, ...]
    by_node: dict[int, tuple[str, ...]]

    def fate(self, evidence: Sequence[Evidence]) -> dict[str, str]:
        """Classifies each gold turn by the retrieved nodes in ``evidence``.

        ``hit``: a retrieved leaf, or node over a single unit, contains the turn. ``covered``: only
        the text of a wider retrieved node quotes it. ``missed``: no retrieved node has it. ``not in
        any leaf``: the structure has no leaf of the turn, because the unit rule dropped it, the
        memory stored nothing of it, or it comes later in the conversation.
        """
        # A leaf or a node over a single unit shows the turn itself, a wider node a summary.
        direct = {*self.leaves}
        narrow = [e.node for e in evidence if e.span[1] - e.span[0] == 1 or e.node in direct]
        hit = {turn for node in narrow for turn in self.by_node.get(node, ())}
        covered = {turn for e in evidence for turn in self.by_node.get(e.node, ())}
        stored = {turn for leaf in self.leaves for turn in self.by_node[leaf]}
        status = {}
        for turn in self.turns:
            if turn not in stored:
                status[turn] = ABSENT
            elif turn in hit:
                status[turn] = HIT
            else:
                status[turn] = COVERED if turn in covered else MISSED
        return status


def gold_leaves(
    structure: Structure, units: Sequence[Unit], turns: Container[str]
) -> Iterator[tuple[int, int, str]]:
    """Yields the leaf, the index of the unit and the id of each of ``turns`` that is in a leaf.

    A ghost is yielded itself; ``Structure.holders`` has the stored texts made from it.
    """
    for leaf in structure.leaves:
        for index in range(int(structure.start[leaf]), int(structure.stop[leaf])):
            yield from ((leaf, index, turn) for turn in units[index].turn_ids if turn in turns)


def gold_evidence(
    structure: Structure, units: Sequence[Unit], turns: Sequence[str], contents: Mapping[str, str]
) -> GoldEvidence:
    """Finds the gold ``turns`` in a structure.

    Args:
        structure: the memory at one moment.
        units: the units of its leaves.
        turns: ids of the gold turns.
        contents: text of each gold turn by id, without ids that are no turn.

    Returns:
        The leaves that contain a gold turn, and the gold turns that each node contains or quotes.
    """
    leaves: list[int] = []
    by_node: dict[int, tuple[str, ...]] = {}
    here = gold_leaves(structure, units, set(turns)) if turns else ()
    for leaf, rows in groupby(here, key=itemgetter(0)):
        gold = tuple(turn for _, _, turn in rows)
        # A ghost's turn counts for the stored texts that were written from it.
        holders = structure.holders(leaf)
        leaves += [node for node in holders if node not in leaves]
        # Above them a turn counts only where a text quotes it.
        for node in reachable(structure.parents, holders):
            text = structure.text[node]
            there = gold if node in holders else [t for t in gold if quotes(text, contents[t])]
            if there:
                by_node[node] = by_node.get(node, ()) + tuple(there)
    return GoldEvidence(tuple(turns), tuple(leaves), by_node)
