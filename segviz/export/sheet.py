"""Makes the sheet of a view: the exported page, of which a browser makes a PNG, SVG or WebP.

If its address ends in ``#picture=…`` the page shows its picture alone. ``segviz.export.pictures``
opens it in a browser.
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
"""Most dots of a PNG; other programs open and browsers draw larger ones slowly or not at all."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Page ``html`` that shows one picture of ``width`` × ``height`` pixels.

    ``kind`` is "png", "svg" or "webp". For "webp" the picture has all frames of an animation, in a
    grid of ``FILM`` (columns, rows).
    """

    kind: Kind
    html: str
    width: int
    height: int
    dark: bool = False

    @property
    def fragment(self) -> str:
        """End of the address with which the page shows its picture alone."""
        return f"#picture={self.kind}&theme={'dark' if self.dark else 'light'}"

    def dots(self, scale: int) -> tuple[int, int]:
        """Returns width and height of the PNG in dots; ValueError for an illegal scale or size."""
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
    """Returns the sheet of a view's picture."""
    return Sheet(kind, html_page(view), WIDTH, picture_height(view), dark)


def film(view: View, *, dark: bool = False) -> Sheet:
    """Returns the sheet of a question's pictures at every α; ValueError without propagation."""
    result = view.result
    if result is None or result.native or result.settings.policy == "none":
        raise ValueError("nothing changes with α: choose a policy that propagates scores first")
    across, down = FILM
    size = across * WIDTH, down * picture_height(view)
    return Sheet("webp", html_page(view), *size, dark)
