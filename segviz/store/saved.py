"""Content of a memory file, and the error of a file that cannot be opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from segviz.conversation import Conversation, Finding
from segviz.tree import Step, Structure, replay


class StoreError(ValueError):
    """Error of a file this version cannot open, or of a memory that cannot be saved."""


@dataclass(frozen=True)
class SavedView:
    """Page of a session file, ``"grow"`` or ``"ask"``, and its ``segviz.view.bookmark`` link."""

    page: str
    link: dict[str, str]


@dataclass(frozen=True, eq=False)
class Saved:
    """Content of a file; ``segviz.memory.from_saved`` makes a Memory of it.

    ``shown`` is None in the file of a memory without a view. ``findings`` are unusable values of
    the file that were ignored; they are not written. Other fields as in ``Memory``.
    """

    conversation: Conversation
    unit: str
    system: str
    settings: dict[str, Any]
    embedder: str
    steps: Sequence[Step]
    chat: str = ""
    shown: SavedView | None = None
    findings: tuple[Finding, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def structure(self) -> Structure:
        """Structure after the last step; ValueError for events that make none."""
        return replay(self.steps)
