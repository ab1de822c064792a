"""Finds a question's gold evidence in a structure and in what was retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from segviz.conversation import Unit
from segviz.retrieval.result import Evidence
from segviz.tree import Structure
from segviz.tree.structure import reachable

HIT, COVERED, MISSED, ABSENT = "hit", "covered", "missed", "not in any leaf"


@dataclass(frozen=True)
class GoldEvidence:
    """Gold turns of a question in a structure.

    ``turns`` are their ids in the order of the question; ``leaves`` the leaves that hold one,
    oldest first; ``held`` the gold turns at or below each node that has any.
    """

    turns: tuple[str, ...]
    leaves: tuple[int, ...]
    held: dict[int, tuple[str, ...]]

    def fate(self, evidence: Sequence[Evidence]) -> dict[str, str]:
        """The status of each gold turn in the retrieved ``evidence``.

        ``hit``: a retrieved node covers a single unit holding it; ``covered``: only a wider
        node does (its text may or may not keep the fact); ``missed``: none does; ``not in
        any leaf``: the unit rule dropped the turn, or it has not arrived yet.
        """
        narrow = {t for e in evidence if e.span[1] - e.span[0] == 1 for t in e.turn_ids}
        wide = {t for e in evidence for t in e.turn_ids}
        kept = {turn for leaf in self.leaves for turn in self.held[leaf]}
        status = {}
        for turn in self.turns:
            if turn not in kept:
                status[turn] = ABSENT
            elif turn in narrow:
                status[turn] = HIT
            else:
                status[turn] = COVERED if turn in wide else MISSED
        return status


def gold_evidence(
    structure: Structure, units: Sequence[Unit], turns: Sequence[str]
) -> GoldEvidence:
    """Find the gold ``turns`` (ids) in ``structure`` over ``units``."""
    wanted = set(turns)
    leaves: list[int] = []
    held: dict[int, tuple[str, ...]] = {}
    for leaf in structure.leaves if wanted else ():
        span = range(int(structure.start[leaf]), int(structure.stop[leaf]))
        found = tuple(t for index in span for t in units[index].turn_ids if t in wanted)
        if not found:
            continue
        leaves.append(leaf)
        # The leaf and every node above it, along all parents, hold the leaf's gold turns.
        for node in reachable(structure.parents, [leaf]):
            held[node] = held.get(node, ()) + found
    return GoldEvidence(tuple(turns), tuple(leaves), held)
