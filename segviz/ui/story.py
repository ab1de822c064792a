"""The bar that tells a story: where it is, what is to be seen there, and on to the next stop."""

from __future__ import annotations

import streamlit as st

from segviz.ui import keys
from segviz.ui.address import tell
from segviz.ui.state import Session
from segviz.ui.view_state import read_story


def story_bar(session: Session) -> None:
    """Draws the bar, where a story is told."""
    stops, stop = read_story()
    if not stops:
        return
    last = stop == len(stops)
    with st.container(
        horizontal=True, vertical_alignment="center", border=True, key=keys.STORY_BAR
    ):
        st.markdown(f"**{stop} of {len(stops)}**", width="content")
        st.text(stops[stop - 1].words, width="stretch")
        for name, to, missing in (("Back", stop - 1, stop == 1), ("Next", stop + 1, last)):
            st.button(
                name,
                key=keys.story_button(name),
                type="secondary" if missing or name == "Back" else "primary",
                disabled=missing,
                on_click=tell,
                args=(stops, to, session.memory.system),
            )
        st.button(
            "",
            icon=":material/close:",
            help="End the story",
            key=keys.story_button("end"),
            type="tertiary",
            on_click=tell,
            args=((), 0, ""),
        )
