"""Defines the memory structure at one moment, replayed from its history.

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
kind      tuple of n str       type of the node, "" for units and summaries, "ghost" for
                               units that the memory did not store
facts     tuple of n mappings  the system's further data about the node
relations tuple of Relate      typed connections besides parenthood, oldest first
chain     int32 (n,)           the node each row is shown as: itself, or in a
                               :attr:`~Structure.collapsed` structure the lowest node of
                               its same-text chain
top       int32 (n,)           highest level of that chain; the level itself, unless
                               collapsed
========= ===================  =====================================================

Several parents and several roots are legal: soft clusters share leaves, a forest has many trees.
Parents, children, roots, depth and coverage are derived. All columns are read-only.

A *same-text chain* is a node and the single-child nodes above it that have its text. Algorithm 1 of
SegTreeMem makes such nodes, because a node with one child is annotated with that child's text.
``structure.collapsed`` shows every chain as one node.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import pairwise
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from segviz.tree.events import Facts, Relate, Vector

IntArray = NDArray[np.int32]
GHOST = "ghost"
"""Kind of a leaf whose unit the memory did not store: it is drawn, and never retrieved."""
SOURCE_TURNS = "source turns"
"""Fact of a stored text: the ids of the turns that it was written from, one a line."""
UNSURE_TURNS = "unsure turns"
"""Fact of a stored text that may come from these turns; it gets no credit for them."""

_NOT_GIVEN: IntArray = np.zeros(0, dtype=np.int32)
_Array = TypeVar("_Array", bound=NDArray[Any])
_Function = TypeVar("_Function", bound=Callable[..., Any])


def sealed(column: _Array) -> _Array:
    """Makes a column read-only and returns it."""
    column.flags.writeable = False
    return column


def reachable(adjacent: Sequence[Sequence[int]], nodes: Iterable[int]) -> set[int]:
    """Returns ``nodes`` and all nodes reachable from them; ``adjacent`` lists each node's next."""
    seen = set(nodes)
    pending = list(seen)
    while pending:
        for node in adjacent[pending.pop()]:
            if node not in seen:
                seen.add(node)
                pending.append(node)
    return seen


def above_items(children: Sequence[Sequence[int]], level: Sequence[int], root: int) -> list[int]:
    """Returns the nodes of a tree above level 1, from the root down, in the order of children."""
    inner = [root]
    for node in inner:
        inner += [child for child in children[node] if level[child] > 1]
    return inner


@dataclass(frozen=True, eq=False)
class Structure:
    """Memory at one moment; the columns are listed at the top of this module."""

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
    chain: IntArray = field(default_factory=lambda: _NOT_GIVEN)
    top: IntArray = field(default_factory=lambda: _NOT_GIVEN)

    def __post_init__(self) -> None:
        """Fills in missing columns: no kinds, no facts, no chains."""
        if not self.kind:
            object.__setattr__(self, "kind", ("",) * len(self))
        if not self.facts:
            object.__setattr__(self, "facts", ({},) * len(self))
        if self.chain is _NOT_GIVEN:
            object.__setattr__(self, "chain", np.arange(len(self), dtype=np.int32))
        if self.top is _NOT_GIVEN:
            object.__setattr__(self, "top", self.level)

    def __repr__(self) -> str:
        """Returns the number of nodes and leaves, in one line."""
        return f"Structure({self.counted}, {len(self.leaves)} leaves)"

    def __len__(self) -> int:
        """Returns the number of rows, including retired nodes."""
        return len(self.level)

    @property
    def counted(self) -> str:
        """Number of nodes in words, chains as one node each; with chains, all nodes, too."""
        every, shown = int(self.active.sum()), int(self.collapsed.active.sum())
        return f"{shown} nodes" + f" ({every} with same-text chains)" * (every != shown)

    def to_networkx(self) -> Any:
        """Returns a ``networkx.MultiDiGraph`` of the rows in ``nodes``, also retired ones.

        Nodes have ``level``, ``top``, ``start``, ``stop``, ``text``, ``active``, ``kind`` and
        ``facts``. Edges of ``type`` "child" go from parent to child and have their ``order``. Those
        of ``type`` "relation" have ``order``, ``label`` and ``weight``.
        """
        import networkx as nx  # a third of segviz's own start-up time

        graph = nx.MultiDiGraph()
        for node in self.nodes.tolist():
            graph.add_node(
                node,
                level=int(self.level[node]),
                top=int(self.top[node]),
                start=int(self.start[node]),
                stop=int(self.stop[node]),
                text=self.text[node],
                active=bool(self.active[node]),
                kind=self.kind[node],
                facts=dict(self.facts[node]),
            )
        for order, (parent, child) in enumerate(self.edges.tolist()):
            graph.add_edge(parent, child, type="child", order=order)
        for order, each in enumerate(self.relations):
            more = {"label": each.label, "weight": float(each.weight)}
            graph.add_edge(each.source, each.target, type="relation", order=order, **more)
        return graph

    @property
    def nodes(self) -> IntArray:
        """Rows shown as nodes, also retired ones: all, or when collapsed one for each chain."""
        return np.flatnonzero(self.chain == np.arange(len(self))).astype(np.int32)

    @cached_property
    def ghost(self) -> NDArray[np.bool_]:
        """True for ghosts, the leaves of units that the memory did not store, bool (n,)."""
        return sealed(np.array([kind == GHOST for kind in self.kind], dtype=np.bool_))

    @cached_property
    def retrievable(self) -> NDArray[np.bool_]:
        """True for active nodes that are no ghosts, bool (n,)."""
        return sealed(self.active & ~self.ghost) if self.ghost.any() else self.active

    def of_kind(self, *kinds: str) -> list[int]:
        """Returns the active nodes of these kinds, oldest first."""
        rows = zip(self.active.tolist(), self.kind, strict=True)
        return [node for node, (active, kind) in enumerate(rows) if active and kind in kinds]

    def holders(self, leaf: int, turn: str) -> tuple[int, ...]:
        """Returns the nodes that have a turn of a leaf's unit.

        They are the leaf, unless it is a ghost, and the parents that were written from the turn.
        Parents of a ghost that name no turns were written from all turns of its unit.
        """
        written = (
            parent
            for parent in self.parents[leaf]
            if (self.ghost[leaf] if (named := self.named_turns(parent)) is None else turn in named)
        )
        return (*(() if self.ghost[leaf] else (leaf,)), *written)

    def named_turns(self, node: int) -> tuple[str, ...] | None:
        """Returns the ids of the turns of a stored text, () for none; None for another node."""
        named = self.facts[node].get(SOURCE_TURNS)
        return tuple(filter(None, named.split("\n"))) if isinstance(named, str) else None

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each node, in the order they were linked."""
        return self._adjacency(column=0)

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Parents of each node; more than one where the system allows it."""
        return self._adjacency(column=1)

    def _adjacency(self, column: int) -> tuple[tuple[int, ...], ...]:
        """Returns for each node in a column of the edges (0 parents, 1 children) its other ends."""
        # Edges are grouped by this column (stable, so in the order they were linked) and cut at the
        # cumulative counts.
        order = np.argsort(self.edges[:, column], kind="stable")
        ends = np.cumsum(np.bincount(self.edges[:, column], minlength=len(self))).tolist()
        others = self.edges[order, 1 - column].tolist()
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
        """Active nodes that end at the newest unit, low to high (SegTreeMem §4.2, equation 2)."""
        newest = int(self.stop[self.active].max(initial=0))
        nodes = np.flatnonzero(self.active & (self.stop == newest))
        return tuple(nodes[np.argsort(self.level[nodes], kind="stable")].tolist())

    @cached_property
    def depth(self) -> IntArray:
        """Number of edges from the nearest root to each node, int32 (n,); -1 for retired nodes."""
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
    def collapsed(self) -> Structure:
        """This structure, or a copy with every same-text chain as one node, its lowest; O(n + m).

        Rows keep their ids; the other nodes of a chain are inactive. Edges and relations run
        between chains, edges without repetition. Only equal text makes a chain: a node with one
        child and a text of its own stays, and so does a node over a ghost.
        """
        chain = self._lowest_of_chain()
        wrappers = chain != np.arange(len(self))
        if not wrappers.any():
            return self
        top = self.level.copy()
        np.maximum.at(top, chain, self.level)
        edges = chain[self.edges]
        # Edges inside a chain disappear; np.unique sorts, so the first occurrences restore the
        # order.
        edges = edges[edges[:, 0] != edges[:, 1]]
        _, first = np.unique(
            edges[:, 0].astype(np.int64) * len(self) + edges[:, 1], return_index=True
        )
        return replace(
            self,
            active=sealed(self.active & ~wrappers),
            edges=sealed(edges[np.sort(first)]),
            relations=tuple(
                replace(each, source=int(chain[each.source]), target=int(chain[each.target]))
                for each in self.relations
            ),
            chain=sealed(chain[self.chain]),
            top=sealed(top),
        )

    def _lowest_of_chain(self) -> IntArray:
        """Returns the lowest node of the same-text chain of each node, int32 (n,)."""
        chain = np.arange(len(self), dtype=np.int32)
        parent, child = self.edges[:, 0], self.edges[:, 1]
        # Edges to an only child that has the parent's text. A ghost is no text of the memory.
        single = np.flatnonzero(np.bincount(parent, minlength=len(self))[parent] == 1).tolist()
        same = [
            edge
            for edge in single
            if self.text[parent[edge]] == self.text[child[edge]] and not self.ghost[child[edge]]
        ]
        chain[parent[same]] = child[same]
        # Pointer jumping: each round doubles the length of every pointer down its chain, so a
        # chain of length c takes log2(c) rounds.
        for _ in range(len(self).bit_length()):
            further = chain[chain]
            if np.array_equal(further, chain):
                break
            chain = further
        return chain

    def coverage(self, node: int) -> tuple[int, ...]:
        """Returns the indices of the units below a node, ascending; its span may have others."""
        seen = reachable(self.children, [int(self.chain[node])])
        below = np.fromiter(seen, dtype=np.int64, count=len(seen))
        leaves = below[self.level[below] == 0]
        spans = zip(self.start[leaves].tolist(), self.stop[leaves].tolist(), strict=True)
        return tuple(sorted({unit for start, stop in spans for unit in range(start, stop)}))


def once_per_structure(key: Callable[..., Hashable]) -> Callable[[_Function], _Function]:
    """Returns a decorator that caches results as long as the first argument, a structure, lives.

    ``key`` tells results apart by the other arguments. A result must not refer to the structure.
    """

    def decorate(function: _Function) -> _Function:
        cache: WeakKeyDictionary[Structure, dict[Hashable, Any]] = WeakKeyDictionary()

        @wraps(function)
        def cached(structure: Structure, *args: Any, **more: Any) -> Any:
            results, name = cache.setdefault(structure, {}), key(*args, **more)
            if name not in results:
                results[name] = function(structure, *args, **more)
            return results[name]

        return cast(_Function, cached)

    return decorate
