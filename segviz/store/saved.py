"""Defines the content of a memory file and the error of a file that cannot be opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from segviz.conversation import Conversation, Finding
from segviz.tree import Step, Structure, replay


class StoreError(ValueError):
    """A file is not a memory this version can open, or a memory cannot be saved; the message says
    why."""


@dataclass(frozen=True)
class SavedView:
    """The view in a session file: the page, ``"grow"`` or ``"ask"``, and the parameters of its
    link (``segviz.view.bookmark``)."""

    page: str
    link: dict[str, str]


@dataclass(frozen=True, eq=False)
class Saved:
    """The content of a file; ``segviz.memory.from_saved`` makes a Memory of it.

    ``shown`` is None in the file of a memory without a view; ``findings`` are values of the file
    that mean nothing and were passed over, which is not written. Other fields as in ``Memory``.
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
        """The structure after the last step; ValueError for events that make none."""
        return replay(self.steps)
