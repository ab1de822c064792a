"""Draws tables that are read whole, and sets the height of those that scroll."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Literal

import streamlit as st

from segviz.ui.widgets.captions import signed

Height = int | Literal["content"]

# A text no longer than this stays on one line.
_SHORT = 13

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
    the table for screen readers; above ``height`` pixels it scrolls. (``st.table`` would load
    pandas, a third of the first page's time.)
    """
    names = dict.fromkeys(name for row in rows for name in row)
    cells = {name: [row[name] for row in rows if row.get(name) is not None] for name in names}
    columns = [name for name in names if cells[name]]
    numeric = {name for name in columns if all(map(_number, cells[name]))}
    lines = [
        "".join(
            _cell("td", _written(row.get(name), name, (digits or {}).get(name, 2)), name in numeric)
            for name in columns
        )
        for row in rows
    ]
    head = "".join(_cell("th", name, name in numeric) for name in columns)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    most = "" if height == "content" else f' style="max-height: {height}px"'
    st.html(
        f'<div class="segviz-table" role="region" tabindex="0" aria-label="{escape(about)}"{most}>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(tag: str, text: str, numeric: bool) -> str:
    kinds = "number" if numeric else "short" if len(text) <= _SHORT else ""
    return f'<{tag} class="{kinds}"><p>{escape(text)}</p></{tag}>'


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: Any, name: str, digits: int) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        # Adding 0 takes the sign of a zero that is negative.
        return signed(f"{round(value, digits) + 0.0:.{digits}f}")
    # A node's number is its name, and written as everywhere else.
    return f"{value:,}" if _number(value) and name != "node" else str(value)


def picked(key: str) -> Any:
    """Returns the row, or the cell, that was clicked in a table with this key; None for none."""
    event: Any = st.session_state.get(key)
    chosen = event.selection if event else None
    return next(iter([*chosen.rows, *chosen.cells] if chosen else []), None)


def tall(rows: int, most: int) -> Height:
    """Returns the height of a scrolling table: all its rows, or ``most`` of them and a part of the
    next, which shows that there are more."""
    return "content" if rows <= most else _ROW * (most + 1) + _ROW // 2
