"""What the boxes of a picture are filled with: what the view was coloured by.

As on the canvas (tree_shades.js): where the view cannot show the choice, sessions on Grow and
each half's own score on Ask.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from segviz.export.elements import mix, number, rect, tag
from segviz.export.layout import Box
from segviz.export.plan import LEFT, Plan
from segviz.tree.coherence import coherence
from segviz.view.palette import (
    CHANGE_RAMP_DARK,
    CHANGE_RAMP_LIGHT,
    GOLD_COLOURS,
    LEVEL_COLOURS,
    LEVEL_SHARE,
    MEASURE_RAMP_DARK,
    MEASURE_RAMP_LIGHT,
)

Fill = Callable[[Box, float], Iterable[str]]
Half = tuple[str, NDArray[np.float64], Fill]

GOLD_ORDER = ("other", "above", "found", "covered", "missed")
"""From what loses its column to what wins it."""


def shade(plan: Plan) -> str:
    """What the picture is coloured by: a name of ``frontend.look.COLOURS``, or "scores"."""
    chosen, result = plan.view.bookmark.colour, plan.result
    if result is None:
        return chosen if chosen == "level" or _coherent(plan, chosen) else "session"
    if chosen == "coherence":
        return chosen if _coherent(plan, chosen) else "scores"
    if chosen == "gold":
        return chosen if plan.gold else "scores"
    return chosen or "scores"


def _coherent(plan: Plan, chosen: str) -> bool:
    return chosen == "coherence" and bool(np.isfinite(coherence(plan.view.structure)).any())


def halves(plan: Plan) -> list[Half]:
    """Name of each half, what makes a node win its column, and how it is filled."""
    result, chosen = plan.result, shade(plan)
    if result is None:
        weight = np.zeros(len(plan.structure))
        drawn = plan.drawing
        for strength, nodes in enumerate((drawn.frontier, drawn.revised, drawn.added), start=1):
            weight[nodes] = strength
        return [("", *_filled(plan, chosen, weight, ()))]
    initial, final = (scores[plan.drawing.node] for scores in (result.initial, result.final))
    before, after = result.score_names
    own = ((before, initial, result.before), (after, final, result.after))
    found = []
    for half_name, scores, top in own:
        # In other colours than its score a half still shows what was retrieved by it.
        name = half_name if chosen == "scores" else f"top by {half_name}"
        shown = {"initial": initial, "propagated": final, "scores": scores}.get(chosen)
        if shown is not None:
            half: Half = (name, shown, _by_score(plan, shown))
        elif chosen == "change":
            half = (name, np.abs(final - initial), _by_change(plan, final - initial))
        else:
            half = (name, *_filled(plan, chosen, scores, top))
        found.append(half)
    return found


def _filled(
    plan: Plan, chosen: str, weight: NDArray[np.float64], top: Sequence[int]
) -> tuple[NDArray[np.float64], Fill]:
    """Weight and fill of a shade that is no score; ``weight`` is taken where the shade's
    colours do not tell which node of a column to show."""
    if chosen == "coherence":
        value = coherence(plan.view.structure)[plan.drawing.node]
        return np.where(np.isnan(value), 0.0, 2.0 - value), _by_coherence(plan, value)
    if chosen == "gold":
        classes = gold_classes(plan, top)
        order = np.array([GOLD_ORDER.index(name) for name in classes], dtype=np.float64)
        return order, _by_gold(plan, classes)
    return weight, _by_level(plan) if chosen == "level" else _by_session(plan)


def gold_classes(plan: Plan, top: Sequence[int]) -> list[str]:
    """For each node drawn: a gold leaf that was "found" by itself, is "covered" by a wider
    retrieved node or was "missed", a node "above" one, or "other"."""
    structure, retrieved = plan.view.structure, set(top)
    fate = dict.fromkeys(plan.view.gold.held, "above")
    for leaf in plan.view.gold.leaves:
        lines, pending = {leaf}, [leaf]
        while pending:
            above = [p for p in structure.parents[pending.pop()] if p not in lines]
            lines.update(above)
            pending += above
        widths = [int(structure.stop[n] - structure.start[n]) for n in lines & retrieved]
        fate[leaf] = ("found" if min(widths) == 1 else "covered") if widths else "missed"
    return [fate.get(node, "other") for node in plan.drawing.node.tolist()]


# --- fills -------------------------------------------------------------------------------------


def _by_score(plan: Plan, scores: NDArray[np.float64]) -> Fill:
    """By the share of the highest score or its square root, as on Ask."""

    def fill(box: Box, y: float) -> Iterable[str]:
        score = scores[box.node]
        share = min(1.0, score / plan.most) ** plan.power if score > 0 and plan.most > 0 else 0.0
        yield _box(box, y, on_ramp(plan.ramp, share))

    return fill


def _by_change(plan: Plan, change: NDArray[np.float64]) -> Fill:
    """As scores, by a root more; falls are hatched, too."""
    ramp = change_ramp(plan)

    def fill(box: Box, y: float) -> Iterable[str]:
        value = change[box.node]
        share = min(1.0, abs(value) / plan.most) ** (plan.power / 2) if plan.most > 0 else 0.0
        yield _box(box, y, on_ramp(ramp, 0.5 + (share if value > 0 else -share) / 2))
        if value < 0:
            yield _hatch(plan, box, y)

    return fill


def _by_coherence(plan: Plan, value: NDArray[np.float64]) -> Fill:
    ramp = coherence_ramp(plan)

    def fill(box: Box, y: float) -> Iterable[str]:
        known = not np.isnan(value[box.node])
        share = min(1.0, max(0.0, value[box.node])) if known else 0.0
        yield _box(box, y, on_ramp(ramp, share) if known else plan.muted)
        if not known:
            yield _hatch(plan, box, y)

    return fill


def _by_gold(plan: Plan, classes: Sequence[str]) -> Fill:
    colours = GOLD_COLOURS[plan.theme]

    def fill(box: Box, y: float) -> Iterable[str]:
        name = classes[box.node]
        yield _box(box, y, colours[name])
        if name in ("covered", "missed"):
            yield _hatch(plan, box, y, crossed=name == "missed")

    return fill


def _by_level(plan: Plan) -> Fill:
    def fill(box: Box, y: float) -> Iterable[str]:
        yield _box(box, y, level_colour(plan, int(plan.structure.level[box.node])))

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
            yield _part(x, right - x, y, box.height, colour, seam=last)
            x, at = right, at + 1

    return fill


# --- colours and boxes -------------------------------------------------------------------------


def on_ramp(ramp: Sequence[str], share: float) -> str:
    """The colour at a share of a ramp, 0 to 1."""
    place = share * (len(ramp) - 1)
    low = min(len(ramp) - 2, int(place))
    return mix(ramp[low + 1], ramp[low], place - low)


def level_colour(plan: Plan, level: int) -> str:
    """A level's colour; higher levels keep the last one."""
    return mix(LEVEL_COLOURS[min(level, len(LEVEL_COLOURS) - 1)], plan.background, LEVEL_SHARE)


def change_ramp(plan: Plan) -> tuple[str, ...]:
    """Colours of a signed change, falls first."""
    return CHANGE_RAMP_DARK if plan.dark else CHANGE_RAMP_LIGHT


def coherence_ramp(plan: Plan) -> tuple[str, ...]:
    """Colours of a cosine from 0 to 1."""
    return MEASURE_RAMP_DARK if plan.dark else MEASURE_RAMP_LIGHT


def _box(box: Box, y: float, fill: str) -> str:
    return _part(box.x, box.width, y, box.height, fill)


def _part(x: float, width: float, y: float, height: float, fill: str, seam: bool = True) -> str:
    """A filled box, with a seam to its right and below where there is room for one."""
    gap = 1.0 if seam and width >= 4 else 0.0
    return rect(LEFT + x, y, width - gap, height - (1.0 if height >= 4 else 0.0), fill=fill)


def _hatch(plan: Plan, box: Box, y: float, crossed: bool = False) -> str:
    """Diagonals over a box."""
    place = (LEFT + box.x, y, max(0.1, box.width - 1), max(0.1, box.height - 1))
    return hatching(*place, plan.background, crossed)


def hatching(
    x: float, y: float, width: float, height: float, stroke: str, crossed: bool = False
) -> str:
    """Lines at 45 degrees within a rectangle, in both directions if ``crossed``."""
    lines = []
    offset = -height + 3.0
    while offset < width:
        left, right = max(0.0, offset), min(width, offset + height)
        low, high = left - offset, right - offset
        for top in (False, True) if crossed else (True,):
            a, b = (height - low, height - high) if top else (low, high)
            ends = (number(v) for v in (x + left, y + a, x + right, y + b))
            lines.append("M{} {}L{} {}".format(*ends))
        offset += 6.0
    return tag("path", d="".join(lines), stroke=stroke, stroke_width=1.3)
