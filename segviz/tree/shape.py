"""Measures the size and depth of a structure, and names degenerate trees.

A same-text chain counts as one node. The kind of a structure follows from its columns:

========== ====================================================================================
``flat``   several units and no edge
``tree``   one root, and at most one parent for each node; also an empty structure
``forest`` several roots, and at most one parent for each node
``graph``  some node has several parents
``facts``  nodes of different kinds, or relations: events, entities, statements
========== ====================================================================================

The columns of a tree are those of SegTreeMem Table 5. A graph of facts is counted by level and
kind, as in H-Mem Table 7. ``coherence`` is the similarity of a node with its children.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segviz.tree.events import as_number
from segviz.tree.structure import Structure, once_per_structure, sealed


@dataclass(frozen=True, slots=True)
class Layer:
    """Counts of the nodes of one ``level`` and ``kind`` ("" for units and summaries).

    ``repeats`` are nodes that repeat the text of their only child, which ``nodes`` includes, as
    the papers do; ``single`` have one child and a text of their own. ``children`` is their mean
    number, ``below`` their levels and kinds. ``ratio`` is nodes per node ``below`` (H-Mem Table 7:
    0.57 summaries of level 2 per event); None for leaves.
    """

    level: int
    kind: str
    nodes: int
    repeats: int
    single: int
    children: float
    below: tuple[tuple[int, str], ...]
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Family:
    """Statistics of the trees whose roots are of one ``kind``.

    ``items`` is the mean number of leaves of a tree. If nodes have several parents, it is the mean
    of the fact ``items`` of the roots; None if one lacks it. The depth of a tree is its
    longest path, in edges; in a graph of facts every node of a same-text chain counts.
    """

    kind: str
    trees: int
    items: float | None
    mean_depth: float
    depth_std: float
    max_depth: int


@dataclass(frozen=True, slots=True)
class FactGraph:
    """Graph of facts: ``layers`` from level 0 up, ``relations`` (label, count) by frequency."""

    layers: tuple[Layer, ...]
    relations: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """Counts and leaf-depth statistics of one structure.

    The depth of a leaf is the longest path from a root, in edges. ``branching`` is the mean number
    of children of inner nodes, ``widest`` the largest. ``unary`` nodes repeat the text of their
    only child and are not in ``nodes``. ``shared`` nodes have several parents; ``trees`` counts
    roots. ``families`` is set for several roots, ``facts`` if ``kind`` is "facts".
    """

    leaves: int
    nodes: int
    unary: int
    max_depth: int
    mean_depth: float
    depth_std: float
    branching: float
    widest: int
    trees: int = 1
    shared: int = 0
    kind: str = "tree"
    families: tuple[Family, ...] = ()
    facts: FactGraph | None = None

    @property
    def nodes_per_leaf(self) -> float:
        """Nodes divided by leaves; 0 for an empty structure."""
        return self.nodes / self.leaves if self.leaves else 0.0


_GROVES = ("forest", "graph", "facts")


def shape(structure: Structure) -> Shape:
    """Measures a structure in O(n + m), without recursion; nodes below a cycle get depth 0."""
    # A same-text chain is one node; the depth of a leaf is its longest path from a root.
    shown = structure.collapsed
    active = np.flatnonzero(shown.active).tolist()
    order = _from_above(shown)
    # The number of edges on the longest path from a root to each node.
    depth = [0] * len(shown)
    for node in order:
        for child in shown.children[node]:
            depth[child] = max(depth[child], depth[node] + 1)
    depths = np.array([depth[leaf] for leaf in shown.leaves], dtype=np.float64)
    widths = [len(shown.children[node]) for node in active if shown.children[node]]
    shared = sum(len(shown.parents[node]) > 1 for node in active)
    kind = _kind(shown, shared)
    labels = Counter(relation.label for relation in shown.relations)
    relations = tuple(sorted(labels.items(), key=lambda item: (-item[1], item[0])))
    return Shape(
        leaves=len(depths),
        nodes=len(active),
        unary=int(structure.active.sum()) - len(active),
        max_depth=int(depths.max(initial=0)),
        mean_depth=float(depths.mean()) if len(depths) else 0.0,
        depth_std=float(depths.std()) if len(depths) else 0.0,
        branching=float(np.mean(widths)) if widths else 0.0,
        widest=max(widths, default=0),
        trees=len(shown.roots),
        shared=shared,
        kind=kind,
        families=_families(structure if kind == "facts" else shown) if kind in _GROVES else (),
        facts=FactGraph(_layers(structure), relations) if kind == "facts" else None,
    )


def _kind(shown: Structure, shared: int) -> str:
    """Returns the kind of a shape; ``shared`` is the number of nodes with several parents."""
    if shown.relations or any(shown.kind[node] for node in np.flatnonzero(shown.active).tolist()):
        return "facts"
    if shared:
        return "graph"
    if len(shown.roots) > 1:
        return "forest" if len(shown.edges) else "flat"
    return "tree"


def _from_above(shown: Structure) -> list[int]:
    """Returns the active nodes, each after all its parents, without those on or below a cycle."""
    # Kahn's topological order: a node is appended when its last parent is.
    waiting = [len(above) for above in shown.parents]
    order = list(shown.roots)
    for node in order:
        for child in shown.children[node]:
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    return order


def _families(structure: Structure) -> tuple[Family, ...]:
    """Returns the trees of a forest by the kind of their root; none for a single tree."""
    if len(structure.roots) < 2:
        return ()
    # From the leaves up: the longest path below each node, and the leaves of its tree.
    height = [0] * len(structure)
    leaves = (structure.level == 0).astype(np.float64)
    for node in reversed(_from_above(structure)):
        for child in structure.children[node]:
            height[node] = max(height[node], height[child] + 1)
            leaves[node] += leaves[child]
    # A leaf with two parents would be counted twice; then the roots say how many items they have.
    alone = all(len(above) < 2 for above in structure.parents)
    rows = []
    for kind in dict.fromkeys(structure.kind[root] for root in structure.roots):
        roots = [root for root in structure.roots if structure.kind[root] == kind]
        counted = alone or all("items" in structure.facts[root] for root in roots)
        items = [leaves[r] if alone else as_number(structure.facts[r], "items") for r in roots]
        depths = [height[root] for root in roots]
        rows.append(
            Family(
                kind=kind,
                trees=len(roots),
                items=float(np.mean(items)) if counted else None,
                mean_depth=float(np.mean(depths)),
                depth_std=float(np.std(depths)),
                max_depth=max(depths),
            )
        )
    return tuple(rows)


def _layers(structure: Structure) -> tuple[Layer, ...]:
    """Counts nodes by level and kind; every node of a same-text chain counts."""
    groups: dict[tuple[int, str], list[int]] = {}
    place = list(zip(structure.level.tolist(), structure.kind, strict=True))
    for node in np.flatnonzero(structure.active).tolist():
        groups.setdefault(place[node], []).append(node)
    lowest = structure.collapsed.chain.tolist()
    rows = []
    for (level, kind), nodes in sorted(groups.items()):
        widths = [len(structure.children[node]) for node in nodes]
        repeats = sum(lowest[node] != node for node in nodes)
        reached = {place[child] for node in nodes for child in structure.children[node]}
        nodes_below = sum(len(groups[layer]) for layer in reached)
        rows.append(
            Layer(
                level=level,
                kind=kind,
                nodes=len(nodes),
                repeats=repeats,
                single=widths.count(1) - repeats,
                children=float(np.mean(widths)),
                below=tuple(sorted(reached)),
                ratio=len(nodes) / nodes_below if nodes_below else None,
            )
        )
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Degenerate shape: its ``kind``, and sentences on ``what`` is wrong and the ``remedy``."""

    kind: str
    what: str
    remedy: str


# A healthy tree over n leaves is a few levels high. These bounds are ours: far outside
# anything the paper reports (max depth 4, widest well below a hundred), well inside what
# the degenerate constructions give (depth n, or one node with n children).
_DEPTH_ALLOWANCE = 3.0
_MAX_WIDTH = 60
_MIN_LEAVES = 24


def diagnose(measured: Shape, thresholds: bool = True) -> list[Trouble]:
    """Names a cascade (SegTreeMem App. C.3.1) or a star; empty for a healthy tree or a small one.

    ``thresholds`` is True if scores against thresholds decided the tree, not a model's words.
    """
    if measured.kind != "tree" or measured.leaves < _MIN_LEAVES:
        return []
    # A cascade is deeper than the logarithm of its leaves allows.
    troubles = []
    limit = _DEPTH_ALLOWANCE + 1.2 * math.log2(measured.leaves)
    if measured.max_depth > limit:
        troubles.append(
            Trouble(
                "cascade",
                f"The tree cascades: it is {measured.max_depth} levels deep over "
                f"{measured.leaves} leaves, because many units joined no open node and each "
                "put a new root on top.",
                "Lower the thresholds so that units join what is open, above all on the high "
                "levels; with cosine, lower its threshold or use calibrated."
                if thresholds
                else "The model finds almost nothing compatible: take another model, or "
                "calibrated, whose thresholds can be moved.",
            )
        )
    # A star has most leaves below one node.
    if measured.widest > max(_MAX_WIDTH, 0.5 * measured.leaves):
        troubles.append(
            Trouble(
                "star",
                f"The tree is close to a star: one node holds {measured.widest} of "
                f"{measured.leaves} leaves or branches, because almost every unit joined it.",
                "Raise the thresholds, or the crowding term of calibrated; with cosine, raise "
                "its threshold."
                if thresholds
                else "The model finds almost everything compatible: take another model, or "
                "calibrated, whose crowding term keeps nodes small.",
            )
        )
    return troubles


def boundary_f1(structure: Structure, session_starts: Collection[int]) -> float:
    """Returns the agreement of level-1 nodes with sessions, in [0, 1]; 1 is perfect.

    It is the F1 of the first units of level-1 nodes (unit 0 left out) against ``session_starts``,
    the first unit of every session but the first. It has meaning only for a structure built without
    knowing the sessions, and compared with :func:`random_f1`.

    Source: ours.
    """
    return _f1(_cuts(structure), set(session_starts))


def random_f1(structure: Structure, session_starts: Collection[int]) -> float:
    """Returns what :func:`boundary_f1` gives by chance, the mean of 200 random sets as large."""
    size = len(_cuts(structure))
    places = np.arange(1, max(2, len(structure.leaves)))
    random = np.random.default_rng(0)
    wanted = set(session_starts)
    draws = (random.choice(places, min(size, len(places)), replace=False) for _ in range(200))
    return float(np.mean([_f1(set(draw.tolist()), wanted) for draw in draws]))


def _cuts(structure: Structure) -> set[int]:
    level_1 = structure.active & (structure.level == 1)
    return set(structure.start[level_1].tolist()) - {0}


def _f1(cuts: set[int], wanted: set[int]) -> float:
    return 2 * len(cuts & wanted) / (len(cuts) + len(wanted)) if cuts or wanted else 1.0


def session_starts(sessions: Iterable[int]) -> list[int]:
    """Returns the first unit of every session but the first, from the session of each unit."""
    order = list(sessions)
    return [i for i in range(1, len(order)) if order[i] != order[i - 1]]


# --- coherence -------------------------------------------------------------------------------


@once_per_structure(lambda: ())
def coherence(structure: Structure) -> NDArray[np.float64]:
    """Returns the mean cosine of each node with its children (leaf: parents); shape (n,).

    A same-text chain counts as one node, so that a chain of copies is as coherent as the copied
    node, not perfect. NaN without a comparison: retired nodes, a lone leaf, nodes without a vector.
    O(n d) the first time, then cached; read-only. Computed in float32 like the vectors, so exact to
    about six digits.

    Source: ours.
    """
    n, whole = len(structure), structure
    structure = structure.collapsed
    value = np.full(n, np.nan)
    length = np.sqrt(np.einsum("ij,ij->i", structure.vector, structure.vector))
    parent, child = structure.edges[:, 0], structure.edges[:, 1]
    known = (length[parent] > 0) & (length[child] > 0)
    parent, child = parent[known], child[known]
    dot = np.einsum("ij,ij->i", structure.vector[parent], structure.vector[child])
    cosine = np.clip(dot / (length[parent] * length[child]), -1.0, 1.0)
    # Every edge has one cosine. Inner nodes average it over the edges below them (grouped by
    # parent), leaves over the edges above (grouped by child); `bincount` sums the groups.
    for ends, leaf in ((parent, False), (child, True)):
        count = np.bincount(ends, minlength=n)
        counted = (count > 0) & ((structure.level == 0) == leaf)
        value[counted] = np.bincount(ends, weights=cosine, minlength=n)[counted] / count[counted]
    value = value[structure.chain]
    value[~whole.active] = np.nan
    return sealed(value)
