"""The SVG picture as a sheet of its own: what a browser makes a PNG or a PDF of.

Pure text; ``segviz.export.pictures`` has a browser draw it. The sheet is as large as the picture,
has no margin, and its Content-Security-Policy forbids scripts and requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

from segviz.export.drawing import drawing
from segviz.export.plan import WIDTH, Plan
from segviz.export.svg import tree_svg
from segviz.export.text import one_line
from segviz.export.view import View

Kind = Literal["png", "pdf"]

SCALES = (1, 2, 3, 4)
"""Dots of a PNG for each pixel of the picture, across and down."""

MOST_DOTS = 40_000_000
"""Of a PNG: what programs still open without trouble, and a browser draws in a moment."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page that holds one picture of ``width`` × ``height`` pixels and is to become a file
    of that ``kind``."""

    kind: Kind
    html: str
    width: int
    height: int

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
    """The picture of a view, ready to be drawn. Nodes carry no tooltips here: neither a PNG
    nor a PDF shows them."""
    plan = Plan(drawing(view), dark)
    width, height = WIDTH, plan.height
    style = (
        f"@page{{size:{width}px {height}px;margin:0}}"
        "html{print-color-adjust:exact}html,body{margin:0;height:100%;overflow:hidden}"
        "svg{display:block}"
    )
    html = "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{escape(one_line(view.heading, 200))}</title>",
            f"<style>{style}</style>",
            "</head>",
            f"<body>{tree_svg(view, dark=dark, titles=False)}</body>",
            "</html>\n",
        ]
    )
    return Sheet(kind, html, width, height)
