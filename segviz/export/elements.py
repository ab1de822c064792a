"""Elements of an SVG picture, and about how long its words are."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from html import escape

Value = str | float | None


def tag(name: str, text: str | None = None, /, **attributes: Value) -> str:
    """An element with escaped text; attributes that are None are left out, and ``_`` in a
    name stands for ``-``."""
    written = "".join(
        f' {key.replace("_", "-")}="{escape(number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if text is None:
        return f"<{name}{written}/>"
    return f"<{name}{written}>{escape(text, quote=False)}</{name}>"


def rect(x: float, y: float, width: float, height: float, **attributes: Value) -> str:
    """A rectangle; what is all but nothing is still a hairline."""
    wide, high = max(width, 0.1), max(height, 0.1)
    return tag("rect", x=x, y=y, width=wide, height=high, **attributes)


def polygon(points: Iterable[tuple[float, float]], **attributes: Value) -> str:
    """A closed line through these points."""
    where = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return tag("polygon", points=where, **attributes)


def number(value: str | float) -> str:
    """With two decimals at most; a text is taken as it is."""
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def mix(a: str, b: str, share: float) -> str:
    """``share`` of colour ``a``, the rest of ``b``; all ``#rrggbb``."""
    pairs = zip(bytes.fromhex(a[1:]), bytes.fromhex(b[1:]), strict=True)
    return "#" + bytes(round(y + (x - y) * share) for x, y in pairs).hex()


def length(text: str, size: float) -> float:
    """About how many pixels a text takes; no font is measured."""
    wide = sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.56 for c in text)
    return wide * size


def cut(text: str, width: float, size: float) -> str:
    """As much of a text as is about ``width`` pixels long."""
    if length(text, size) <= width:
        return text
    while text and length(text, size) > width - size:
        text = text[:-1]
    return text.rstrip() + "…"
