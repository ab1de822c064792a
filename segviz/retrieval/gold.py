"""Assembly: what became of a question's gold evidence."""

from __future__ import annotations

from collections.abc import Sequence

from segviz.retrieval.result import Evidence

HIT, COVERED, MISSED, ABSENT = "hit", "covered", "missed", "not in any leaf"


def gold_status(
    evidence: Sequence[Evidence], gold: Sequence[str], held: Sequence[str]
) -> dict[str, str]:
    """For each gold turn: was it retrieved?

    ``hit``: a retrieved node covers a single unit holding it; ``covered``: only a wider
    node does (its summary may or may not keep the fact); ``missed``: none does;
    ``not in any leaf``: the unit rule dropped the turn (``held`` lists all turns kept).
    """
    narrow = {t for e in evidence if e.span[1] - e.span[0] == 1 for t in e.turn_ids}
    wide = {t for e in evidence for t in e.turn_ids}
    kept = set(held)
    status = {}
    for turn in gold:
        if turn not in kept:
            status[turn] = ABSENT
        elif turn in narrow:
            status[turn] = HIT
        else:
            status[turn] = COVERED if turn in wide else MISSED
    return status
