"""SegTreeMem: a temporal segment tree, grown online (arXiv 2606.04555, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import ClassVar

import numpy as np

from segviz.construct import Annotate, Arrival, Compatibility, Declared, Services, param
from segviz.construct.compatibility import Calibrated
from segviz.retrieval import PRESETS, RetrievalSettings
from segviz.systems.common.annotation import annotator, prepared
from segviz.systems.common.published import Paper, departures_of, paper
from segviz.systems.common.structure_editor import Draft
from segviz.systems.segment_tree.builder import SegmentTreeBuilder
from segviz.tree import Event, Step, Structure
from segviz.tree.invariants import (
    Invariant,
    children_are_consecutive,
    frontier_is_a_chain,
    leaves_are_chronological,
    levels_are_even,
    one_parent,
    one_root,
)


@dataclass(frozen=True)
class SegmentTree(Declared):
    """Every node covers a contiguous span of the conversation; new units join on the right.

    A new unit becomes the rightmost leaf. The compatibility model sees the non-leaf frontier: the
    nodes that end at the newest unit, from low to high. It picks the node the unit joins; a chain
    of nodes keeps all leaves on one level. If it picks none, the tree gets a new root over the old
    one. Only the chain, the chosen node and its ancestors are annotated again, bottom up. This
    happens at once (``eager``, Algorithm 1), or once per session for all changed nodes (``lazy``);
    until then decisions see the previous text. With ``joined`` the chosen node is annotated at
    once, and an ancestor when no unit can join below it any more, at the latest with the last unit.
    That writes about one text a leaf, as in Table 5.

    Source: SegTreeMem, arXiv 2606.04555, §4.1, §4.2 and Algorithm 1. Departs from the source as
        listed in ``departures``.
    """

    name: ClassVar[str] = "segment-tree"
    label: ClassVar[str] = "Segment tree (SegTreeMem)"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (
        one_parent,
        one_root,
        levels_are_even,
        leaves_are_chronological,
        children_are_consecutive,
        frontier_is_a_chain,
    )
    fidelity: ClassVar[str] = "faithful"
    published: ClassVar[Paper] = paper("segviz.systems.segment_tree")
    departures: ClassVar[tuple[str, ...]] = departures_of(__package__, "segment-tree")
    paper_retrieval: ClassVar[RetrievalSettings] = PRESETS["paper, top-down"]

    compatibility: Compatibility = param(
        help="Chooses where a new unit joins.",
        registry="compatibility",
        factory=Calibrated,
        source="SegTreeMem §4.2; the offline default is ours",
    )
    annotate: Annotate = annotator("Writes the text of inner nodes.", "SegTreeMem §4.1")
    refresh: str = param(
        "eager",
        "When annotations are rewritten: at every step, once per session, or the joined node's "
        "at every step and its ancestors' once settled.",
        choices=("eager", "lazy", "joined"),
        source="SegTreeMem §4.1, every step; Table 5's calls, joined; per session is ours",
    )

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """Yields one Step per unit, lazily; the tree exists only inside this generator."""
        model = prepared(self.compatibility, services)
        annotate = prepared(self.annotate, services)
        tree = SegmentTreeBuilder(annotate, services.embedder, self.refresh)
        for arrival, after in zip_longest(arrivals, arrivals[1:]):
            ends = self.refresh == "lazy" and after and after.session != arrival.session
            yield tree.insert(arrival, model, settles=after is None or bool(ends))

    def pending(self, structure: Structure, steps: Sequence[Step]) -> tuple[int, ...]:
        """Returns the nodes of a segment tree whose text is out of date after ``steps``.

        With ``lazy`` these are the inner nodes with units of the newest session, with ``joined``
        the ancestors of the node that was joined last.
        """
        if self.refresh == "eager" or not steps:
            return ()
        if self.refresh == "joined":
            decision = steps[-1].decision
            if decision is None or decision.chosen is None:
                return ()
            # Ancestors of the newest unit, on levels above the joined node.
            on_path = structure.stop == structure.stop.max()
            above = structure.level > structure.level[decision.chosen]
            return tuple(np.flatnonzero(structure.active & on_path & above).tolist())
        session = steps[-1].unit.session
        of_session = takewhile(lambda step: step.unit.session == session, reversed(steps))
        first_unit = min(step.unit.index for step in of_session)
        outdated = structure.active & (structure.level > 0) & (structure.stop > first_unit)
        return tuple(np.flatnonzero(outdated).tolist())

    def settle(
        self, structure: Structure, steps: Sequence[Step], services: Services
    ) -> tuple[Event, ...]:
        """Returns the events that rewrite the pending nodes, bottom up."""
        pending = self.pending(structure, steps)
        draft = Draft(services.embedder, structure, (step.unit for step in steps))
        if pending:
            draft.write(pending, prepared(self.annotate, services))
        return draft.changes()
