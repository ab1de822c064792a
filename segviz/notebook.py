"""Shows a memory in a notebook: the offline page in a sandboxed frame."""

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
"""The page may run its one script, save a PNG and print. Without allow-same-origin it reaches
neither the notebook nor the data of the notebook's server."""


@dataclass(frozen=True, eq=False, repr=False)
class Shown:
    """A view with the notebook protocol: drawn when it is the value of a cell.

    ``html`` is the page, which works on its own too (``save``); ``height`` is in pixels.
    """

    view: View
    height: int = 720

    @cached_property
    def html(self) -> str:
        """The page: one file, no network (``segviz.export.html``)."""
        return html_page(self.view)

    def save(self, path: str | Path) -> None:
        """Writes the page (:func:`segviz.files.write`). OSError passes through."""
        files.write(path, self.html)

    def __repr__(self) -> str:
        memory, result = self.view.memory, self.view.result
        nodes = len(self.view.structure)
        asked = "" if result is None else f", asked {result.question!r:.80}"
        return f"Shown({memory.system} of {memory.conversation.id!r:.80}, {nodes} nodes{asked})"

    def _repr_html_(self) -> str:
        """Returns a sandboxed frame with the page inside the attribute."""
        return (
            f'<iframe title="segviz" sandbox="{_SANDBOX}" referrerpolicy="no-referrer" '
            f'style="width:100%;height:{self.height}px;border:0" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """Returns the frame, and a line of text where nothing can draw it."""
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
    """Draws a ``memory``, or its answer to a question, in a notebook.

    ``question`` is any text, or the conversation's with index ``number``, asked with the
    ``settings`` of :func:`segviz.ask`; without one the tree is shown after ``step`` steps
    (default: all). ``node`` is selected; ``height`` is that of the frame, in pixels, at
    least 100. Nothing is loaded from a network, and text of the conversation stays text.

    ValueError for an unknown number or node, an illegal setting, and settings without a
    question.
    """
    if isinstance(height, bool) or not isinstance(height, int) or height < 100:
        raise ValueError(f"height is {height!r}; it must be a whole number of at least 100 pixels")
    view = view_of(memory, question, number=number, node=node, step=step, **settings)
    return Shown(view, height)
