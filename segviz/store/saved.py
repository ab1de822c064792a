"""Content of a memory file, and the error for a file that cannot be opened or written."""

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
    """View in a session file: its page, ``"grow"`` or ``"ask"``, and the parameters of its link."""

    page: str
    link: dict[str, str]


@dataclass(frozen=True, eq=False)
class Saved:
    """Content of a memory file; ``segviz.memory.from_saved`` makes a Memory of it.

    ``shown`` is the view in a session file, else None. ``findings`` are unusable values of the file
    that were ignored; they are not written. Other fields are those of ``Memory``.
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
        """Structure after the last step; ValueError if the events do not make a structure."""
        return replay(self.steps)
