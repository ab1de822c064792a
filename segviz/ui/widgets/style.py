"""Puts the rules of ``style.css`` on the page, and follows the browser's theme."""

from __future__ import annotations

from importlib.resources import files

import streamlit as st

from segviz.ui.widgets.canvas import part
from segviz.view.palette import css_colours

# Streamlit's captions are below the contrast that WCAG 2.2 requires for small text (4.5 to 1).
CAPTION = {"light": "#67645f", "dark": "#a8a49e"}

_MEANINGS = "".join(
    f"  {name}: light-dark({light}, {css_colours('dark')[name]});\n"
    for name, light in css_colours("light").items()
)
_COLOURS = f"""
:root {{
{_MEANINGS}
  --segviz-caption: light-dark({CAPTION["light"]}, {CAPTION["dark"]});
  --segviz-line: light-dark(#e4e1db, #3a3834);
  --segviz-ink: light-dark(#2f2d2b, #edebe8);
  --segviz-surface: light-dark(#f5f4f1, #211f1d);
}}
"""

_RULES = files(__package__).joinpath("style.css").read_text("utf-8")


def apply_colours() -> None:
    """Puts the colours of meanings on the page, which the canvas reads."""
    st.html(f"<style>{_COLOURS}</style>")


def apply_style() -> None:
    """Puts the rules on the page."""
    st.html(f"<style>{_COLOURS}{_RULES}</style>")


def label_panel(key: str, text: str) -> None:
    """Puts a text, which may be foreign, on the label of a panel with a rule in ``style.css``.

    Another label would be another panel for Streamlit, which it closes.
    """
    literal = "".join(f"\\{ord(each):x} " for each in text)
    st.html(f"<style>.st-key-{key} {{ --segviz-label: '{literal}' }}</style>")


def follow_theme() -> None:
    """Runs the script again when the page turns dark or light, so that charts turn, too."""
    theme = {"theme": st.context.theme.type}
    part("theme_watch", key="theme", data=theme, theme=lambda _: None)
