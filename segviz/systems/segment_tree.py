"""SegTreeMem: a temporal segment tree, grown online (arXiv 2606.04555, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from segviz.annotate import Extractive
from segviz.compatibility import Calibrated, judge
from segviz.parameters import param
from segviz.protocols import Annotate, Arrival, Candidate, Compatibility, Embedder
from segviz.steps import Add, Cost, Decision, Event, Link, Revise, Span, Step, Vector


@dataclass(frozen=True)
class SegmentTree:
    """Every node covers a contiguous span of the conversation; new units join on the right.

    A new unit becomes the rightmost leaf. The compatibility model sees the non-leaf
    frontier (the nodes that end at the newest unit, from low to high) and picks the node
    the unit joins; a chain of nodes keeps all leaves on one level. When it picks none, a
    new root is set over the old one. Only the chain, the chosen node and its ancestors
    are annotated again, from below upwards.

    Source: SegTreeMem, arXiv 2606.04555, §4.1, §4.2 and Algorithm 1.
    Departs from the source: levels count from 0 (the paper from 1); a node with a single
    child carries the child's annotation without a call of the annotation model.
    """

    name: ClassVar[str] = "segment-tree"
    label: ClassVar[str] = "Segment tree (SegTreeMem)"
    online: ClassVar[bool] = True
    laws: ClassVar[str] = "segment-tree"

    compatibility: Compatibility = param(
        help="Chooses where a new unit joins.", registry="compatibility", factory=Calibrated
    )
    annotate: Annotate = param(
        help="Writes the text of inner nodes.", registry="annotate", factory=Extractive
    )

    def steps(self, arrivals: Sequence[Arrival], embedder: Embedder) -> Iterator[Step]:
        """One Step per unit, lazily; the tree is never held outside this generator."""
        prepare = getattr(self.compatibility, "prepare", None)
        model = prepare(embedder) if prepare is not None else self.compatibility
        tree = _Growing(self.annotate, embedder)
        for arrival in arrivals:
            yield tree.insert(arrival, model)


class _Growing:
    """The tree while it grows. Only what the next insertion needs is kept: the frontier
    and the child texts of frontier nodes, so an insertion costs the same at any size."""

    def __init__(self, annotate: Annotate, embedder: Embedder) -> None:
        self._annotate = annotate
        self._embedder = embedder
        self._size = 0
        self._frontier: list[_Open] = []  # from the newest leaf (level 0) up to the root

    def insert(self, arrival: Arrival, model: Compatibility) -> Step:
        """Algorithm 1 for one unit."""
        if not self._frontier:
            leaf = self._open(0, arrival.index, arrival.text, arrival.vector)
            self._frontier = [leaf]
            note = f"Unit {arrival.index} is the first leaf."
            return Step(arrival.unit, note, None, (_added(leaf),), Cost(modified=1))
        inner = self._frontier[1:]
        candidates = [node.as_candidate() for node in inner]
        verdict = judge(model, arrival, candidates)
        height = len(self._frontier)
        if verdict.chosen is None:
            join_level, fresh_root = height, True
        else:
            join_level, fresh_root = inner[verdict.chosen].level, False

        # The new leaf and the unary chain above it, up to just below the joining node.
        chain = [self._open(0, arrival.index, arrival.text, arrival.vector)]
        for level in range(1, join_level):
            link = self._open(level, arrival.index, arrival.text, arrival.vector)
            link.child_texts.append(arrival.text)
            chain.append(link)
        events: list[Event] = [_added(node) for node in chain]
        events += [Link(upper.node, lower.node) for lower, upper in pairwise(chain)]

        top = chain[-1]
        if fresh_root:
            old_root = self._frontier[-1]
            root = self._open(height, old_root.start, "", top.vector)
            root.child_texts.append(old_root.text)
            upper = [root]
        else:
            upper = self._frontier[join_level:]
        annotated = self._refresh(upper, top, arrival.index + 1)
        if fresh_root:
            events += [_added(root), Link(root.node, old_root.node)]
        events.append(Link(upper[0].node, top.node))
        events += [_revised(node) for node in upper if not (fresh_root and node is root)]

        self._frontier = chain + upper
        decision = Decision(verdict.judgements, None if fresh_root else upper[0].node, verdict.why)
        cost = Cost(
            annotated=annotated, inspected=len(candidates), modified=len(chain) + len(upper)
        )
        return Step(
            arrival.unit, _note(arrival, upper, chain, decision), decision, tuple(events), cost
        )

    def _open(self, level: int, start: int, text: str, vector: Vector) -> _Open:
        node = _Open(self._size, level, start, start + 1, text, vector, [])
        self._size += 1
        return node

    def _refresh(self, upper: list[_Open], new_child: _Open, stop: int) -> int:
        """Extend spans and rewrite annotations bottom-up (Algorithm 1, lines 19-22).

        The lowest node gains ``new_child``; each one above sees its last child changed.
        Returns how many annotations were written.
        """
        lower = new_child
        written = 0
        for node in upper:
            if lower is new_child:
                node.child_texts.append(lower.text)
            else:
                node.child_texts[-1] = lower.text
            node.stop = stop
            if len(node.child_texts) == 1:
                node.text = lower.text
            else:
                node.text = self._annotate(node.child_texts)
                written += 1
            lower = node
        vectors = self._embedder.embed([node.text for node in upper])
        for node, vector in zip(upper, vectors, strict=True):
            node.vector = vector
        return written


@dataclass(slots=True)
class _Open:
    """A frontier node; closed ones live on only in the events."""

    node: int
    level: int
    start: int
    stop: int
    text: str
    vector: Vector
    child_texts: list[str]

    @property
    def span(self) -> Span:
        return self.start, self.stop

    def as_candidate(self) -> Candidate:
        return Candidate(
            self.node, self.level, self.span, self.text, self.vector, len(self.child_texts)
        )


def _added(node: _Open) -> Add:
    return Add(node.node, node.level, node.span, node.text, node.vector)


def _revised(node: _Open) -> Revise:
    return Revise(node.node, node.span, node.text, node.vector)


def _note(arrival: Arrival, upper: list[_Open], chain: list[_Open], decision: Decision) -> str:
    between = len(chain) - 1
    below = f" through {between} new node{'s' * (between > 1)} in between" if between else ""
    if decision.chosen is None:
        return (
            f"Unit {arrival.index} joins no open node: a new root on level "
            f"{upper[0].level} is set over the tree{below}."
        )
    return f"Unit {arrival.index} joins node {upper[0].node} on level {upper[0].level}{below}."
