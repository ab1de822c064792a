"""The exported page as a sheet: what an installed browser makes a PNG, PDF or SVG of.

The page is the HTML export; asked for a picture it shows that alone, drawn by the painters of
its canvas. ``segviz.export.pictures`` has a browser open it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from segviz.export.html import CARD, FILM, WIDTH, html_page, picture_height
from segviz.export.view import View

Kind = Literal["png", "pdf", "svg", "webp"]

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
                f"drawn. Take {smaller}PDF or SVG, which are sharp at any size"
            )
        return wide, high


def sheet(kind: Kind, view: View, *, dark: bool = False) -> Sheet:
    """The picture of a view, ready to be drawn."""
    return Sheet(kind, html_page(view), WIDTH, picture_height(view), dark)


def card(view: View, *, dark: bool = False) -> Sheet:
    """Title, tree, levels and one line of a view in the size in which pages are shared."""
    return Sheet("png", html_page(view, card=True), *CARD, dark)


def film(view: View, *, dark: bool = False) -> Sheet:
    """The card of an answered question at every α. ValueError where no score travels."""
    result = view.result
    if result is None or result.own or result.settings.policy == "none":
        raise ValueError("nothing moves with α: choose a policy that lets scores travel first")
    return _frames(html_page(view, card=True), dark)


def growth(view: View, *, dark: bool = False) -> Sheet:
    """The card of a memory while it grows to the moment of the view. ValueError before the first
    step."""
    if not view.moment:
        raise ValueError("nothing has been heard yet; choose a later step")
    count = FILM[0] * FILM[1]
    frames = [view.at(max(1, view.moment * (i + 1) // count)) for i in range(count)]
    return _frames(html_page(frames[-1], card=True, frames=frames), dark)


def _frames(html: str, dark: bool) -> Sheet:
    width, height = (size * count for size, count in zip(CARD, FILM, strict=True))
    return Sheet("webp", html, width, height, dark)
