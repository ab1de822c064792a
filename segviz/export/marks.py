"""What is marked in a picture: frontier and news, retrieved nodes, selection, gold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from segviz.export.elements import polygon, rect
from segviz.export.layout import Box
from segviz.export.plan import LEFT, Plan


def marks(plan: Plan, half: int, found: Mapping[int, Box]) -> Iterable[str]:
    """The marks of one half; ``found`` are the boxes drawn, by node."""
    if plan.result is None:
        yield from _grown(plan, found)
    else:
        top = plan.result.after if half else plan.result.before
        for node in plan.drawing.first(top):
            if node in found:
                yield _outline(plan, half, found[node], plan.accent, 2.0)
    selected = plan.drawing.selected
    if selected is not None and selected in found:
        yield _outline(plan, half, found[selected], plan.foreground, 2.5)
    for node in plan.gold:
        if node in found:
            box = found[node]
            middle = plan.y(half, box) + box.height / 2
            yield diamond(plan, LEFT + box.x + box.width / 2, middle)


def _grown(plan: Plan, found: Mapping[int, Box]) -> Iterable[str]:
    drawn = plan.drawing
    edge = set(drawn.frontier)
    for node in drawn.frontier:
        if node in found:
            yield _outline(plan, 0, found[node], plan.foreground, 1.5)
    for nodes, dash in ((drawn.revised, "3 2"), (drawn.added, "")):
        for node in nodes:
            if node in found:
                inset = 2.5 if node in edge else 0.0
                yield _outline(plan, 0, found[node], plan.accent, 1.5, dash, inset)


def _outline(
    plan: Plan,
    half: int,
    box: Box,
    colour: str,
    line: float,
    dash: str = "",
    inset: float = 0.0,
) -> str:
    """A frame inside the box; where it is too narrow for one, a triangle that points at it
    from outside."""
    x, y = LEFT + box.x, plan.y(half, box)
    if box.width >= 8 + 2 * line and box.height >= 4 * line:
        return rect(
            x + inset + line / 2,
            y + inset + line / 2,
            box.width - 1 - line - 2 * inset,
            box.height - 1 - line - 2 * inset,
            fill="none",
            stroke=colour,
            stroke_width=line,
            stroke_dasharray=dash or None,
        )
    centre, edge, out = x + box.width / 2, y + (box.height if half else 0), 6 if half else -6
    points = ((centre, edge), (centre - 4.5, edge + out), (centre + 4.5, edge + out))
    fill, border = (plan.background, colour) if dash else (colour, plan.background)
    return polygon(points, fill=fill, stroke=border)


def diamond(plan: Plan, x: float, y: float) -> str:
    """The sign of gold evidence, centred at a point."""
    points = ((x, y - 4.5), (x + 4.5, y), (x, y + 4.5), (x - 4.5, y))
    return polygon(points, fill=plan.background, stroke=plan.foreground)
