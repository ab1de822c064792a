"""The few rules of style that Streamlit's theme has no setting for."""

from __future__ import annotations

import streamlit as st

# Streamlit keeps wide margins for prose; an instrument needs the width for its axis.
_ROOM = """
.stMainBlockContainer { padding: 4.2rem 2.2rem 3rem; }
[data-testid="stSidebarHeader"] { height: 2.2rem; margin-bottom: 0; }
"""

# Streamlit fades captions and writes white on the chips of a choice; both fall below the
# contrast WCAG 2.2 asks of small text (4.5 to 1).
_CAPTION = {"light": "#67645f", "dark": "#a8a49e"}
_CHIP = {"light": "#ffffff", "dark": "#171614"}


# Buttons that show an icon alone keep their label for screen readers.
_ICONS = """
[class*="st-key-go-"] button [data-testid="stMarkdownContainer"] {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}
"""


def apply_style() -> None:
    """Put the rules on the page, for the theme it is shown in."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    st.html(
        f"""<style>{_ROOM}{_ICONS}
[data-testid="stCaptionContainer"] {{ opacity: 1; }}
[data-testid="stCaptionContainer"] p {{ color: {_CAPTION[theme]}; }}
[data-testid="stMultiSelect"] [data-tag-index] * {{ color: {_CHIP[theme]}; }}
</style>"""
    )
