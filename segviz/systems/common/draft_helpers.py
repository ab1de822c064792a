"""What systems that write through a draft share: leaves by unit and by words, a step's cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from segviz.construct.tasks.words import content
from segviz.systems.common.draft import Draft
from segviz.tree import Cost, Event


def leaf_of(unit: int, draft: Draft) -> int:
    """The level-0 node that holds a unit; ValueError where there is none (any more)."""
    leaves = (n for n in range(len(draft)) if draft.active[n] and draft.level[n] == 0)
    for leaf in leaves:
        if draft.span[leaf][0] == unit:
            return leaf
    raise ValueError(f"unit {unit} is not in this memory; give the index of one that is")


def sources(text: str, leaves: Sequence[int], draft: Draft) -> list[int]:
    """Those of these leaves that share most words with a text; all that tie."""
    shared = [len(content(text) & content(draft.text[leaf])) for leaf in leaves]
    return [leaf for leaf, words in zip(leaves, shared, strict=True) if words == max(shared)]


def cost_of(events: Iterable[Event], written: int, inspected: int) -> Cost:
    """What a step took: texts written, candidates compared, and the nodes its events name."""
    touched = {getattr(event, "node", None) for event in events} - {None}
    return Cost(annotated=written, inspected=inspected, modified=len(touched))
