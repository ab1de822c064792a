"""Makes the sheet of a view: the exported page that a browser draws as PNG, SVG or WebP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from segviz.export.html import FILM, WIDTH, html_page, picture_height
from segviz.export.view import View

Kind = Literal["png", "svg", "webp"]


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
