"""Draws charts in the colours of the theme, each with a sentence and a table, and small tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from inspect import signature
from typing import Any, Literal

import streamlit as st

from segviz.evaluation import Mean
from segviz.ui.widgets.captions import signed
from segviz.ui.widgets.style import CAPTION
from segviz.view.palette import MEANINGS, RAMPS, SMALLEST_TEXT, SURFACE

Rows = Callable[[], Sequence[Mapping[str, Any]]]


def theme() -> Literal["light", "dark"]:
    """Returns the theme the page is shown in."""
    return "dark" if st.context.theme.type == "dark" else "light"


def neutral() -> str:
    """Returns the colour of what has no meaning of its own in a chart."""
    return {"light": "#77736d", "dark": "#9a9690"}[theme()]


def meaning(name: str) -> str:
    """Returns the colour of a meaning in the theme (``MEANINGS``)."""
    return MEANINGS[theme()][name]


def pair() -> dict[str, Any]:
    """Returns ``colours`` and ``neutral`` of ``rows_figure``: what is chosen, beside the rest."""
    return {"colours": [meaning("chosen"), neutral()], "neutral": neutral()}


def signs() -> dict[str, str]:
    """Returns ``better``, ``worse`` and ``neutral`` of a plot of differences, in the theme."""
    return {"better": meaning("better"), "worse": meaning("worse"), "neutral": neutral()}


def ink() -> str:
    """Returns the colour of text."""
    return SURFACE[theme()][1]


def ramp(kind: Literal["score", "change"]) -> list[str]:
    """Returns the ordered ramp of scores, or that of signed changes from worse to better."""
    return RAMPS[theme()][kind]


def readable(figure: Any) -> Any:
    """Sets text colours with enough contrast and readable sizes; returns the figure.

    Streamlit's grey has a contrast of 3.8 to 1 on white; WCAG 2.2 requires 4.5 for small text. Its
    ticks and legends have 11 pixels.
    """
    quiet = CAPTION[theme()]
    figure.layout.font.color = figure.layout.legend.font.color = ink()
    figure.layout.legend.font.size = SMALLEST_TEXT
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        axis.tickfont.color = axis.title.font.color = quiet
        axis.tickfont.size = axis.title.font.size = SMALLEST_TEXT
    return figure


def swatch(colour: str, text: str, *, frame: bool = False) -> str:
    """Returns an entry of a colour legend as HTML; a ``frame`` instead of a filled square."""
    style = f"border: 2px solid {colour}" if frame else f"background: {colour}"
    return f'<span class="segviz-swatch"><i style="{style}"></i>{escape(text)}</span>'


def alt(draw: Callable[..., Any], sentence: str) -> dict[str, Any]:
    """Returns ``sentence`` as argument ``alt`` of a function of Streamlit; 1.62 has none."""
    return {"alt": sentence} if "alt" in signature(draw).parameters else {}


def plot(figure: Any, sentence: str, key: str, **selection: Any) -> None:
    """Draws a Plotly figure, with ``sentence`` for screen readers and without Plotly's buttons."""
    alternative = alt(st.plotly_chart, sentence)
    figure = readable(figure)
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, **selection, **alternative)


def chart(figure: Any, sentence: str, key: str, more: str = "", rows: Rows | None = None) -> None:
    """Draws a figure with a caption.

    Args:
        figure: the Plotly figure.
        sentence: caption, also for screen readers.
        key: key of the widget.
        more: further text of the caption alone.
        rows: returns the numbers of the figure, called when the reader opens the table.
    """
    plot(figure, sentence, key)
    caption(f"{sentence} {more}".strip(), key, rows)


def sentence_of(text: str) -> str:
    """Escapes pictures and formulas in a sentence with foreign names, and keeps other Markdown.

    A browser would fetch a picture.
    """
    return text.replace("$", r"\$").replace("![", r"!\[")


def caption(sentence: str, key: str, rows: Rows | None = None) -> None:
    """Draws the sentence of a chart and a button that opens its numbers as a table."""
    sentence = sentence_of(sentence)
    if rows is None:
        st.caption(sentence)
        return
    with st.container(horizontal=True, wrap=False, vertical_alignment="top", key=f"caption-{key}"):
        st.caption(sentence, width="stretch")
        table_button(key, rows)


def table_button(key: str, rows: Rows) -> None:
    """Draws a button that opens the numbers of a chart as a table."""
    with st.popover("Table", type="tertiary", key=f"twin-{key}", on_change="rerun") as twin:
        if twin.open:
            numbers = [
                {n: round(v.value, 4) if isinstance(v, Mean) else v for n, v in row.items()}
                for row in rows()
            ]
            width = min(60 + 100 * len(numbers[0] if numbers else ()), 600)
            st.dataframe(numbers, width, tall(len(numbers), 12), hide_index=True)


Height = int | Literal["content"]

# Most characters of a cell that never wraps.
_SHORT = 13

# Height of a row of a scrolling table, in pixels.
_ROW = 33


def table(
    rows: Sequence[Mapping[str, Any]],
    *,
    about: str,
    digits: Mapping[str, int] | None = None,
    height: Height = "content",
) -> None:
    """Draws a small table whose cells wrap, so that no column is cut on a narrow page.

    Texts are literal, None is blank, and columns without any value are left out. ``st.table``
    would load pandas, a third of the first page's time.

    Args:
        rows: the rows, by column name.
        about: name of the table for screen readers.
        digits: decimals of fractions by column; 2 for the others.
        height: greatest height in pixels; a taller table scrolls.
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
    """Formats a cell; blank for None and NaN."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        # Adding 0 turns -0.0 into 0.0.
        return signed(f"{round(value, digits) + 0.0:.{digits}f}")
    # A node's number is an id, so it has no thousands separator.
    return f"{value:,}" if _number(value) and name != "node" else str(value)


def picked(key: str) -> Any:
    """Returns the clicked row or cell of the table with this key; None without a click."""
    event: Any = st.session_state.get(key)
    chosen = event.selection if event else None
    return next(iter([*chosen.rows, *chosen.cells] if chosen else []), None)


def tall(rows: int, most: int) -> Height:
    """Returns the height of a table: all rows, or ``most`` and a half to show that it scrolls."""
    return "content" if rows <= most else _ROW * (most + 1) + _ROW // 2
