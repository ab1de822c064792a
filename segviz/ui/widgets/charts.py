"""Draws charts in the colours of the theme, each with what it shows as a sentence and a table, and
tables that are read whole; sets the height of those that scroll."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Literal, TypedDict

import streamlit as st

from segviz.evaluation import Mean
from segviz.ui.widgets.captions import signed
from segviz.ui.widgets.style import CAPTION
from segviz.view.palette import ACCENT, RAMPS, SURFACE

Rows = Callable[[], Sequence[Mapping[str, Any]]]

# Without the buttons that Plotly lays over a chart the pointer is on.
QUIET = {"displayModeBar": False}


def theme() -> Literal["light", "dark"]:
    """Returns the theme the page is shown in."""
    return "dark" if st.context.theme.type == "dark" else "light"


class Tones(TypedDict):
    """The two colours most charts are drawn in."""

    accent: str
    neutral: str


def colours() -> Tones:
    """Returns the accent and the neutral colour of charts."""
    return {
        "accent": ACCENT[theme()],
        "neutral": {"light": "#77736d", "dark": "#9a9690"}[theme()],
    }


def pair() -> dict[str, Any]:
    """Returns the colours of charts that are drawn from rows."""
    accent, neutral = colours()["accent"], colours()["neutral"]
    return {"colours": [accent, neutral], "neutral": neutral}


def ink() -> str:
    """Returns the colour of text."""
    return SURFACE[theme()][1]


def ramp(kind: Literal["score", "change"]) -> list[str]:
    """Returns the ordered ramp of scores, or that of signed changes from worse to better."""
    return RAMPS[theme()][kind]


def readable(figure: Any) -> Any:
    """The figure with what is written on it in colours that stand out enough: Streamlit's own
    grey reaches 3.8 to 1 on white, where WCAG 2.2 asks 4.5 of small text."""
    quiet = CAPTION[theme()]
    figure.layout.font.color = figure.layout.legend.font.color = ink()
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        axis.tickfont.color = axis.title.font.color = quiet
    return figure


def swatch(colour: str, text: str, *, frame: bool = False) -> str:
    """A colour, or a ``frame`` in it, and what it stands for; HTML."""
    style = f"border: 2px solid {colour}" if frame else f"background: {colour}"
    return f'<span class="segviz-swatch"><i style="{style}"></i>{escape(text)}</span>'


def chart(figure: Any, sentence: str, key: str, more: str = "", rows: Rows | None = None) -> None:
    """Draws a figure. ``sentence`` says what it shows, below it and to screen readers, followed by
    ``more``; ``rows`` are the numbers it is drawn from, made when they are asked for."""
    st.plotly_chart(readable(figure), key=key, config=QUIET, alt=sentence)
    caption(f"{sentence} {more}".strip(), key, rows)


def sentence_of(text: str) -> str:
    """A sentence of ours that may hold names by others, for Streamlit to read as Markdown: without
    pictures, which a browser would fetch, and formulas."""
    return text.replace("$", r"\$").replace("![", r"!\[")


def caption(sentence: str, key: str, rows: Rows | None = None) -> None:
    """Draws what a chart shows as a sentence and, on request, as a table."""
    sentence = sentence_of(sentence)
    if rows is None:
        st.caption(sentence)
        return
    with st.container(horizontal=True, wrap=False, vertical_alignment="top", key=f"told-{key}"):
        st.caption(sentence, width="stretch")
        with st.popover("Table", type="tertiary", key=f"twin-{key}", on_change="rerun") as twin:
            if twin.open:
                found = [
                    {n: round(v.value, 4) if isinstance(v, Mean) else v for n, v in row.items()}
                    for row in rows()
                ]
                width = min(60 + 100 * len(found[0] if found else ()), 600)
                st.dataframe(found, width, tall(len(found), 12), hide_index=True)


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
