"""Turns a view into a sheet: the exported page from which a browser makes a PNG or SVG.

With ``#picture=`` the HTML export shows its picture alone, drawn by the painters of its canvas.
``segviz.export.pictures`` opens it in a browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from segviz.export.html import FILM, WIDTH, html_page, picture_height
from segviz.export.view import View

Kind = Literal["png", "svg", "webp"]

SCALES = (1, 2, 3, 4)
"""Dots of a PNG per pixel of the picture, in both directions."""

MOST_DOTS = 40_000_000
"""Most dots of a PNG that programs open without trouble and a browser draws quickly."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Page that shows one picture of ``width`` × ``height`` pixels, to become one file.

    As WebP it shows the frames of an animation, ``FILM`` of them in columns and rows.
    """

    kind: Kind
    html: str
    width: int
    height: int
    dark: bool = False

    @property
    def fragment(self) -> str:
        """End of the page's address that makes it show the picture alone."""
        return f"#picture={self.kind}&theme={'dark' if self.dark else 'light'}"

    def dots(self, scale: int) -> tuple[int, int]:
        """Returns width and height of a PNG; ValueError for an unknown scale or too many dots."""
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
    """Returns the picture of a view, ready to be drawn."""
    return Sheet(kind, html_page(view), WIDTH, picture_height(view), dark)


def film(view: View, *, dark: bool = False) -> Sheet:
    """Returns the picture of an answered question at every α; ValueError without propagation."""
    result = view.result
    if result is None or result.native or result.settings.policy == "none":
        raise ValueError("nothing changes with α: choose a policy that propagates scores first")
    across, down = FILM
    size = across * WIDTH, down * picture_height(view)
    return Sheet("webp", html_page(view), *size, dark)
