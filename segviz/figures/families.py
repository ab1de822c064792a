"""Draws the trees of a forest by family, and the nodes a step refreshed.

A tree is identified by its root: the facts ``label`` and ``items`` are its topic and its number
of items (level 1), the root's kind is its family.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from segviz.figures.lanes import Bar, lanes_figure
from segviz.loaders.captions import counted
from segviz.tree import Add, Event, Revise, Structure, as_number
from segviz.tree.structure import above_items


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree: root, family, label, number of items, and its nodes above the items from the
    root down."""

    root: int
    family: str
    label: str
    items: int
    nodes: tuple[int, ...]


def families(structure: Structure) -> dict[str, list[Tree]]:
    """The trees of each family, oldest first; empty for a memory that is no forest."""
    found: dict[str, list[Tree]] = {}
    for root in structure.roots:
        facts = structure.facts[root]
        if structure.kind[root] and "label" in facts and "items" in facts:
            tree = Tree(
                root,
                structure.kind[root],
                str(facts["label"]),
                round(as_number(facts, "items")),
                tuple(above_items(structure.children, structure.level.tolist(), root)),
            )
            found.setdefault(tree.family, []).append(tree)
    return found


def refreshed(structure: Structure, events: Sequence[Event]) -> set[int]:
    """Nodes of the trees that ``events``, which led to ``structure``, made or brought up to
    date: touched, and not marked to be written later."""
    touched = {event.node for event in events if isinstance(event, Add | Revise)}
    return {n for n in touched if structure.level[n] > 1 and not structure.facts[n].get("dirty")}


def rebuild(structure: Structure, forest: dict[str, list[Tree]]) -> int:
    """Texts that would have to be written to make all trees anew: one per node of more than
    one child, as a single child's text is passed on."""
    return sum(len(structure.children[n]) > 1 for tree in _all_trees(forest) for n in tree.nodes)


def dirty_paths(
    forest: dict[str, list[Tree]], fresh: Collection[int]
) -> list[tuple[Tree, tuple[int, ...]]]:
    """The trees with nodes a step refreshed, and these nodes from the root down."""
    paths = [(tree, tuple(n for n in tree.nodes if n in fresh)) for tree in _all_trees(forest)]
    return [(tree, path) for tree, path in paths if path]


def _all_trees(forest: dict[str, list[Tree]]) -> list[Tree]:
    return [tree for trees in forest.values() for tree in trees]


def families_figure(
    forest: dict[str, list[Tree]],
    fresh: Collection[int],
    *,
    accent: str,
    neutral: str,
    ink: str,
) -> go.Figure:
    """A lane per family: a bar per tree, as wide as the tree has items, oldest left; those of
    which the step refreshed nodes are marked. Labels are in ``ink``."""
    bars = []
    for family, trees in reversed(forest.items()):
        start = 0
        for tree in trees:
            about = f"{tree.label}: {tree.items} items under {len(tree.nodes)} nodes, "
            bars.append(
                Bar(
                    f"{family} ({len(trees)})",
                    start,
                    tree.items,
                    tree.label,
                    f"{about}root {tree.root}",
                    marked=bool(set(tree.nodes) & set(fresh)),
                )
            )
            start += tree.items
    return lanes_figure(
        bars,
        accent=accent,
        neutral=neutral,
        ink=ink,
        marked="new or refreshed by this step",
        title="items (one item may be in several trees)",
    )


def family_rows(
    forest: dict[str, list[Tree]], paths: Sequence[tuple[Tree, Sequence[int]]]
) -> list[dict[str, str | int]]:
    """The chart as a table, a row for each tree, refreshed ones first; ``paths`` are those of
    :func:`dirty_paths`."""
    touched = {tree.root: path for tree, path in paths}
    return [
        {
            "family": tree.family,
            "tree": tree.label,
            "items": tree.items,
            "nodes": len(tree.nodes),
            "refreshed": len(touched.get(tree.root, ())),
            "from the root down": " › ".join(map(str, touched.get(tree.root, ()))),
        }
        for tree in sorted(_all_trees(forest), key=lambda tree: tree.root not in touched)
    ]


def effort_sentence(
    structure: Structure, forest: dict[str, list[Tree]], fresh: Collection[int], texts: int
) -> str:
    """The share of nodes above items a step refreshed by ``texts`` new texts, how many wait to be
    written, and the texts that rebuilding all trees would take; a node with a single child takes
    none of its own."""
    paths = dirty_paths(forest, fresh)
    nodes = [node for tree in _all_trees(forest) for node in tree.nodes]
    told = f"{len(fresh)} of {len(nodes):,} nodes above items are new or were refreshed"
    waiting = sum(bool(structure.facts[node].get("dirty")) for node in nodes)
    wait = f" {waiting} wait to be written." if waiting else ""
    return (
        f"{told} in this step, in {counted(len(paths), 'tree')}. That took {texts} new texts; a "
        f"full rebuild would write {rebuild(structure, forest):,}.{wait}"
    )
