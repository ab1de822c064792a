"""Draws charts in the colours of the theme, each with what it shows as a sentence and a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

import streamlit as st

from segviz.evaluate import Mean
from segviz.ui.widgets.style import CAPTION
from segviz.ui.widgets.tables import tall
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
    figure.update_layout(font_color=ink(), legend_font_color=ink())
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(tickfont_color=quiet, title_font_color=quiet)
    return figure


def chart(figure: Any, sentence: str, key: str, more: str = "", rows: Rows | None = None) -> None:
    """Draws a figure. ``sentence`` says what it shows, below it and to screen readers, followed by
    ``more``; ``rows`` are the numbers it is drawn from, made when they are asked for."""
    st.plotly_chart(readable(figure), key=key, config=QUIET, alt=sentence)
    caption(f"{sentence} {more}".strip(), key, rows)


def caption(sentence: str, key: str, rows: Rows | None = None) -> None:
    """Draws what a chart shows as a sentence and, on request, as a table."""
    sentence = sentence.replace("$", r"\$")
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
