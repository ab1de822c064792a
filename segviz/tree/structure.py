"""Defines the memory structure at one moment, folded from its history.

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
kind      tuple of n str       type of the node, "" for units and summaries
facts     tuple of n mappings  the system's further data about the node
relations tuple of Relate      typed connections beside parenthood, oldest first
========= ===================  =====================================================

Several parents and several roots are legal: a RAPTOR leaf has more than one parent,
MemForest has many trees. Parents, children, roots, depth and coverage are derived.
All columns are read-only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from segviz.tree.events import Facts, Relate, Vector

IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Structure:
    """A memory at one moment; the columns are listed at the top of this module."""

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
        # Edges grouped by their source end (stable, so in the order they were linked) and cut
        # where the cumulative counts say; source 0 gives children, 1 parents.
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
        # Pointer jumping: each round doubles how far down its chain every node sees, so a
        # chain of length c takes log2(c) rounds.
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
