"""Layer 1: the memory structure at one moment, folded from its history.

``replay(steps[:t])`` gives the :class:`Structure` after t steps.

Columns of a Structure (n nodes, ids dense, in creation order, never reused):

========= ===================  =====================================================
column    dtype, shape         meaning
========= ===================  =====================================================
level     int32 (n,)           0 = leaf, counted upwards
start     int32 (n,)           first unit covered
stop      int32 (n,)           one past the last unit covered (half-open hull)
text      tuple of n str       the annotation
vector    float32 (n, d)       embedding of the annotation (d may be 0)
active    bool (n,)            False once retired; the row stays
edges     int32 (m, 2)         [parent, child], in the order they were linked
kind      tuple of n str       what the node is, "" for units and summaries
facts     tuple of n mappings  what the system keeps about the node
relations tuple of Relate      typed connections that are no parenthood, as first made
========= ===================  =====================================================

Several parents and several roots are legal: a RAPTOR leaf has more than one parent,
MemForest has many trees. Parents, children, roots, depth and coverage are derived.
All columns are read-only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from segviz.steps import (
    Add,
    Event,
    Facts,
    Link,
    Relate,
    Retire,
    Revise,
    Span,
    Step,
    Unlink,
    Vector,
)

IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Structure:
    """A memory at one moment; see the module text for the columns."""

    level: IntArray
    start: IntArray
    stop: IntArray
    text: tuple[str, ...]
    vector: Vector
    active: NDArray[np.bool_]
    edges: IntArray
    kind: tuple[str, ...] = ()
    facts: tuple[Facts, ...] = ()
    relations: tuple[Relate, ...] = ()

    def __post_init__(self) -> None:
        """A structure made without kinds or facts has none."""
        if not self.kind:
            object.__setattr__(self, "kind", ("",) * len(self))
        if not self.facts:
            object.__setattr__(self, "facts", ({},) * len(self))

    def __len__(self) -> int:
        """Number of rows, retired nodes included."""
        return len(self.level)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each node, in the order they were linked."""
        return self._adjacency(source=0)

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Parents of each node; more than one where the system allows it."""
        return self._adjacency(source=1)

    def _adjacency(self, source: int) -> tuple[tuple[int, ...], ...]:
        order = np.argsort(self.edges[:, source], kind="stable")
        ends = np.cumsum(np.bincount(self.edges[:, source], minlength=len(self))).tolist()
        others = self.edges[order, 1 - source].tolist()
        return tuple(tuple(others[start:stop]) for start, stop in pairwise((0, *ends)))

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Active nodes without a parent, oldest first."""
        orphan = self.active.copy()
        orphan[self.edges[:, 1]] = False
        return tuple(np.flatnonzero(orphan).tolist())

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Active nodes on level 0, oldest first."""
        return tuple(np.flatnonzero(self.active & (self.level == 0)).tolist())

    @cached_property
    def frontier(self) -> tuple[int, ...]:
        """Active nodes whose span ends at the newest unit, from low to high level
        (SegTreeMem §4.2, equation 2)."""
        if not len(self):
            return ()
        newest = int(self.stop[self.active].max(initial=0))
        nodes = np.flatnonzero(self.active & (self.stop == newest))
        return tuple(nodes[np.argsort(self.level[nodes], kind="stable")].tolist())

    @cached_property
    def depth(self) -> IntArray:
        """Edges from the nearest root, shape (n,); -1 for retired nodes."""
        depth = [-1] * len(self)
        layer, here = list(self.roots), 0
        while layer:
            for node in layer:
                depth[node] = here
            here += 1
            reached = dict.fromkeys(child for node in layer for child in self.children[node])
            layer = [node for node in reached if depth[node] < 0]
        return np.array(depth, dtype=np.int32)

    @cached_property
    def carrier(self) -> IntArray:
        """The node whose text each node carries, int32 (n,): itself, or for a node with a
        single child that child's carrier. Nodes with one carrier cover the same units, so
        selection counts them once."""
        carrier = np.arange(len(self), dtype=np.int32)
        parent, child = self.edges[:, 0], self.edges[:, 1]
        only = np.bincount(parent, minlength=len(self))[parent] == 1
        carrier[parent[only]] = child[only]
        # Each round doubles how far down the chain every node sees.
        for _ in range(len(self).bit_length()):
            further = carrier[carrier]
            if np.array_equal(further, carrier):
                break
            carrier = further
        return carrier

    def coverage(self, node: int) -> tuple[int, ...]:
        """Indices of the units below a node, ascending. Exact where the span is only a
        hull (clustered nodes are not contiguous)."""
        seen = {node}
        pending = [node]
        while pending:
            fresh = [child for child in self.children[pending.pop()] if child not in seen]
            seen.update(fresh)
            pending += fresh
        below = np.fromiter(seen, dtype=np.int64, count=len(seen))
        leaves = below[self.level[below] == 0]
        spans = zip(self.start[leaves].tolist(), self.stop[leaves].tolist(), strict=True)
        return tuple(sorted({unit for start, stop in spans for unit in range(start, stop)}))


class ReplayError(ValueError):
    """The events do not describe a structure; the message names the step and event."""


class Fold:
    """Mutable columns while events are applied, step by step."""

    def __init__(self) -> None:
        """Before the first step."""
        self.level: list[int] = []
        self.span: list[Span] = []
        self.text: list[str] = []
        self.vector: list[Vector] = []
        self.active: list[bool] = []
        self.kind: list[str] = []
        self.facts: list[Facts] = []
        self.edges: dict[tuple[int, int], None] = {}
        self.relations: dict[tuple[int, int, str], Relate] = {}
        self.degree: list[int] = []

    def copy(self) -> Fold:
        """The same moment, to go on from without changing this one."""
        other = Fold()
        for name, column in vars(self).items():
            setattr(other, name, column.copy())
        return other

    def take(self, number: int, step: Step) -> None:
        """Apply the events of step ``number``; ReplayError names the step."""
        for event in step.events:
            try:
                self.apply(event)
            except ReplayError as error:
                raise ReplayError(f"step {number}: {error}") from None

    def apply(self, event: Event) -> None:
        """Apply one event; ReplayError says why it cannot be."""
        match event:
            case Add():
                self._add(event)
            case Revise():
                self._revise(event)
            case Link():
                self._require(event.parent)
                self._require(event.child)
                if (event.parent, event.child) in self.edges:
                    raise ReplayError(f"{event}: the edge is already there")
                self.edges[event.parent, event.child] = None
                self._count(event.parent, event.child, 1)
            case Unlink():
                if (event.parent, event.child) not in self.edges:
                    raise ReplayError(f"{event}: there is no such edge")
                del self.edges[event.parent, event.child]
                self._count(event.parent, event.child, -1)
            case Retire():
                self._require(event.node)
                if self.degree[event.node]:
                    raise ReplayError(f"{event}: the node still has edges; unlink them first")
                self.active[event.node] = False
            case Relate():
                self._relate(event)

    def _add(self, event: Add) -> None:
        if event.node != len(self.level):
            raise ReplayError(f"Add({event.node}): expected node {len(self.level)}; ids are dense")
        self.level.append(event.level)
        self.span.append(event.span)
        self.text.append(event.text)
        self.vector.append(event.vector)
        self.active.append(True)
        self.kind.append(event.kind)
        self.facts.append(event.facts)
        self.degree.append(0)

    def _revise(self, event: Revise) -> None:
        node = event.node
        self._require(node)
        self.span[node] = event.span
        self.text[node] = event.text
        self.vector[node] = event.vector
        if event.level is not None:
            self.level[node] = event.level
        if event.facts is not None:
            self.facts[node] = event.facts

    def _relate(self, event: Relate) -> None:
        key = (event.source, event.target, event.label)
        known = key in self.relations
        if event.weight:
            self._require(event.source)
            self._require(event.target)
            self.relations[key] = event
            self._count(event.source, event.target, 0 if known else 1)
        elif known:
            del self.relations[key]
            self._count(event.source, event.target, -1)
        else:
            raise ReplayError(f"{event}: there is no such relation to remove")

    def _count(self, parent: int, child: int, change: int) -> None:
        self.degree[parent] += change
        self.degree[child] += change

    def _require(self, node: int) -> None:
        if not (0 <= node < len(self.level) and self.active[node]):
            raise ReplayError(f"node {node} is not in the structure")

    def freeze(self) -> Structure:
        """The structure at this moment."""
        spans = _pairs(self.span)
        vectors = np.array(self.vector, dtype=np.float32)  # three times as fast as np.stack
        return Structure(
            level=_sealed(np.array(self.level, dtype=np.int32)),
            start=_sealed(spans[:, 0].copy()),
            stop=_sealed(spans[:, 1].copy()),
            text=tuple(self.text),
            vector=_sealed(vectors if self.vector else vectors.reshape(0, 0)),
            active=_sealed(np.array(self.active, dtype=np.bool_)),
            edges=_sealed(_pairs(self.edges)),
            kind=tuple(self.kind),
            facts=tuple(self.facts),
            relations=tuple(self.relations.values()),
        )


def _pairs(pairs: Collection[tuple[int, int]]) -> IntArray:
    flat = np.fromiter(chain.from_iterable(pairs), dtype=np.int32, count=2 * len(pairs))
    return flat.reshape(-1, 2)


_Array = TypeVar("_Array", bound=NDArray[Any])


def _sealed(column: _Array) -> _Array:
    column.flags.writeable = False
    return column


def history(steps: Iterable[Step]) -> Iterator[Structure]:
    """The structure after each step, lazily; raises ReplayError as :func:`replay` does."""
    fold = Fold()
    for number, step in enumerate(steps):
        fold.take(number, step)
        yield fold.freeze()


def replay(steps: Iterable[Step]) -> Structure:
    """The structure after these steps: a pure fold over their events.

    Raises ReplayError, naming the step, when an event refers to a node that is not
    there, repeats an edge, skips an id or retires a linked node.
    """
    fold = Fold()
    for number, step in enumerate(steps):
        fold.take(number, step)
    return fold.freeze()
