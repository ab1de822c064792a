"""A view that follows its canvas: what a notebook and other Streamlit apps draw and hear."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from segviz.export.html import READ, drawn_height, scene
from segviz.export.view import View, view_of
from segviz.frontend.payload import tree_payload
from segviz.memory import Memory
from segviz.retrieval import RetrievalSettings
from segviz.view.coloring import LIVE, Live
from segviz.view.scene import Scene


@dataclass(frozen=True, eq=False)
class LiveView:
    """View of a memory with the node and the setting that its canvas reported last.

    Attributes:
        memory: the memory.
        question, number: a text, or the index of a question of the conversation; None for the
            tree alone.
        settings: retrieval settings; without a question their ``step`` and ``literal`` count.
        node: the selected node.
        live: the report of α, H or policy that the canvas waits to see answered.
    """

    memory: Memory
    question: str | None = None
    number: int | None = None
    settings: RetrievalSettings | None = None
    node: int | None = None
    live: Live | None = None

    @cached_property
    def view(self) -> View:
        """The view; ValueError for an unknown number or node."""
        return view_of(
            self.memory, self.question, self.settings, number=self.number, node=self.node
        )

    @cached_property
    def scene(self) -> Scene:
        """The boxes of the canvas."""
        return scene(self.view, self.live)

    @property
    def payload(self) -> dict[str, Any]:
        """Message for the canvas."""
        return tree_payload(self.scene, stage=drawn_height(self.view) if self.view.result else None)

    @property
    def height(self) -> int | None:
        """Height of the canvas in pixels; None where its content decides, for an answer."""
        return None if self.view.result else drawn_height(self.view) + READ

    def selecting(self, box: int | None) -> Self:
        """Returns the view after a click on a box of the canvas; None for a click beside it."""
        return replace(self, node=self.scene.node(box))

    def setting(self, live: Live) -> Self:
        """Returns the view after a change of α, H or policy in the canvas."""
        result = self.view.result
        if result is None:
            return self
        changes = {name: getattr(live.settings, name) for name in LIVE}
        return replace(self, settings=replace(result.settings, **changes), live=live)
