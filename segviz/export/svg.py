"""A view as one SVG picture: the icicle on its time axis, with everything that explains it.

Only elements, attributes and escaped text: no script, style sheet, font or image is
referred to. Every drawn node carries its place, scores and text in a ``title``, which
browsers show when the pointer rests on it. Boxes too fine to be seen are merged by column,
and the picture then says how many of the nodes it shows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from segviz.export.drawing import drawing
from segviz.export.elements import mix, rect, tag
from segviz.export.frame import axis, head, legend, margin
from segviz.export.layout import Box, boxes
from segviz.export.marks import marks
from segviz.export.plan import LEFT, WIDTH, Plan
from segviz.export.text import legal, one_line
from segviz.export.view import View

Fill = Callable[[Box, float], Iterable[str]]

_TEXT_LENGTH = 300


def tree_svg(view: View, *, dark: bool = False, titles: bool = True) -> str:
    """The picture of a view as an SVG 1.1 document without XML declaration.

    On Ask, initial scores stand above the axis and propagated ones below; on Grow, nodes
    have their sessions' colours. Without ``titles`` the nodes carry no text.
    """
    plan = Plan(drawing(view), dark)
    body: list[str] = []
    drawn = 0
    for half, (name, weight, fill) in enumerate(_halves(plan)):
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


def _halves(plan: Plan) -> list[tuple[str, NDArray[np.float64], Fill]]:
    """Name of each half, what makes a node win its column, and how it is filled."""
    result = plan.result
    if result is None:
        weight = np.zeros(len(plan.structure))
        drawn = plan.drawing
        for strength, nodes in enumerate((drawn.frontier, drawn.revised, drawn.added), start=1):
            weight[nodes] = strength
        return [("", weight, _by_session(plan))]
    return [
        (name, scores[plan.drawing.node], _by_score(plan, scores[plan.drawing.node]))
        for name, scores in (("initial", result.initial), ("propagated", result.final))
    ]


def _node(plan: Plan, half: int, box: Box, fill: Fill, titles: bool) -> str:
    node = int(plan.drawing.node[box.node])
    title = [tag("title", _about(plan.view, node))] if titles else []
    return "".join([f'<g data-node="{node}">', *title, *fill(box, plan.y(half, box)), "</g>"])


def _about(view: View, node: int) -> str:
    structure, result = view.structure, view.result
    start, stop = int(structure.start[node]), int(structure.stop[node])
    where = f"unit {start}" if stop - start == 1 else f"units {start}–{stop - 1}"
    kind = f" · {one_line(structure.kind[node], 80)}" if structure.kind[node] else ""
    lines = [f"node {node} · level {int(structure.level[node])} · {where}{kind}"]
    if result is not None:
        for name, scores, top in (
            ("initial", result.initial, result.before),
            ("propagated", result.final, result.after),
        ):
            rank = f" (rank {top.index(node) + 1})" if node in top else ""
            lines.append(f"{name} {scores[node]:.3g}{rank}")
    if node in view.gold:
        lines.append("gold evidence")
    text = legal(structure.text[node])
    lines.append(text if len(text) <= _TEXT_LENGTH else text[:_TEXT_LENGTH] + "…")
    return "\n".join(lines)


def _by_score(plan: Plan, scores: NDArray[np.float64]) -> Fill:
    """By the fourth root of the share of the highest score, as on Ask."""

    def fill(box: Box, y: float) -> Iterable[str]:
        score = scores[box.node]
        share = min(1.0, score / plan.most) ** 0.25 if score > 0 and plan.most > 0 else 0.0
        place = share * (len(plan.ramp) - 1)
        low = min(len(plan.ramp) - 2, int(place))
        colour = mix(plan.ramp[low + 1], plan.ramp[low], place - low)
        yield _box(box.x, box.width, y, box.height, colour)

    return fill


def _by_session(plan: Plan) -> Fill:
    """One rectangle for each session a node runs through, paler the higher its level."""
    levels = len(plan.rows.nodes)
    begins = [begin for begin, _, _ in plan.runs]

    def fill(box: Box, y: float) -> Iterable[str]:
        strength = 1 - int(plan.structure.level[box.node]) * min(0.15, 0.62 / max(1, levels - 1))
        end = box.x + box.width
        x, at = box.x, bisect_right(begins, int(plan.structure.start[box.node])) - 1
        while x < end and at < len(plan.runs):
            _, stop, session = plan.runs[at]
            last = stop >= plan.structure.stop[box.node]
            right = end if last else min(end, stop * plan.scale)
            full = plan.session_colours[session] if session >= 0 else plan.muted
            colour = mix(full, plan.background, strength)
            yield _box(x, right - x, y, box.height, colour, seam=last)
            x, at = right, at + 1

    return fill


def _box(x: float, width: float, y: float, height: float, fill: str, seam: bool = True) -> str:
    """A filled box, with a seam to its right and below where there is room for one."""
    gap = 1.0 if seam and width >= 4 else 0.0
    return rect(LEFT + x, y, width - gap, height - (1.0 if height >= 4 else 0.0), fill=fill)
