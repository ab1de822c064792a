"""The families of a forest: its trees with their sizes, and what of them a step touched.

A tree is known by its root, whose facts ``label`` and ``items`` say what it is about and how
many items (level 1) it holds; the root's kind is its family.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from segviz.figures.layout import framed
from segviz.figures.levels import level_name
from segviz.figures.windows import fact
from segviz.steps import Add, Event, Revise
from segviz.structure import Structure

_ROW = 56


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree: its root, family, label, number of items, and its nodes above them from the
    root down."""

    root: int
    family: str
    label: str
    items: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One level of a forest: its nodes, those a step wrote (new or with another text), and
    those whose text is out of date after it."""

    level: int
    nodes: int
    written: int
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
                round(fact(facts, "items")),
                _above_items(structure, root),
            )
            found.setdefault(tree.family, []).append(tree)
    return found


def _above_items(structure: Structure, root: int) -> tuple[int, ...]:
    inner = [root]
    for node in inner:
        inner += [child for child in structure.children[node] if structure.level[child] > 1]
    return tuple(inner)


def written(before: Structure, after: Structure, events: Sequence[Event]) -> set[int]:
    """Nodes that ``events``, between two moments, made or gave another text."""
    touched = {event.node for event in events if isinstance(event, Add | Revise)}
    known = len(before)
    return {n for n in touched if n >= known or before.text[n] != after.text[n]}


def effort(
    structure: Structure, forest: dict[str, list[Tree]], fresh: Collection[int]
) -> tuple[Row, ...]:
    """What of the trees was written, by level from low to high."""
    levels: dict[int, list[int]] = {}
    for tree in _all(forest):
        for node in tree.nodes:
            levels.setdefault(int(structure.level[node]), []).append(node)
    return tuple(
        Row(
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
    return sum(len(structure.children[n]) > 1 for tree in _all(forest) for n in tree.nodes)


def dirty_paths(
    forest: dict[str, list[Tree]], fresh: Collection[int]
) -> list[tuple[Tree, tuple[int, ...]]]:
    """The trees a step wrote in, with the nodes it wrote from the root down."""
    paths = [(tree, tuple(n for n in tree.nodes if n in fresh)) for tree in _all(forest)]
    return [(tree, path) for tree, path in paths if path]


def _all(forest: dict[str, list[Tree]]) -> list[Tree]:
    return [tree for trees in forest.values() for tree in trees]


def families_figure(
    forest: dict[str, list[Tree]],
    fresh: Collection[int],
    *,
    accent: str,
    neutral: str,
    empty: str,
    ground: str,
) -> go.Figure:
    """A strip per family: a piece per tree, as wide as the tree has items, oldest left; those
    the step wrote in are in ``accent`` and hatched."""
    figure = go.Figure()
    series = (
        ("as it was", False, empty, ""),
        ("written in by this step", True, accent, "/"),
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
                    "color": colour,
                    "line": {"width": 1, "color": neutral if not touched else ground},
                    "pattern": {"shape": pattern, "size": 5, "solidity": 0.3},
                },
                # Labels hold words of the conversation; Plotly reads some markup in text.
                text=[_literal(tree.label) for _, _, tree in rows],
                textposition="inside",
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


def effort_sentence(rows: Sequence[Row], whole: int, texts: int, names: Sequence[str]) -> str:
    """What the step wrote of all nodes, by level, against making everything anew."""
    nodes, fresh = sum(row.nodes for row in rows), sum(row.written for row in rows)
    parts = [
        f"{level_name(row.level, names)} {row.written} of {row.nodes}" for row in rows if row.written
    ]
    told = f"{fresh} of {nodes:,} nodes above items were written in this step"
    told += f" ({', '.join(parts)})" if parts else ""
    waiting = sum(row.waiting for row in rows)
    wait = f" {waiting} wait to be written." if waiting else ""
    return f"{told}; it took {texts} texts, a full rebuild would write {whole:,}.{wait}"


def _literal(label: str) -> str:
    return label.replace("&", "&amp;").replace("<", "&lt;")
