"""Small words for the pages."""

from __future__ import annotations

import re
import string

from segviz.evaluate import Mean

_MARKS = frozenset(string.punctuation)


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 turn``, ``2 turns``; ``many`` where adding an s is not enough."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def unmarked(text: str) -> str:
    """``text`` for a label that Streamlit reads as Markdown, every mark taken literally."""
    return "".join(f"\\{char}" if char in _MARKS else char for char in " ".join(text.split()))


def cited(text: str) -> str:
    """Our own prose with every arXiv number as a link to its paper."""
    return re.sub(r"arXiv\s+(\d{4}\.\d{5})", r"[arXiv \1](https://arxiv.org/abs/\1)", text)


def signed(text: str) -> str:
    """A number as it is read: with a minus, not a hyphen."""
    return text.replace("-", "\N{MINUS SIGN}")


def spread(mean: Mean) -> str:
    """A mean with its interval; blank where nothing was measured."""
    if mean.value != mean.value:
        return ""
    # Adding 0 takes the sign of a zero that is negative.
    value, low, high = (round(x, 3) + 0.0 for x in (mean.value, mean.low, mean.high))
    return signed(f"{value:.3f} [{low:.3f},\N{NO-BREAK SPACE}{high:.3f}]")
