"""Draws the structure as a node-link diagram with pyvis.

A node's position follows from its span and level; nodes do not move.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap

import numpy as np

from segviz.tree import Structure
from segviz.tree.structure import reachable
from segviz.view.captions import units_text
from segviz.view.palette import MEANINGS, SMALLEST_TEXT

# pyvis' in-line mode still links a style sheet and a script on a CDN. The drawing does
# not need them, and nothing segviz shows may cause a request.
_CDN_TAGS = re.compile(
    r"<link\b[^>]*\bhref=\"https?://[^>]*>|<script\b[^>]*\bsrc=\"https?://[^>]*>\s*</script>",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_COLUMN = 26
# Rows are spaced so that the whole drawing is about this much wider than high.
_ASPECT = 2.2
# The frame is about this many pixels wide; the drawing library fits the drawing into it.
_FRAME = 1000
_SMALLEST, _BIGGEST = 8.0, 26.0
# A letter is about this many pixels wide, a line of labels this high.
_LETTER, _LINE = 7, 15
_SHORTEST = 8  # letters of a line, so that not every word has its own


@dataclass(frozen=True, kw_only=True)
class Page:
    """Page of a node-link drawing, with colours as ``#rrggbb``, and its height in pixels.

    ``accent`` and ``gold_colour`` are borders of retrieved nodes and of gold evidence. Of more
    nodes than ``limit`` marked, gold and selected ones with their ancestors are always drawn, then
    the highest; the caller must report how many are missing.
    """

    background: str
    foreground: str
    accent: str = MEANINGS["light"]["enters"]
    gold_colour: str = MEANINGS["light"]["gold"]
    height: int = 560
    limit: int = 1500


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Names (numbers if empty), scores and marks of the nodes of a node-link drawing.

    With ``scores``, the colours of ``ramp``, from low to high, replace those of the nodes, by the
    share of the highest score or, with ``root``, its square root. Retrieved and selected nodes have
    thick borders, nodes of gold evidence are diamonds.
    """

    names: Sequence[str] = ()
    scores: Sequence[float] | None = None
    ramp: Sequence[str] = ()
    root: bool = True
    retrieved: Collection[int] = ()
    gold: Collection[int] = ()
    ended: Mapping[int, str] = field(default_factory=dict)
    selected: int | None = None


def node_link_html(
    structure: Structure, node_colours: Sequence[str], page: Page, marks: Marks
) -> tuple[str, int]:
    """Returns an HTML page, without other files, that draws a structure, and its number of nodes.

    ``node_colours`` has one CSS colour per node.
    """
    from pyvis.network import Network  # slow to import, so only on use

    selected = () if marks.selected is None else (marks.selected,)
    scores, gold, foreground = marks.scores, marks.gold, page.foreground
    special = {*marks.retrieved, *gold, *selected}
    shown = _drawn_nodes(structure, page.limit, special)
    # The units of the drawing: a column per unit, a row per level, and one pixel on the screen,
    # once the drawing is fitted into its frame.
    top = max(1, int(structure.level[shown].max(initial=0)))
    width = int(structure.stop.max(initial=1)) * _COLUMN
    row = max(_COLUMN, 240 / top, width / _ASPECT / top)
    pixel = max(1.0, width / _FRAME, top * row / page.height)
    most = max(
        (score for score in (() if scores is None else scores) if math.isfinite(score)), default=0.0
    )
    net = Network(
        height=f"{page.height}px",
        width="100%",
        directed=True,
        cdn_resources="in_line",
        bgcolor=page.background,
    )
    # Later nodes are drawn on top. Ids are strings, because JavaScript would sort numbers.
    for node in sorted(shown, key=lambda node: node in special):
        level, start, stop = (
            int(column[node]) for column in (structure.level, structure.start, structure.stop)
        )
        span = (stop - start) * _COLUMN
        # Nodes on higher levels are larger, but lie within their span and row.
        biggest = min(max(_BIGGEST, 9 * pixel), 0.3 * row) - _SMALLEST
        size = max(_SMALLEST, min(_SMALLEST + biggest * (level / top), 0.45 * span))
        # The label, where it has room, and the lines of the tooltip.
        name = marks.names[node] if marks.names else ""
        label = _lines(name or str(node), int(span / (_LETTER * pixel)) - 1, row / pixel)
        if not level:
            label = " "
        about = [f"level {level} · {units_text(start, stop)} · node {node}"]
        if name:
            about.insert(0, name)
        colour = node_colours[node]
        if scores is not None:
            about.append(f"score {scores[node]:.4g}")
            if marks.ramp:
                # Without a score above 0 a node has the first colour of the ramp.
                share = min(1.0, scores[node] / most) if scores[node] > 0 and most > 0 else 0.0
                share **= 0.5 if marks.root else 1.0
                colour = marks.ramp[round(share * (len(marks.ramp) - 1))]
        # The colour of the lowest scores is nearly the background: a thin line shows the node.
        faint = scores is not None and size >= 3 * pixel
        border, thickness = f"{foreground}59" if faint else colour, 1.0
        for nodes, what, line in (
            (marks.ended, marks.ended.get(node, ""), foreground),
            (gold, "gold evidence", page.gold_colour),
            (marks.retrieved, "retrieved", page.accent),
            (selected, "selected", foreground),
        ):
            if node in nodes:
                about.append(what)
                border, thickness = line, 2.5
                size = max(size, 6 * pixel)
        # Hovering and clicking change no colour, because colours have a meaning.
        state = {"background": colour, "border": border}
        net.add_node(
            f"n{node}",
            label=label,
            title="\n".join([" · ".join(about), structure.text[node][:300]]),
            x=(start + stop) / 2 * _COLUMN,
            y=-level * row,
            physics=False,
            shape="diamond" if node in gold else "dot",
            size=size,
            color={**state, "highlight": state, "hover": state},
            borderWidth=thickness,
            borderWidthSelected=max(thickness, 2.0),
            shapeProperties={"borderDashes": [4, 3] if node in marks.ended else False},
            font={"size": SMALLEST_TEXT * pixel, "color": foreground},
        )
    # The edges between the drawn nodes, thin and without arrows.
    drawn = set(shown)
    net.add_edges([(f"n{p}", f"n{c}") for p, c in structure.edges.tolist() if {p, c} <= drawn])
    for edge in net.edges:
        edge.update(
            arrows="", color={"color": foreground, "opacity": 0.35}, smooth=False, width=0.7 * pixel
        )
    net.toggle_physics(False)
    net.options.interaction.hover = True
    html = _CDN_TAGS.sub("", net.generate_html(notebook=False))
    style = _style(page.background, foreground)
    return html.replace("</head>", f"{style}</head>", 1), len(shown)


def _lines(text: str, letters: int, height: float) -> str:
    """Breaks a text between words into lines of so many letters; " " if a row is too low."""
    lines = wrap(text, max(1, letters), break_long_words=False)
    fits = letters >= min(_SHORTEST, len(text)) and all(len(line) <= letters for line in lines)
    return "\n".join(lines) if fits and 24 + _LINE * (len(lines) - 1) < height else " "


def _drawn_nodes(structure: Structure, limit: int, special: Collection[int]) -> list[int]:
    """Returns about ``limit`` active nodes: special ones with their ancestors, then the highest."""
    nodes = np.flatnonzero(structure.active).tolist()
    if len(nodes) <= limit:
        return nodes
    drawn = reachable(structure.parents, (node for node in special if structure.active[node]))
    highest = sorted(nodes, key=lambda node: (-int(structure.level[node]), node))
    for node in highest:
        if len(drawn) >= limit:
            break
        drawn.add(node)
    return sorted(drawn)


def _style(background: str, foreground: str) -> str:
    """Returns CSS with the colours of the page, in place of pyvis' white page and frames."""
    for colour in (background, foreground):
        if not _COLOUR.fullmatch(colour):
            raise ValueError(f"{colour!r} is no colour of the page; expected #rrggbb")
    return (
        f"<style>html,body{{margin:0;background:{background};color:{foreground}}}"
        "h1,center{display:none}"
        "body .card{border:0;margin:0;padding:0;background:none}"
        "body #mynetwork{float:none;border:0;margin:0;padding:0}"
        "body div.vis-tooltip{max-width:420px;white-space:pre-wrap;overflow-wrap:anywhere;"
        f"background:{background};color:{foreground};border-color:{foreground};"
        "border-radius:4px;font:12px/1.4 sans-serif}</style>"
    )
