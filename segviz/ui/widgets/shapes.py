"""Draws shapes of structures next to published values: one table of trees, one per fact graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from segviz.evaluation.published import (
    CAVEATS,
    SOURCES,
    printed_layers,
    printed_ratio,
    printed_shapes,
)
from segviz.systems.common.published import Reported
from segviz.tree.shape import FactGraph, Layer, Shape
from segviz.ui.widgets.captions import counted, unmarked
from segviz.ui.widgets.charts import table

_KINDS = {"flat": "units alone", "graph": "several parents"}
_FREQUENT = 3


@dataclass(frozen=True, slots=True)
class MemorySummary:
    """Shape of a memory, and measures of its texts.

    ``calls`` is the number of prompts per leaf, None if it is not shown. ``contentless`` is the
    share of lines of inner nodes that have no content, None without inner nodes. ``made`` says
    which share of decisions and texts a model made.
    """

    label: str
    system: str
    shape: Shape
    calls: float | None = None
    contentless: float | None = None
    made: str = ""


def draw_shapes(measured: Sequence[MemorySummary], data: str) -> None:
    """Draws the shapes of memories of one conversation; ``data`` is the format of its file."""
    _trees([one for one in measured if one.shape.facts is None], data)
    for one in measured:
        if one.shape.facts is not None:
            _facts(one, one.shape.facts, data)
    _families(measured)


def _trees(measured: Sequence[MemorySummary], data: str) -> None:
    """Draws the table of trees with those published for the same data."""
    if not measured:
        return
    published = {one.system: printed_shapes(one.system, data) for one in measured}
    printed = [row for one in measured for row in published[one.system]]
    table([*map(_own, measured), *printed], about="Shapes of trees, and of the published ones")
    lines = ["A chain of single-child nodes with the same text counts as one node."]
    if printed:
        lines.append(
            "Published rows are from SegTreeMem's Table 5. They are averages over whole data sets "
            "with other embeddings and models: compare shapes, not ranks."
        )
    if published.get("memtree"):
        lines.append(
            "It counts MemTree's empty root, which is no node here, so depths here are one less."
        )
    st.caption(
        " ".join(lines),
        help="**Depth** of a leaf: edges of the longest path from a root. "
        "**Branching**: mean number of children of inner nodes. **Widest**: most children "
        "of one node; the paper does not report it. **Calls**: prompts that a model answered, "
        "from the server or the cache. **Contentless lines**: share of lines of inner "
        "nodes with fewer than two content words, names of the speakers not counted.",
    )


def _own(one: MemorySummary) -> dict[str, object]:
    """Returns the row of a memory in the table of shapes."""
    shape = one.shape
    return {
        "memory": one.label,
        "kind": _KINDS.get(shape.kind, shape.kind),
        "leaves": shape.leaves,
        "nodes": shape.nodes,
        "nodes/leaf": shape.nodes / shape.leaves if shape.leaves else 0.0,
        "max depth": float(shape.max_depth),
        "mean depth": shape.mean_depth,
        "depth std": shape.depth_std,
        "branching": shape.branching,
        "widest": shape.widest,
        "with several parents": shape.shared or None,
        "calls/leaf": one.calls,
        "contentless lines": one.contentless,
        "made": one.made or None,
    }


def _facts(one: MemorySummary, facts: FactGraph, data: str) -> None:
    """Draws the levels and relations of a graph of facts, with published ratios."""
    published = printed_layers(one.system, data)
    st.markdown(f"**{unmarked(one.label)}**, a graph of facts")
    rows = [_layer(layer, published) for layer in facts.layers]
    table(rows, about=f"{one.label}: nodes by level and kind, and their published ratios")
    size = f"{counted(one.shape.nodes, 'node')} over {counted(one.shape.leaves, 'leaf', 'leaves')}"
    if one.shape.unary:
        size += f"; {one.shape.unary:,} more repeat the text of their only child"
    lines = [f"{size}."]
    if facts.relations:
        lines.append(_relations(facts))
    for row, counts in published.items():
        where = f"{SOURCES[row.source].where}, {row.table}"
        printed = f": {counts['relations']:,.0f} relations" if "relations" in counts else ""
        lines.append(f"{row.data} as in {where}{printed}.")
    lines += dict.fromkeys(CAVEATS[row.source, row.table] for row in published)
    st.caption(
        " ".join(lines),
        help="**Per node below**: nodes of this level for each node of the level below. "
        "**Children**: mean number of children of a node. **Repeat their child**: nodes with one "
        "child and its text.",
    )


def _layer(layer: Layer, published: Mapping[Reported, Mapping[str, float]]) -> dict[str, object]:
    """Returns the row of a level and kind, with its ratio here and as ``published``."""
    return {
        "level": layer.level,
        "kind": layer.kind or "unit",
        "nodes": layer.nodes,
        "per node below": layer.ratio,
        **{
            f"per node below, {row.data}": printed_ratio(counts, layer)
            for row, counts in published.items()
        },
        "children": layer.children if layer.below else None,
        "with one child": layer.single or None,
        "repeat their child": layer.repeats or None,
    }


def _relations(facts: FactGraph) -> str:
    total = sum(number for _, number in facts.relations)
    named = [f"{number:,} “{unmarked(label)}”" for label, number in facts.relations[:_FREQUENT]]
    others = sum(number for _, number in facts.relations[_FREQUENT:])
    if others:
        named.append(f"{others:,} others")
    return f"{counted(total, 'relation')}: {', '.join(named)}."


def _families(measured: Sequence[MemorySummary]) -> None:
    """Draws the trees of memories with several roots."""
    rows = [
        {
            "memory": one.label,
            "root": family.kind or "topic or unit",
            "trees": family.trees,
            "leaves or items": family.items,
            "mean depth": family.mean_depth,
            "depth std": family.depth_std,
            "max depth": family.max_depth,
        }
        for one in measured
        for family in one.shape.families
    ]
    if rows:
        st.markdown("**Trees of memories with several roots**")
        table(rows, about="Trees by the kind of their roots: how many, how large, how deep")
        st.caption(
            "The depth of a tree is its longest path. If every node has one parent, leaves are "
            "counted, otherwise the items of a root (MemForest's facts and cells)."
        )
