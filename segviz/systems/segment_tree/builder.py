"""Builds the segment tree online: Algorithm 1 for one unit at a time.

The builder stores only the input of the next insertion: the frontier, the texts of its nodes'
children and, unless refresh is eager, the nodes whose text is out of date. The cost of an insertion
does not depend on the length of the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise, takewhile
from operator import attrgetter

from segviz.construct import Annotate, Arrival, Candidate, Compatibility
from segviz.construct.annotate import Annotation
from segviz.construct.compatibility import judge
from segviz.embedding import Embedder
from segviz.systems.common.annotation import write
from segviz.text.dates import undated
from segviz.tree import Add, Cost, Decision, Event, Link, Revise, Span, Step, Vector


@dataclass(slots=True, eq=False)
class Open:
    """Node of a segment tree under construction.

    ``children`` is emptied once the text of the node cannot change any more. ``place`` is the
    vector by which new units are compared with the node: that of a text of the usual length
    without added dates.
    """

    node: int
    level: int
    start: int
    stop: int
    annotation: Annotation
    vector: Vector
    place: Vector
    children: list[Open] = field(default_factory=list)
    dirty: bool = False

    @property
    def span(self) -> Span:
        """Half-open range of the units below this node."""
        return self.start, self.stop

    @property
    def text(self) -> str:
        """Text of this node."""
        return self.annotation.text

    def added(self) -> Add:
        """Returns the event that adds this node."""
        facts = self.annotation.facts
        return Add(self.node, self.level, self.span, self.text, self.vector, facts=facts)

    def revised(self) -> Revise:
        """Returns the event that revises this node."""
        facts = self.annotation.facts or None
        return Revise(self.node, self.span, self.text, self.vector, facts=facts)


class SegmentTreeBuilder:
    """Builder of a segment tree; ``insert`` is Algorithm 1."""

    def __init__(self, annotate: Annotate, embedder: Embedder, refresh: str) -> None:
        """Starts an empty tree; ``refresh`` says when texts are written, as in ``SegmentTree``."""
        self._annotate = annotate
        self._embedder = embedder
        self._refreshes = refresh
        self._size = 0
        self._frontier: list[Open] = []  # from the newest leaf (level 0) up to the root
        self._dirty: list[Open] = []

    def insert(self, arrival: Arrival, model: Compatibility, settles: bool) -> Step:
        """Adds one unit (Algorithm 1).

        Args:
            arrival: the unit x with its embedding.
            model: the compatibility model C.
            settles: True if all postponed texts are written in this step.

        Returns:
            The step with the events, the decision and its cost.
        """
        if not self._frontier:  # lines 4-6: the empty tree
            leaf = self._open(0, arrival)
            self._frontier = [leaf]
            note = f"Unit {arrival.index} is the first leaf."
            return Step(arrival.unit, note, None, (leaf.added(),), Cost(modified=1))
        # Lines 7-8: C sees the frontier without its leaf f₁, from low to high.
        inner = self._frontier[1:]
        seen = [
            Candidate(each.node, each.level, each.span, each.text, each.place, len(each.children))
            for each in inner
        ]
        verdict = judge(model, arrival, seen)
        height = len(self._frontier)
        joins = height if verdict.chosen is None else inner[verdict.chosen].level

        # Lines 3 and 10 (or 15): the leaf z and the chain Z above it, up to below the joined node.
        chain = self._chain(arrival, joins)
        events: list[Event] = [node.added() for node in chain]
        events += [Link(upper.node, lower.node) for lower, upper in pairwise(chain)]
        fresh_root: Open | None = None
        if verdict.chosen is None:
            # Line 14: a new root over the old one, with the old root's text until it is annotated.
            old = self._frontier[-1]
            fresh_root = Open(
                self._size, height, *old.span, old.annotation, old.vector, old.place, [old]
            )
            self._size += 1
            upper, closed = [fresh_root], self._frontier
        else:
            upper, closed = self._frontier[joins:], self._frontier[:joins]
        upper[0].children.append(chain[-1])  # line 11 (or 16)
        # Lines 12 and 17: U without Z, which needs no update: a chain copies its leaf's text.
        stop = arrival.index + 1
        for node in upper:
            node.stop = stop  # line 20: the unit is the newest, so every interval ends at it
        changed, written = self._rewrite(upper, closed, settles)

        # Events follow the annotation, so that each node appears with its final text.
        if fresh_root is not None:
            events += [fresh_root.added(), Link(fresh_root.node, fresh_root.children[0].node)]
        events.append(Link(upper[0].node, chain[-1].node))
        events += [node.revised() for node in changed if node is not fresh_root]
        self._frontier = chain + upper  # equation 2: the nodes that end at the newest unit
        for node in closed:
            if not node.dirty and node not in self._frontier:
                node.children = []  # final: no later text reads them

        chosen = None if fresh_root else upper[0].node
        decision = Decision(verdict.judgements, chosen, verdict.why)
        cost = Cost(
            annotated=written,
            inspected=sum(judgement.judged for judgement in verdict.judgements),
            modified=len(chain) + len(changed),
        )
        note = _note(arrival, upper[0], len(chain) - 1, fresh_root is not None)
        return Step(arrival.unit, note, decision, tuple(events), cost)

    def _open(self, level: int, arrival: Arrival) -> Open:
        index = arrival.index
        text = Annotation(arrival.text, days=arrival.days)
        node = Open(self._size, level, index, index + 1, text, arrival.vector, arrival.vector)
        self._size += 1
        return node

    def _chain(self, arrival: Arrival, joins: int) -> list[Open]:
        """Returns the new leaf and the unary nodes above it, up to just below level ``joins``."""
        chain = [self._open(0, arrival)]
        for level in range(1, joins):
            link = self._open(level, arrival)
            link.children.append(chain[-1])
            chain.append(link)
        return chain

    def _rewrite(
        self, upper: list[Open], closed: list[Open], settles: bool
    ) -> tuple[list[Open], int]:
        """Annotates the nodes whose children changed, now or later, as ``refresh`` says.

        Args:
            upper: the joined node or the new root, and its ancestors, from low to high.
            closed: nodes that left the frontier with this unit.
            settles: True if this unit ends its session, so that postponed texts are written.

        Returns:
            The nodes to revise, and the number of texts that were written.
        """
        if self._refreshes == "eager":
            return upper, self._refresh(upper)
        if self._refreshes == "joined":
            # The joined node now, an ancestor once no unit can join below it. Nodes that only carry
            # the joined node's text go along: that takes no model.
            now = [upper[0], *takewhile(lambda node: len(node.children) == 1, upper[1:])]
            late = upper[len(now) :]
            for node in late:
                node.dirty = not settles
            settled = [node for node in closed if node.dirty]
            for node in (*settled, *now):
                node.dirty = False
            written = self._refresh([*settled, *now, *(late if settles else ())])
            return [*settled, *upper], written
        # Lazy: nodes are only marked, and all written when the session ends.
        for node in upper:
            if not node.dirty:
                node.dirty = True
                self._dirty.append(node)
        if not settles:
            return upper, 0
        stale = sorted(self._dirty, key=attrgetter("level", "node"))
        self._dirty = []
        written = self._refresh(stale)
        for node in stale:
            node.dirty = False
            if node not in upper:
                node.children = []  # no longer on the frontier, so it will not change again
        return stale, written

    def _refresh(self, nodes: Sequence[Open]) -> int:
        """Annotates nodes, low to high (lines 19 to 22); returns the number of texts written."""
        count = 0
        renewed: list[Open] = []
        for _, level in groupby(nodes, attrgetter("level")):
            row = list(level)
            groups = [[child.annotation for child in node.children] for node in row]
            for node, annotation in zip(row, write(self._annotate, groups), strict=True):
                before, after = node.annotation, annotation
                # An unchanged text keeps its embedding.
                if (before.text, before.place) != (after.text, after.place):
                    renewed.append(node)
                node.annotation = annotation  # also one of equal text, but of another origin
            count += sum(len(group) > 1 for group in groups)
        if renewed:
            places = [undated(node.annotation.place or node.text) for node in renewed]
            shown = [undated(node.text) for node in renewed]
            texts = list(dict.fromkeys([*shown, *places]))
            vectors = dict(zip(texts, self._embedder.embed(texts), strict=True))
            for node, text, place in zip(renewed, shown, places, strict=True):
                node.vector, node.place = vectors[text], vectors[place]
        return count


def _note(arrival: Arrival, joined: Open, between: int, fresh_root: bool) -> str:
    """Returns the note of a step: the node that a unit joins, and the new nodes above it."""
    nodes = "1 new node leads" if between == 1 else f"{between} new nodes lead"
    below = f"; {nodes} down to its leaf" if between else ""
    if fresh_root:
        return (
            f"Unit {arrival.index} joins no open node: the tree gets a new root on level "
            f"{joined.level}{below}."
        )
    return f"Unit {arrival.index} joins node {joined.node} on level {joined.level}{below}."
