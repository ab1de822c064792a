"""What colours and marks of a picture mean, in one line below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from segviz.export.elements import Value, length, polygon, rect
from segviz.export.marks import diamond
from segviz.export.plan import LEFT, Plan
from segviz.export.shades import change_ramp, coherence_ramp, hatching, level_colour, shade
from segviz.view.palette import GOLD_COLOURS


def legend(plan: Plan) -> Iterable[str]:
    """Colours first, then marks; only what can occur in this picture."""
    line = _Line(plan)
    _colours(line, shade(plan))
    _marks(line)
    return line.parts


class _Line:
    """Elements from left to right."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.x, self.y = float(LEFT), plan.bottom + 18
        self.parts: list[str] = []

    def word(self, text: str) -> None:
        """Words, and room after them."""
        self.parts.append(self.plan.text(self.x, self.y + 9, text, fill=self.plan.muted))
        self.x += length(text, 12) + 18

    def colour(self, fill: str, text: str, hatched: bool = False, crossed: bool = False) -> None:
        """A block of one colour and its name."""
        self.parts.append(rect(self.x, self.y, 14, 10, fill=fill))
        if hatched or crossed:
            place = (self.x, self.y, 14.0, 10.0)
            self.parts.append(hatching(*place, self.plan.background, crossed))
        self.x += 20
        self.word(text)

    def ramp(self, colours: Sequence[str], text: str) -> None:
        """Colours in a row, and what they run from and to."""
        for colour in colours:
            self.parts.append(rect(self.x, self.y, 9, 10, fill=colour))
            self.x += 9
        self.x += 6
        self.word(text)

    def frame(self, stroke: str, line: float, dash: str | None = None) -> None:
        """An outline as around a box."""
        outline: dict[str, Value] = {"stroke": stroke, "stroke_width": line}
        frame = rect(self.x, self.y, 14, 10, fill="none", stroke_dasharray=dash, **outline)
        self.parts.append(frame)
        self.x += 20

    def sign(self, element: str, wide: float) -> None:
        """A sign that was drawn at the present place."""
        self.parts.append(element)
        self.x += wide


def _colours(line: _Line, chosen: str) -> None:
    plan = line.plan
    most, signs = (
        f"{plan.most:.3g}",
        {1.0: "", 0.5: " (√ of the share)", 0.25: " (⁴√ of the share)"},
    )
    if chosen == "session":
        line.word("coloured by session, paler upwards")
    elif chosen == "level":
        for level in range(len(plan.rows.nodes)):
            line.colour(level_colour(plan, level), f"L{level}")
    elif chosen == "gold":
        for name, fill in GOLD_COLOURS[plan.theme].items():
            line.colour(fill, name, hatched=name == "covered", crossed=name == "missed")
    elif chosen == "coherence":
        line.ramp(coherence_ramp(plan), "coherence 0 to 1")
    elif chosen == "change":
        line.ramp(
            change_ramp(plan), f"change −{most} to +{most}{signs[plan.power / 2]}, falls hatched"
        )
    else:
        name = "score" if chosen == "scores" else f"{chosen} score"
        line.ramp(plan.ramp, f"{name} 0 to {most}{signs[plan.power]}")


def _marks(line: _Line) -> None:
    plan = line.plan
    if plan.result is None:
        for stroke, dash, text in (
            (plan.foreground, None, "frontier"),
            (plan.accent, None, "new"),
            (plan.accent, "3 2", "revised"),
        ):
            line.frame(stroke, 1.5, dash)
            line.word(text)
    else:
        line.frame(plan.accent, 2)
        x, y = line.x, line.y
        points = ((x, y + 9), (x - 4, y + 3), (x + 4, y + 3))
        line.sign(polygon(points, fill=plan.accent), 10)
        line.word("retrieved")
    if plan.gold:
        line.sign(diamond(plan, line.x + 5, line.y + 5), 16)
        line.word("gold evidence")
    if plan.drawing.selected is not None:
        line.frame(plan.foreground, 2.5)
        line.word(f"selected: node {plan.view.bookmark.node}")
    if plan.drawing.unfolded is not None:
        line.word("in the order of branches, not of time; nodes with several parents repeated")
