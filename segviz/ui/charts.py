"""Colours of the theme for charts, and a chart with what it shows as a sentence."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.frontend.palette import ACCENT


def dark() -> bool:
    """Whether the page is shown in the dark theme."""
    return bool(st.context.theme.type == "dark")


def colours() -> dict[str, str]:
    """The accent and the neutral colour of charts."""
    return {
        "accent": ACCENT["dark" if dark() else "light"],
        "neutral": "#9a9690" if dark() else "#77736d",
    }


def ink() -> str:
    """The colour of writing."""
    return "#edebe8" if dark() else "#2f2d2b"


def chart(figure: Any, sentence: str, key: str, more: str = "") -> None:
    """A figure; ``sentence`` says what it shows, below it and to screen readers, followed
    by ``more``."""
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=sentence)
    st.caption(f"{sentence} {more}".strip())
