"""The structure as a node-link diagram: networkx for the graph, pyvis for the drawing.

Positions are a pure function of span and level, physics is off, nothing moves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import networkx as nx
from pyvis.network import Network

from segviz.structure import Structure

# pyvis' in-line mode still links a style sheet and a script on a CDN. The drawing does
# not need them, and nothing segviz shows may cause a request.
_CDN_TAGS = re.compile(
    r"<link\b[^>]*\bhref=\"https?://[^>]*>|<script\b[^>]*\bsrc=\"https?://[^>]*>\s*</script>",
    re.IGNORECASE,
)
_COLUMN = 26
# Rows are spaced so that the whole drawing is about this much wider than high.
_ASPECT = 2.2


def graph(structure: Structure) -> nx.DiGraph:
    """A directed graph, parent to child, with node attributes level, start, stop, text.

    Retired nodes are left out.
    """
    result = nx.DiGraph()
    for node in range(len(structure)):
        if structure.active[node]:
            result.add_node(
                node,
                level=int(structure.level[node]),
                start=int(structure.start[node]),
                stop=int(structure.stop[node]),
                text=structure.text[node],
            )
    result.add_edges_from((int(p), int(c)) for p, c in structure.edges)
    return result


def node_link_html(
    structure: Structure,
    node_colours: Sequence[str],
    *,
    background: str,
    foreground: str,
    height: int = 560,
    limit: int = 1500,
) -> tuple[str, int]:
    """One self-contained HTML page and the number of nodes it shows.

    ``node_colours`` gives one CSS colour per node. Beyond ``limit`` nodes the highest
    levels are kept, level by level, and the caller must say how many are shown. Texts
    reach the page as JSON strings shown by the drawing library as plain text.
    """
    shown = _highest(structure, limit)
    drawing = graph(structure).subgraph(shown)
    width = int(structure.stop.max(initial=1)) * _COLUMN
    row = max(80.0, width / _ASPECT / max(1, int(structure.level.max(initial=0))))
    net = Network(
        height=f"{height}px",
        width="100%",
        directed=True,
        cdn_resources="in_line",
        bgcolor=background,
        font_color=foreground,
    )
    for node, data in drawing.nodes(data=True):
        middle = (data["start"] + data["stop"]) / 2
        units = f"units {data['start']}–{data['stop'] - 1}"
        net.add_node(
            node,
            label=str(node) if data["level"] else " ",
            title=f"node {node} · level {data['level']} · {units}\n{data['text'][:300]}",
            x=middle * _COLUMN,
            y=-data["level"] * row,
            physics=False,
            shape="dot",
            size=8 + 5 * data["level"],
            color=node_colours[node],
        )
    net.add_edges([(int(p), int(c)) for p, c in drawing.edges])
    for edge in net.edges:
        edge.update(arrows="", color={"color": foreground, "opacity": 0.35}, smooth=False)
    net.toggle_physics(False)
    net.options.interaction.hover = True
    return _CDN_TAGS.sub("", net.generate_html(notebook=False)), len(shown)


def _highest(structure: Structure, limit: int) -> list[int]:
    """Active nodes, or the ``limit`` highest of them (older first within a level)."""
    nodes = [node for node in range(len(structure)) if structure.active[node]]
    if len(nodes) <= limit:
        return nodes
    return sorted(nodes, key=lambda node: (-int(structure.level[node]), node))[:limit]
