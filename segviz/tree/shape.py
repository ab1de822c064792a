"""Measures the shape of a tree and names degenerate shapes.

The columns are those of SegTreeMem Table 5. A same-text chain counts as one node; ``unary`` is
the number of nodes that repeat the text of their only child.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from segviz.tree.structure import Structure


@dataclass(frozen=True, slots=True)
class Shape:
    """Counts and leaf-depth statistics of one structure.

    ``nodes_per_leaf``, depths, ``branching`` (mean children of inner nodes) and ``widest``
    (most children) count a same-text chain as one node; ``unary`` says how many nodes repeat
    the text of their only child. Depths count edges from the nearest root.
    """

    leaves: int
    nodes: int
    unary: int
    max_depth: int
    mean_depth: float
    depth_std: float
    branching: float
    widest: int

    @property
    def nodes_per_leaf(self) -> float:
        """Nodes divided by leaves; 0 for an empty structure."""
        return self.nodes / self.leaves if self.leaves else 0.0


def shape(structure: Structure) -> Shape:
    """Measure a structure with every same-text chain as one node. O(n), no recursion."""
    shown = structure.collapsed
    leaves = shown.leaves
    depths = shown.depth[list(leaves)].astype(np.float64)
    children = shown.children
    active = np.flatnonzero(shown.active).tolist()
    widths = [len(children[node]) for node in active if children[node]]
    unary = int(structure.active.sum()) - len(active)
    return Shape(
        leaves=len(leaves),
        nodes=len(active),
        unary=unary,
        max_depth=int(depths.max(initial=0)),
        mean_depth=float(depths.mean()) if len(depths) else 0.0,
        depth_std=float(depths.std()) if len(depths) else 0.0,
        branching=float(np.mean(widths)) if widths else 0.0,
        widest=max(widths, default=0),
    )


@dataclass(frozen=True, slots=True)
class Trouble:
    """A degenerate shape: its ``kind``, ``what`` is wrong and the ``remedy``, as sentences."""

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
    """Name a cascade (SegTreeMem App. C.3.1) or a star; empty for a healthy tree.

    ``thresholds`` tells whether the tree was decided by scores against thresholds, which
    can be moved, or by the words of a model. Trees with fewer than 24 leaves are too small
    to judge.
    """
    if measured.leaves < _MIN_LEAVES:
        return []
    found = []
    limit = _DEPTH_ALLOWANCE + 1.2 * math.log2(measured.leaves)
    if measured.max_depth > limit:
        found.append(
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
    if measured.widest > max(_MAX_WIDTH, 0.5 * measured.leaves):
        found.append(
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
    return found


def boundary_f1(structure: Structure, session_starts: Collection[int]) -> float:
    """Agreement of level-1 nodes with sessions, in [0, 1]; 1 is perfect.

    F1 of the first units of level-1 nodes (unit 0 left out) against ``session_starts``,
    the first unit of every session but the first. It means something only for a structure
    built without knowing the sessions, and beside :func:`random_f1`. Source: ours.
    """
    level_1 = structure.active & (structure.level == 1)
    cuts = set(structure.start[level_1].tolist()) - {0}
    return _f1(cuts, set(session_starts))


def random_f1(structure: Structure, session_starts: Collection[int], seed: int = 0) -> float:
    """Mean of :func:`boundary_f1` for 200 random cuts of the same size."""
    level_1 = structure.active & (structure.level == 1)
    size = len(set(structure.start[level_1].tolist()) - {0})
    places = np.arange(1, max(2, len(structure.leaves)))
    random = np.random.default_rng(seed)
    wanted = set(session_starts)
    draws = (random.choice(places, min(size, len(places)), replace=False) for _ in range(200))
    return float(np.mean([_f1(set(draw.tolist()), wanted) for draw in draws]))


def _f1(found: set[int], wanted: set[int]) -> float:
    return 2 * len(found & wanted) / (len(found) + len(wanted)) if found or wanted else 1.0


def session_starts(sessions: Iterable[int]) -> list[int]:
    """First unit of every session but the first, from the session of each unit in order."""
    order = list(sessions)
    return [i for i in range(1, len(order)) if order[i] != order[i - 1]]
