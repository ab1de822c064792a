"""Operations done on finished memories, kept for the browser session. Links do not hold them,
session files do."""

from __future__ import annotations

from dataclasses import dataclass

from segviz.memory import Memory
from segviz.ui.state import Session, remember

CHANGED_KEPT = 4
MOST_OPERATIONS = 20
"""Kept for one memory."""


@dataclass(frozen=True)
class Change:
    """The memory after an operation, and what was done as a short key: operation and
    arguments, or the conversation taken in."""

    memory: Memory
    done: str


def changes(key: str) -> list[Change]:
    """What was done to the memory with this key, oldest first; editable."""
    found: list[Change] = remember("operated", key, CHANGED_KEPT, list)
    return found


def changed(session: Session) -> bool:
    """Whether the memory was changed since it was built, which its link cannot say."""
    return bool(session.built)
