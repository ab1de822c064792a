"""Finds a question's gold evidence in a structure and in what was retrieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
        turns: their ids, in the order of the question.
        leaves: the leaves that contain one, oldest first, or in place of a ghost the memories made
            from it.
        held: the gold turns of each node: those of the units of a leaf or of such a memory, and
            those that the text of a node above quotes. Being an ancestor alone does not count.
    """

    turns: tuple[str, ...]
    leaves: tuple[int, ...]
    held: dict[int, tuple[str, ...]]

    def fate(self, evidence: Sequence[Evidence]) -> dict[str, str]:
        """Returns what became of each gold turn in the retrieved ``evidence``.

        ``hit``: a retrieved leaf, or a node over a single unit, holds it; ``covered``: only a
        wider node does, whose text quotes it; ``missed``: none does; ``not in any leaf``: the
        unit rule dropped the turn, nothing was written of it, or it has not arrived yet.
        """
        # Only a leaf or a node over a single unit shows the turn itself; a wider one a summary.
        direct = {*self.leaves}
        narrow = [e.node for e in evidence if e.span[1] - e.span[0] == 1 or e.node in direct]
        hit = {turn for node in narrow for turn in self.held.get(node, ())}
        covered = {turn for e in evidence for turn in self.held.get(e.node, ())}
        kept = {turn for leaf in self.leaves for turn in self.held[leaf]}
        status = {}
        for turn in self.turns:
            if turn not in kept:
                status[turn] = ABSENT
            elif turn in hit:
                status[turn] = HIT
            else:
                status[turn] = COVERED if turn in covered else MISSED
        return status


def gold_evidence(
    structure: Structure, units: Sequence[Unit], turns: Sequence[str], contents: Mapping[str, str]
) -> GoldEvidence:
    """Finds the gold ``turns`` in a structure.

    Args:
        structure: whose nodes may hold them.
        units: the units of its leaves.
        turns: ids of the gold turns.
        contents: what each of them says, by id; ids that are no turn are left out.

    Returns:
        The leaves that hold a turn, and the turns that each node holds or quotes.
    """
    wanted = set(turns)
    leaves: list[int] = []
    held: dict[int, tuple[str, ...]] = {}
    for leaf in structure.leaves if wanted else ():
        # Ancestors count where their text quotes the turn.
        span = range(int(structure.start[leaf]), int(structure.stop[leaf]))
        found = tuple(t for index in span for t in units[index].turn_ids if t in wanted)
        if not found:
            continue
        holders = structure.holders(leaf)
        leaves += [node for node in holders if node not in leaves]
        for node in reachable(structure.parents, holders):
            text = structure.text[node]
            told = found if node in holders else [t for t in found if quotes(text, contents[t])]
            if told:
                held[node] = held.get(node, ()) + tuple(told)
    return GoldEvidence(tuple(turns), tuple(leaves), held)
