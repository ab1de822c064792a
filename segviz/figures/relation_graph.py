"""Draws the relations between nodes, other than parenthood, as a node-link diagram.

Positions are computed once from the relations with a fixed seed; physics is off, nothing moves
and the page makes no network request.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from segviz.figures.node_link import network, node_colour, offline_page
from segviz.tree import Relate, Structure, as_number

SHAPES = {
    "●": "dot",
    "■": "square",
    "▲": "triangle",
    "◆": "diamond",
    "★": "star",
    "▼": "triangleDown",
}
"""How types of nodes are told apart beside their colour, the commonest first; further types
share the last."""

_SPACE = (210.0, 110.0)  # width and height for one node
_SEED = 7
_LABELLED = 25


@dataclass(frozen=True, slots=True)
class Tie:
    """All relations from one node to another: their labels with weights, heaviest first."""

    source: int
    target: int
    labels: tuple[tuple[str, float], ...]

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return sum(weight for _, weight in self.labels)


def ties(structure: Structure) -> tuple[Tie, ...]:
    """The relations of a memory by the pairs they join, heaviest first."""
    found: dict[tuple[int, int], list[Relate]] = defaultdict(list)
    for relation in structure.relations:
        found[relation.source, relation.target].append(relation)
    made = [
        Tie(*pair, tuple((r.label, r.weight) for r in sorted(row, key=lambda r: -r.weight)))
        for pair, row in found.items()
    ]
    return tuple(sorted(made, key=lambda tie: (-tie.weight, tie.source, tie.target)))


def related(structure: Structure) -> tuple[int, ...]:
    """Nodes with relations, those with the heaviest first."""
    weight: dict[int, float] = defaultdict(float)
    for tie in ties(structure):
        weight[tie.source] += tie.weight
        weight[tie.target] += tie.weight
    return tuple(sorted(weight, key=lambda node: (-weight[node], node)))


def around(structure: Structure, node: int) -> tuple[int, ...]:
    """A node and those it is related to, itself first, then the heaviest."""
    near = {tie.source for tie in ties(structure) if tie.target == node}
    near |= {tie.target for tie in ties(structure) if tie.source == node}
    return node, *(other for other in related(structure) if other in near and other != node)


def node_name(structure: Structure, node: int) -> str:
    """The name of a node: its fact ``name``, else the first line of its text."""
    name = structure.facts[node].get("name")
    first = structure.text[node].split("\n", 1)[0]
    return " ".join(str(name if name is not None else first).split())[:40]


def types(structure: Structure, nodes: Sequence[int]) -> dict[str, str]:
    """The types of these nodes (fact ``type``, else kind), the commonest first, each with
    the mark that stands for it."""
    count = Counter(_type(structure, node) for node in nodes)
    ordered = sorted(count, key=lambda name: (-count[name], name))
    marks = list(SHAPES)
    return {name: marks[min(i, len(marks) - 1)] for i, name in enumerate(ordered)}


def _type(structure: Structure, node: int) -> str:
    return str(structure.facts[node].get("type") or structure.kind[node] or "node")


def relation_html(
    structure: Structure,
    nodes: Sequence[int],
    *,
    palette: Sequence[str],
    background: str,
    foreground: str,
    accent: str,
    height: int = 540,
    selected: int | None = None,
) -> str:
    """One self-contained page with ``nodes`` and all relations between them.

    A node's size follows how often it is mentioned, a line's width the weight of its
    relations; labels stand on the heaviest lines, all of them under the pointer. Names
    reach the page as JSON strings drawn as plain text. Colours are ``#rrggbb``,
    ``palette`` one for each of their :func:`types`; the node
    ``selected`` has a border in ``accent``.
    """
    shown = set(nodes)
    drawn = [tie for tie in ties(structure) if {tie.source, tie.target} <= shown]
    places = _positions(nodes, drawn)
    marks = types(structure, nodes)
    colours = dict(zip(marks, palette, strict=True))
    most = max((_mentions(structure, node) for node in nodes), default=1)
    net = network(height, background)
    for node in nodes:
        kind = _type(structure, node)
        colour = colours[kind]
        border = accent if node == selected else colour
        mentions = _mentions(structure, node)
        net.add_node(
            f"n{node}",
            label=node_name(structure, node),
            title=f"node {node} · {kind} · mentions: {mentions:g}\n{structure.text[node][:300]}",
            x=places[node][0],
            y=places[node][1],
            physics=False,
            shape=SHAPES[marks[kind]],
            size=6 + 13 * (mentions / most) ** 0.5,
            color=node_colour(colour, border),
            borderWidth=3 if node == selected else 1,
            font={"size": 14, "color": foreground, "strokeWidth": 3, "strokeColor": background},
        )
    heaviest = drawn[0].weight if drawn else 1.0
    for rank, tie in enumerate(drawn):
        net.add_edge(
            f"n{tie.source}",
            f"n{tie.target}",
            label=_label(tie) if rank < _LABELLED else " ",
            title="\n".join(f"{label} × {weight:g}" for label, weight in tie.labels),
            width=0.8 + 4 * (tie.weight / heaviest) ** 0.5,
            color={"color": foreground, "opacity": 0.4},
            smooth=False,
            font={
                "size": 10,
                "color": foreground,
                "strokeWidth": 3,
                "strokeColor": background,
                "align": "middle",
            },
        )
    for edge in net.edges:
        edge["arrows"] = {"to": {"enabled": True, "scaleFactor": 0.5}}
    return offline_page(net, background, foreground)


def _mentions(structure: Structure, node: int) -> float:
    return max(1.0, as_number(structure.facts[node], "mentions"))


def _label(tie: Tie) -> str:
    label, weight = tie.labels[0]
    often = f" × {weight:g}" if weight != 1 else ""
    more = f" +{len(tie.labels) - 1}" if len(tie.labels) > 1 else ""
    return f"{label[:24]}{often}{more}"


def _positions(nodes: Sequence[int], drawn: Sequence[Tie]) -> dict[int, tuple[float, float]]:
    """The position of each node. Every connected component is laid out by springs with a fixed
    seed; components stand in rows, largest first, as springs would drive them apart."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from((tie.source, tie.target) for tie in drawn)
    parts = sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part)))
    found: dict[int, tuple[float, float]] = {}
    left = top = row = 0.0
    for part in parts:
        ordered = sorted(part)
        width, height = _SPACE[0] * len(part) ** 0.5, _SPACE[1] * len(part) ** 0.5
        if left and left + width > _SPACE[0] * len(parts[0]) ** 0.5 + 1:
            left, top, row = 0.0, top + row, 0.0
        local = nx.Graph()
        local.add_nodes_from(ordered)
        local.add_edges_from(graph.subgraph(part).edges)
        # Weights would pull everything onto the few nodes all others are related to.
        places = nx.spring_layout(
            local, k=5 / len(part) ** 0.5, iterations=300, seed=_SEED, weight=None
        )
        for node, (x, y) in places.items():
            across, down = left + width * (1 + float(x)) / 2, top + height * (1 + float(y)) / 2
            found[node] = round(across, 1), round(down, 1)
        left, row = left + width, max(row, height)
    return found
