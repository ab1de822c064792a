"""Draws tables that are read whole, and sets the height of those that scroll."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from segviz.ui.widgets.captions import signed, unmarked

Height = int | Literal["content"]

# As wide as a digit: numbers of different lengths stand below each other.
_BLANK = "\N{FIGURE SPACE}"
_FIRM = "\N{NO-BREAK SPACE}"
_JOINED = "\N{WORD JOINER}"

# A text no longer than this stays on one line; one somewhat longer does not break at hyphens.
_SHORT, _LONGER = 8, 13

# Pixels of a row of a scrolling table in the app's font size.
_ROW = 33


def table(
    rows: Sequence[Mapping[str, Any]],
    *,
    about: str,
    digits: Mapping[str, int] | None = None,
    height: Height = "content",
) -> None:
    """A few rows whose cells wrap, so that no column is cut on a narrow page.

    Texts are shown literally; fractions have two decimals or as many as ``digits`` says of
    their column, None is blank, and columns without any value are left out. ``about`` names
    the table for screen readers; above ``height`` pixels it scrolls.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {
        name: _column([row.get(name) for row in rows], name, (digits or {}).get(name, 2))
        for name in names
        if any(row.get(name) is not None for row in rows)
    }
    lines = [
        dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
    ]
    st.table(lines, border="horizontal", hide_index=True, alt=about, height=height)


def _column(values: Sequence[Any], name: str, digits: int) -> list[str]:
    """Returns the cells of a column as Markdown without any mark."""
    # A node's number is its name, and written as everywhere else.
    written = [str(v) if name == "node" and v is not None else _written(v, digits) for v in values]
    numbers = [text for value, text in zip(values, written, strict=True) if _number(value)]
    width = max(map(len, numbers), default=0)
    return [
        _BLANK * (width - len(text)) + text if _number(value) else _literal(text)
        for value, text in zip(values, written, strict=True)
    ]


def _literal(text: str) -> str:
    firm = text.replace(" ", _FIRM) if len(text) <= _SHORT else text
    if len(text) <= _LONGER:
        firm = firm.replace("-", f"-{_JOINED}")
    return _FIRM.join(map(unmarked, firm.split(_FIRM)))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: Any, digits: int) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        # Adding 0 takes the sign of a zero that is negative.
        return signed(f"{round(value, digits) + 0.0:.{digits}f}")
    return f"{value:,}" if _number(value) else str(value)


def tall(rows: int, most: int) -> Height:
    """Returns the height of a scrolling table: all its rows, or ``most`` of them and a part of the
    next, which shows that there are more."""
    return "content" if rows <= most else _ROW * (most + 1) + _ROW // 2
