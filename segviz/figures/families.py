"""Draws the trees of a forest by family, and the nodes a step refreshed.

A tree is identified by its root: the facts ``label`` and ``items`` are its topic and its number
of items (level 1), the root's kind is its family.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from segviz.figures.layout import framed
from segviz.systems.levels import level_name
from segviz.tree import Add, Event, Revise, Structure, as_number

_ROW = 56


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree: root, family, label, number of items, and its nodes above the items from the
    root down."""

    root: int
    family: str
    label: str
    items: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LevelEffort:
    """One level of a forest: the number of its nodes, of those a step refreshed, and of those
    whose text is out of date after it."""

    level: int
    nodes: int
    refreshed: int
    waiting: int


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
                _above_items(structure, root),
            )
            found.setdefault(tree.family, []).append(tree)
    return found


def _above_items(structure: Structure, root: int) -> tuple[int, ...]:
    inner = [root]
    for node in inner:
        inner += [child for child in structure.children[node] if structure.level[child] > 1]
    return tuple(inner)


def refreshed(structure: Structure, events: Sequence[Event]) -> set[int]:
    """Nodes of the trees that ``events``, which led to ``structure``, made or brought up to
    date: touched, and not marked to be written later."""
    touched = {event.node for event in events if isinstance(event, Add | Revise)}
    return {n for n in touched if structure.level[n] > 1 and not structure.facts[n].get("dirty")}


def effort(
    structure: Structure, forest: dict[str, list[Tree]], fresh: Collection[int]
) -> tuple[LevelEffort, ...]:
    """Count refreshed nodes of the trees by level, from low to high."""
    levels: dict[int, list[int]] = {}
    for tree in _all_trees(forest):
        for node in tree.nodes:
            levels.setdefault(int(structure.level[node]), []).append(node)
    return tuple(
        LevelEffort(
            level,
            len(nodes),
            sum(node in fresh for node in nodes),
            sum(bool(structure.facts[node].get("dirty")) for node in nodes),
        )
        for level, nodes in sorted(levels.items())
    )


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
    empty: str,
) -> go.Figure:
    """A strip per family: a piece per tree, as wide as the tree has items, oldest left; those
    of which the step refreshed nodes are hatched in ``accent``. Labels are in ``ink``."""
    figure = go.Figure()
    series = (
        ("as it was", False, neutral, ""),
        ("new or refreshed by this step", True, accent, "/"),
    )
    for name, touched, colour, pattern in series:
        rows = []
        for family, trees in forest.items():
            start = 0
            for tree in trees:
                if bool(set(tree.nodes) & set(fresh)) == touched:
                    rows.append((family, start, tree))
                start += tree.items
        figure.add_trace(
            go.Bar(
                name=name,
                orientation="h",
                y=[f"{family} ({len(forest[family])})" for family, _, _ in rows],
                base=[start for _, start, _ in rows],
                x=[tree.items for _, _, tree in rows],
                marker={
                    "color": empty,
                    "line": {"width": 1.5 if touched else 0.5, "color": colour},
                    "pattern": {
                        "shape": pattern,
                        "size": 8,
                        "solidity": 0.22,
                        "fgcolor": colour,
                        "bgcolor": empty,
                    },
                },
                # Labels hold words of the conversation; Plotly reads some markup in text.
                text=[_escaped(tree.label) for _, _, tree in rows],
                textposition="inside",
                insidetextfont={"color": ink},
                insidetextanchor="middle",
                textangle=0,
                customdata=[(tree.items, len(tree.nodes), tree.root) for _, _, tree in rows],
                hovertemplate="%{text}: %{customdata[0]} items under %{customdata[1]} nodes, "
                "root %{customdata[2]}<extra></extra>",
            )
        )
    framed(figure, 90 + _ROW * len(forest), barmode="overlay")
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"})
    figure.update_xaxes(title="items (one item may be in several trees)")
    order = [f"{family} ({len(trees)})" for family, trees in reversed(forest.items())]
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=order)
    return figure


def family_rows(
    forest: dict[str, list[Tree]], paths: Sequence[tuple[Tree, Sequence[int]]]
) -> list[dict[str, str | int]]:
    """The chart as a table, a row for each tree; ``paths`` are those of :func:`dirty_paths`."""
    touched = {tree.root: len(path) for tree, path in paths}
    return [
        {
            "family": tree.family,
            "tree": tree.label,
            "items": tree.items,
            "refreshed nodes": touched.get(tree.root, 0),
        }
        for tree in _all_trees(forest)
    ]


def effort_sentence(
    rows: Sequence[LevelEffort], whole: int, texts: int, names: Sequence[str]
) -> str:
    """The share of nodes the step refreshed, by level, and the texts that rebuilding all trees
    would take; a node with a single child takes none of its own."""
    nodes, fresh = sum(row.nodes for row in rows), sum(row.refreshed for row in rows)
    parts = [
        f"{level_name(row.level, names)}: {row.refreshed} of {row.nodes:,}"
        for row in rows
        if row.refreshed
    ]
    told = f"{fresh} of {nodes:,} nodes above items are new or were refreshed in this step"
    told += f" ({', '.join(parts)})" if parts else ""
    waiting = sum(row.waiting for row in rows)
    wait = f" {waiting} wait to be written." if waiting else ""
    return f"{told}. That took {texts} new texts; a full rebuild would write {whole:,}.{wait}"


def _escaped(label: str) -> str:
    return label.replace("&", "&amp;").replace("<", "&lt;")
