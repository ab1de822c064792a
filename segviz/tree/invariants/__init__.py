"""Checks structures against invariants and reports the violations.

``check(structure)`` returns every violation; an empty list means clean. The general ones
hold for every system. A system names further ones in its ``invariants`` attribute, one of
``INVARIANTS``; the segment tree's are those of SegTreeMem §4.1 and §4.2 (levelled tree,
consecutive disjoint children, chronological leaves, one frontier node per level). Of these
``maintained-segment-tree`` keeps what survives compression, rebuilding and merging: levels
need not be even, and a leaf may hold several units.

An invariant is a function from a structure to its violations. To add one, write it beside its
kind: ``general``, ``segments`` (trees over time), ``layers`` (trees by similarity) or
``kinds`` (memories whose nodes carry facts), and name it in a row of ``INVARIANTS``.
"""

from __future__ import annotations

from segviz.tree.invariants.general import (
    columns_agree,
    edges_are_sound,
    relations_are_sound,
    spans_are_hulls,
    vectors_are_finite,
)
from segviz.tree.invariants.kinds import (
    events_have_a_place,
    forest_is_balanced,
    statements_are_parted,
)
from segviz.tree.invariants.layers import (
    children_are_one_below,
    layers_shrink,
    leaves_are_units,
    nothing_above_units,
    one_parent,
    three_levels,
    topics_branch,
)
from segviz.tree.invariants.segments import (
    children_are_consecutive,
    frontier_is_a_chain,
    frontier_rises,
    leaves_are_chronological,
    leaves_tile,
    levels_are_even,
    one_root,
    one_tree,
)
from segviz.tree.invariants.violation import Invariant, Violation
from segviz.tree.structure import Structure

__all__ = ["INVARIANTS", "Invariant", "Violation", "check"]

_GENERAL: tuple[Invariant, ...] = (
    columns_agree,
    edges_are_sound,
    spans_are_hulls,
    vectors_are_finite,
    relations_are_sound,
)

INVARIANTS: dict[str, tuple[Invariant, ...]] = {
    "general": _GENERAL,
    "segment-tree": (
        *_GENERAL,
        one_tree,
        levels_are_even,
        leaves_are_chronological,
        children_are_consecutive,
        frontier_is_a_chain,
    ),
    "maintained-segment-tree": (
        *_GENERAL,
        one_parent,
        one_root,
        leaves_tile,
        children_are_consecutive,
        frontier_rises,
    ),
    "clustering": (*_GENERAL, one_tree, levels_are_even, leaves_are_chronological, three_levels),
    "memtree": (*_GENERAL, one_parent, leaves_are_units, topics_branch),
    "raptor": (*_GENERAL, leaves_are_units, children_are_one_below, layers_shrink),
    "flat": (*_GENERAL, leaves_are_units, nothing_above_units),
    "h-mem": (*_GENERAL, events_have_a_place),
    "memforest": (*_GENERAL, forest_is_balanced),
    "xmemory": (*_GENERAL, statements_are_parted),
}
"""The invariants by name; every row holds the general ones."""


def check(structure: Structure, invariants: str = "general") -> list[Violation]:
    """Every violation of the named invariants by ``structure``, in the order they are listed.

    ``invariants`` is a key of ``INVARIANTS``; ValueError lists the keys for any other. When the
    columns themselves disagree only that is reported, since nothing else can be read.
    """
    if invariants not in INVARIANTS:
        raise ValueError(f"unknown laws {invariants!r}; choose one of {', '.join(INVARIANTS)}")
    broken = list(columns_agree(structure))
    if broken:
        return broken
    return [violation for invariant in INVARIANTS[invariants] for violation in invariant(structure)]
