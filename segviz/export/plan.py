"""What a picture of a view is made of, settled before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import ceil

import numpy as np

from segviz.export.drawing import Drawing
from segviz.export.elements import Value, mix, tag
from segviz.export.layout import Box, Rows, rows
from segviz.export.view import View
from segviz.retrieval import Result
from segviz.tree import Structure
from segviz.view.palette import ACCENT, SCORE_RAMP_DARK, SCORE_RAMP_LIGHT, session_colours
from segviz.view.scene import peaked

WIDTH = 1400
LEFT, RIGHT, HEAD, AXIS, LEGEND = 64, 16, 78, 44, 40
"""Pixels: the whole width; margins, title, axis and legend."""

SURFACE = {"light": ("#ffffff", "#2f2d2b"), "dark": ("#171614", "#edebe8")}
"""Background and foreground."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A view and the places and colours that follow from it. On Ask the picture has two
    halves, 0 above and 1 below the axis, on Grow the upper one."""

    drawing: Drawing
    dark: bool

    @property
    def view(self) -> View:
        """What is shown."""
        return self.drawing.view

    @property
    def theme(self) -> str:
        """``"light"`` or ``"dark"``."""
        return "dark" if self.dark else "light"

    @property
    def background(self) -> str:
        """Colour of the page."""
        return SURFACE[self.theme][0]

    @property
    def foreground(self) -> str:
        """Colour of words and outlines."""
        return SURFACE[self.theme][1]

    @property
    def accent(self) -> str:
        """Colour of what is new or retrieved."""
        return ACCENT[self.theme]

    @property
    def ramp(self) -> tuple[str, ...]:
        """Colours of scores, from low to high."""
        return SCORE_RAMP_DARK if self.dark else SCORE_RAMP_LIGHT

    @property
    def muted(self) -> str:
        """Colour of words that come second."""
        return mix(self.foreground, self.background, 0.72)

    @cached_property
    def session_colours(self) -> list[str]:
        """One colour per session."""
        return session_colours(len(self.view.session_labels))

    @property
    def structure(self) -> Structure:
        """What is drawn."""
        return self.drawing.structure

    @property
    def result(self) -> Result | None:
        """The answered question."""
        return self.view.result

    @cached_property
    def rows(self) -> Rows:
        """Levels and lanes."""
        return rows(self.structure)

    @cached_property
    def units(self) -> int:
        """Units on the axis, at least one."""
        return max(1, int(self.structure.stop[self.structure.active].max(initial=0)))

    @property
    def scale(self) -> float:
        """Pixels per unit."""
        return self.plot / self.units

    @property
    def plot(self) -> int:
        """Width of the plot."""
        return WIDTH - LEFT - RIGHT

    @property
    def tall(self) -> float:
        """Height of one half."""
        return self.rows.offset[-1]

    @property
    def axis_top(self) -> float:
        """Where the upper half ends."""
        return HEAD + self.tall

    @property
    def axis_bottom(self) -> float:
        """Where the lower half begins."""
        return self.axis_top + AXIS

    @property
    def bottom(self) -> float:
        """Where the legend begins."""
        return self.axis_bottom + (self.tall if self.result else 0.0)

    @property
    def height(self) -> int:
        """Of the whole picture. Eight pixels are six points, which browsers print to the dot;
        of other heights a PDF's page would differ by a hair."""
        return 8 * ceil((self.bottom + LEGEND) / 8)

    @cached_property
    def gold(self) -> list[int]:
        """Leaves with gold turns, wherever they are drawn."""
        return self.drawing.every(self.view.gold.leaves)

    @cached_property
    def most(self) -> float:
        """Highest score of both halves, which share one colour scale."""
        if self.result is None:
            return 0.0
        return float(np.concatenate([self.result.initial, self.result.final]).max(initial=0.0))

    @cached_property
    def power(self) -> float:
        """Of a score's share of ``most``, by which it is coloured."""
        result = self.result
        return 0.5 if result and peaked(result.initial, self.view.structure.active) else 1.0

    @cached_property
    def runs(self) -> list[tuple[int, int, int]]:
        """First place, one past the last, and session of each run of places on the axis; -1
        for places whose unit is not known."""
        known = self.drawing.sessions[: self.units]
        found: list[tuple[int, int, int]] = []
        for session, members in groupby([*known, *[-1] * (self.units - len(known))]):
            begin = found[-1][1] if found else 0
            found.append((begin, begin + len(list(members)), session))
        return found

    def y(self, half: int, box: Box) -> float:
        """Top of a box."""
        return self.axis_bottom + box.away if half else self.axis_top - box.away - box.height

    def text(self, x: float, y: float, words: str, **more: Value) -> str:
        """Words in the foreground colour, unless ``more`` says otherwise."""
        given: dict[str, Value] = {"fill": self.foreground}
        return tag("text", words, x=x, y=y, **(given | more))
