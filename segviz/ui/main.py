"""Draws the app: page frame, navigation, sidebar, then the chosen page."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import streamlit as st

from segviz.ui import address, keys
from segviz.ui.pages import drawn
from segviz.ui.sidebar.sidebar import sidebar
from segviz.ui.state import Session
from segviz.ui.view_state import read_story
from segviz.ui.welcome import begin_ask, welcome
from segviz.ui.widgets.style import apply_style, follow_theme

# Title of each page, in navigation order; its path is the title in small letters, its module
# ``pages.PATH.page``, imported when the page is first drawn.
PAGES = ("Grow", "Ask", "Sweep", "Compare", "Guide")


def _page(path: str, session: Session | None) -> Callable[[], None]:
    def show() -> None:
        if session is not None:
            drawn(import_module(f"segviz.ui.pages.{path}.page").render, session)

    return show


def _story_bar(session: Session) -> None:
    """Draws the bar that tells a story: where it is, what is to be seen there, and on to the next
    stop."""
    stops, stop = read_story()
    if not stops:
        return
    last = stop == len(stops)
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="story-bar"):
        st.markdown(f"**{stop} of {len(stops)}**", width="content")
        st.text(stops[stop - 1].words, width="stretch")
        for name, to, missing in (("Back", stop - 1, stop == 1), ("Next", stop + 1, last)):
            st.button(
                name,
                key=keys.story_button(name),
                type="secondary" if missing or name == "Back" else "primary",
                disabled=missing,
                on_click=address.tell,
                args=(stops, to, session.memory.system),
            )
        st.button(
            "",
            icon=":material/close:",
            help="End the story",
            key=keys.story_button("end"),
            type="tertiary",
            on_click=address.tell,
            args=((), 0, ""),
        )


def main() -> None:
    """Draws the app.

    The sidebar belongs to the frame, not to a page: its choices outlive a change of page.
    """
    st.set_page_config(page_title="segviz", layout="wide", initial_sidebar_state="auto")
    apply_style()
    address.arrive()
    session = sidebar()
    if session is not None:
        address.settle(session)
    paths = [title.lower() for title in PAGES]
    pages = [
        st.Page(
            _page(path, session), title=title, url_path=path if index else "", default=not index
        )
        for index, (title, path) in enumerate(zip(PAGES, paths, strict=True))
    ]
    # By path, for pages that lead to another.
    st.session_state[keys.PAGES] = dict(zip(paths, pages, strict=True))
    first = paths[0]

    def to_first() -> None:
        st.switch_page(pages[0], query_params=dict(st.query_params))

    # The first page lives at the bare address; whoever writes its name finds it, too.
    named = st.Page(to_first, title=first, url_path=first, visibility="hidden")
    chosen = st.navigation([*pages, named], position="top")
    wanted = st.session_state[keys.PAGES].get(address.wanted_page())
    if wanted is not None and wanted != chosen:
        st.switch_page(wanted)
    if session is not None:
        _story_bar(session)
    first_sight = session is not None and not session.live and not read_story()[0]
    if session is not None and chosen == pages[0] and first_sight:
        welcome(session)
    if session is not None and chosen.url_path == "ask":
        begin_ask(session)
    chosen.run()
    follow_theme()
