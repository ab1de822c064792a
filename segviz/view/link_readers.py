"""Reads the parts of a link: each reader takes a text, or raises ValueError saying what fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

LONGEST = 2_000
"""Characters of a question or path in a link; browsers and servers cut long addresses."""


def number(kind: type, low: float | None, high: float | None) -> Callable[[str], Any]:
    """Make a reader of finite numbers from ``low`` to ``high`` inclusive; None for no bound."""

    def read(given: str) -> Any:
        try:
            value = kind(given)
        except (ValueError, OverflowError):
            what = "a whole number" if kind is int else "a number"
            raise ValueError(f"expected {what}") from None
        if value != value or abs(value) == math.inf:  # isfinite fails for 310 digits
            raise ValueError("expected a finite number")
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = f"{'' if low is None else low} to {'' if high is None else high}"
            raise ValueError(f"expected {bounds}")
        return value

    return read


COUNT = number(int, 0, 2**31)
"""Reads a count or a node."""


def one_of(legal: Collection[str]) -> Callable[[str], str]:
    """Make a reader of one of these words."""

    def read(given: str) -> str:
        if given not in legal:
            raise ValueError(f"expected one of {', '.join(legal)}")
        return given

    return read


def short_text(given: str) -> str:
    """Any text of at most ``LONGEST`` characters."""
    if len(given) > LONGEST:
        raise ValueError(f"longer than {LONGEST} characters")
    given.encode()
    return given


def local_path(given: str) -> str:
    """A path on this machine."""
    # Opening a network share would contact another machine and reveal the user to it.
    if given.replace("\\", "/").startswith("//"):
        raise ValueError("a link may name files of this machine only; type the path yourself")
    return short_text(given)


def yes_or_no(given: str) -> bool:
    """A truth value."""
    if given not in ("yes", "no"):
        raise ValueError("expected yes or no")
    return given == "yes"


def levels(given: str) -> tuple[int, ...]:
    """Levels in ascending order; "none" for none."""
    if given == "none":
        return ()
    read = number(int, 0, 100_000)
    return tuple(sorted({read(part) for part in given.split(",")}))


def pins(given: str) -> tuple[int, ...]:
    """One node, or two different ones."""
    nodes = tuple(COUNT(part) for part in given.split(","))
    if len(set(nodes)) != len(nodes) or len(nodes) > 2:
        raise ValueError("expected one node or two different ones")
    return nodes
