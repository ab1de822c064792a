"""Shows a memory in a notebook: the exported offline page in a sandboxed frame."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from segviz import files
from segviz.export import View, html_page, view_of
from segviz.memory import Memory

_SANDBOX = "allow-scripts allow-downloads allow-modals"
"""Rights of the frame: run the page's script, save a PNG and print. Without allow-same-origin the
page reaches neither the notebook nor the data of the notebook's server."""


_DARK = (
    '[data-jp-theme-light="false"]',  # JupyterLab
    '[data-vscode-theme-kind*="dark"]',
    "html[theme=dark]",  # Colab
    ".dark",  # marimo
    ".quarto-dark",
)
"""Selectors of the elements that mark a dark notebook."""

_STYLE = (
    "<style>.segviz-frame{color-scheme:light}"
    f":is({','.join(_DARK)}) .segviz-frame{{color-scheme:dark}}</style>"
)
"""Theme of the frame: a page inside takes ``prefers-color-scheme`` from its frame."""


@dataclass(frozen=True, eq=False, repr=False)
class Shown:
    """View that a notebook draws when it is the value of a cell.

    ``html`` is the page, which also works as a file (``save``); ``height`` is in pixels.
    """

    view: View
    height: int = 720

    @cached_property
    def html(self) -> str:
        """Page of the view, one file that needs no network (``segviz.export.html``)."""
        return html_page(self.view)

    def save(self, path: str | Path) -> None:
        """Writes the page to a file; OSError if that is impossible."""
        files.write(path, self.html)

    def __repr__(self) -> str:
        memory, result = self.view.memory, self.view.result
        nodes = len(self.view.structure)
        asked = "" if result is None else f", asked {result.question!r:.80}"
        return f"Shown({memory.system} of {memory.conversation.id!r:.80}, {nodes} nodes{asked})"

    def _repr_html_(self) -> str:
        """Returns a sandboxed frame that contains the page, in the notebook's theme."""
        return (
            f'{_STYLE}<iframe class="segviz-frame" title="segviz" sandbox="{_SANDBOX}" '
            f'referrerpolicy="no-referrer" style="width:100%;height:{self.height}px;border:0" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """Returns the frame as HTML, and a line of text for notebooks that cannot draw it."""
        wanted = {"text/html", "text/plain"} if include is None else set(include)
        made = {"text/html": self._repr_html_, "text/plain": self.__repr__}
        return {kind: make() for kind, make in made.items() if kind in wanted - set(exclude or ())}


def show(
    memory: Memory,
    question: str | None = None,
    *,
    number: int | None = None,
    node: int | None = None,
    step: int | None = None,
    height: int = 720,
    **settings: Any,
) -> Shown:
    """Draws a memory, or its answer to a question, in a notebook.

    Nothing is loaded from a network. Markup in texts of the conversation is shown literally.

    Args:
        memory: the memory.
        question: any text; the text of a question of the conversation is drawn with its gold
            evidence. Without a question the tree is drawn.
        number: index of a question of the conversation, instead of ``question``.
        node: node to select.
        step: number of steps after which the memory is shown; None for all.
        height: height of the frame in pixels, at least 100.
        settings: settings of :func:`segviz.ask`.

    Returns:
        An object that the notebook draws.

    Raises:
        ValueError: a number or node is unknown, a setting is illegal, or there are settings without
            a question.
    """
    if isinstance(height, bool) or not isinstance(height, int) or height < 100:
        raise ValueError(f"height is {height!r}; it must be a whole number of at least 100 pixels")
    view = view_of(memory, question, number=number, node=node, step=step, **settings)
    return Shown(view, height)
