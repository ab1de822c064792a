"""A view as one SVG picture: the icicle on its time axis, with everything that explains it.

Only elements, attributes and escaped text: no script, style sheet, font or image is
referred to. Every drawn node carries its place, scores and text in a ``title``, which
browsers show when the pointer rests on it. Boxes too fine to be seen are merged by column,
and the picture then says how many of the nodes it shows.
"""

from __future__ import annotations

from segviz.export.drawing import drawing
from segviz.export.elements import rect, tag
from segviz.export.frame import axis, head, margin
from segviz.export.layout import Box, boxes
from segviz.export.legend import legend
from segviz.export.marks import marks
from segviz.export.plan import WIDTH, Plan
from segviz.export.shades import Fill, halves
from segviz.export.text import legal, one_line
from segviz.export.view import View
from segviz.systems.levels import level_name, level_names

_TEXT_LENGTH = 300


def tree_svg(view: View, *, dark: bool = False, titles: bool = True) -> str:
    """The picture of a view as an SVG 1.1 document without XML declaration.

    On Ask, initial scores stand above the axis and propagated ones below; on Grow, nodes
    have their sessions' colours; unless the view was coloured by something else. Without
    ``titles`` the nodes carry no text.
    """
    plan = Plan(drawing(view), dark)
    body: list[str] = []
    drawn = 0
    for half, (name, weight, fill) in enumerate(halves(plan)):
        found = boxes(plan.structure, plan.rows, plan.units, plan.plot, weight.tolist())
        drawn = len(found)
        body += ["<g>", *(_node(plan, half, box, fill, titles) for box in found), "</g>"]
        body += [*marks(plan, half, {box.node: box for box in found}), *margin(plan, half, name)]
    about = ". ".join(f"{name}: {value}" for name, value in view.setting)
    size = f'width="{WIDTH}" height="{plan.height}" viewBox="0 0 {WIDTH} {plan.height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} '
            'font-family="system-ui, sans-serif" font-size="12">',
            tag("title", one_line(view.heading, 2_000)),
            tag("desc", one_line(about, 4_000)),
            rect(0, 0, WIDTH, plan.height, fill=plan.background),
            '<g class="head">',
            *head(plan, drawn),
            "</g>",
            *body,
            *axis(plan),
            *legend(plan),
            "</svg>\n",
        ]
    )


def _node(plan: Plan, half: int, box: Box, fill: Fill, titles: bool) -> str:
    node = int(plan.drawing.node[box.node])
    title = [tag("title", _about(plan.view, node))] if titles else []
    return "".join([f'<g data-node="{node}">', *title, *fill(box, plan.y(half, box)), "</g>"])


def _about(view: View, node: int) -> str:
    structure, result = view.structure, view.result
    start, stop = int(structure.start[node]), int(structure.stop[node])
    where = f"unit {start}" if stop - start == 1 else f"units {start}–{stop - 1}"
    kind = f" · {one_line(structure.kind[node], 80)}" if structure.kind[node] else ""
    level = level_name(int(structure.level[node]), level_names(view.memory.system))
    lines = [f"node {node} · {level} · {where}{kind}"]
    if result is not None:
        before, after = result.score_names
        for name, scores, top in (
            (before, result.initial, result.before),
            (after, result.final, result.after),
        ):
            rank = f" (rank {top.index(node) + 1})" if node in top else ""
            lines.append(f"{name} {scores[node]:.3g}{rank}")
    if node in view.gold.leaves:
        lines.append("gold evidence")
    text = legal(structure.text[node])
    lines.append(text if len(text) <= _TEXT_LENGTH else text[:_TEXT_LENGTH] + "…")
    return "\n".join(lines)
