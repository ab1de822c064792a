"""Small words for the pages."""

from __future__ import annotations

import string

_MARKS = frozenset(string.punctuation)


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 turn``, ``2 turns``; ``many`` where adding an s is not enough."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def unmarked(text: str) -> str:
    """``text`` for a label that Streamlit reads as Markdown, every mark taken literally."""
    return "".join(f"\\{char}" if char in _MARKS else char for char in " ".join(text.split()))
