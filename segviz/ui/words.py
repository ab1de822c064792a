"""Small words for the pages."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 turn``, ``2 turns``; ``many`` where adding an s is not enough."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
