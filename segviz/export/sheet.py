"""The exported page as a sheet: what an installed browser makes a PNG or SVG of.

The page is the HTML export; asked for a picture it shows that alone, drawn by the painters of
its canvas. ``segviz.export.pictures`` has a browser open it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from segviz.export.html import FILM, WIDTH, html_page, picture_height
from segviz.export.view import View

Kind = Literal["png", "svg", "webp"]

SCALES = (1, 2, 3, 4)
"""Dots of a PNG for each pixel of the picture, across and down."""

MOST_DOTS = 40_000_000
"""Of a PNG: what programs still open without trouble, and a browser draws in a moment."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page that shows one picture of ``width`` × ``height`` pixels, on a dark ground or a
    light one, and is to become a file of that ``kind``; as WebP it is the frames of an
    animation, ``FILM`` of them across and down."""

    kind: Kind
    html: str
    width: int
    height: int
    dark: bool = False

    @property
    def fragment(self) -> str:
        """What the page's address ends in for the page to show the picture alone."""
        return f"#picture={self.kind}&theme={'dark' if self.dark else 'light'}"

    def dots(self, scale: int) -> tuple[int, int]:
        """Width and height of a PNG. ValueError for an unknown scale, and for more dots than
        a PNG may have."""
        if scale not in SCALES:
            raise ValueError(f"scale is {scale}; it must be {SCALES[0]} to {SCALES[-1]}")
        wide, high = self.width * scale, self.height * scale
        if wide * high > MOST_DOTS:
            fits = [str(each) for each in SCALES if self.width * self.height * each**2 <= MOST_DOTS]
            smaller = f"scale {fits[-1]}, or as " if fits else ""
            raise ValueError(
                f"at scale {scale} the picture has {wide:,} × {high:,} dots, "
                f"{wide * high / 1e6:.0f} million; at most {MOST_DOTS / 1e6:.0f} million are "
                f"drawn. Take {smaller}SVG, which is sharp at any size"
            )
        return wide, high


def sheet(kind: Kind, view: View, *, dark: bool = False) -> Sheet:
    """The picture of a view, ready to be drawn."""
    return Sheet(kind, html_page(view), WIDTH, picture_height(view), dark)


def film(view: View, *, dark: bool = False) -> Sheet:
    """The picture of an answered question at every α. ValueError where no score travels."""
    result = view.result
    if result is None or result.own or result.settings.policy == "none":
        raise ValueError("nothing moves with α: choose a policy that lets scores travel first")
    across, down = FILM
    size = across * WIDTH, down * picture_height(view)
    return Sheet("webp", html_page(view), *size, dark)
