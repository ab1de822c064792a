"""The built parts of this package as text, to be put into a page.

``dist/`` holds one ES module per component and the style sheets, bundled from ``src/`` by
``npm run build`` and kept in the repository, so that segviz installs without node.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

Script = Literal[
    "canvas",
    "part",
    "code",
    "outline",
    "transcript",
    "nodes",
    "diff",
    "playback_timer",
    "theme_watch",
    "welcome",
    "export_page",
]
Sheet = Literal["canvas", "outline", "lists", "welcome", "export_page"]


def script(name: Script) -> str:
    """The ES module of a component; its default export mounts it."""
    return _built(f"{name}.js")


def stylesheet(name: Sheet) -> str:
    """The style sheet of a component."""
    return _built(f"{name}.css")


def _built(name: str) -> str:
    return files("segviz.frontend").joinpath("dist", name).read_text(encoding="utf-8")
