"""Draws the app: page frame, navigation, sidebar, then the chosen page."""

from __future__ import annotations

import gc
from collections.abc import Callable

import streamlit as st

from segviz.llm import ModelError
from segviz.memory import NoEmbedder
from segviz.ui import address, keys
from segviz.ui.operations import operated
from segviz.ui.pages.ask import page as ask
from segviz.ui.pages.compare import page as compare
from segviz.ui.pages.grow import page as grow
from segviz.ui.pages.guide import page as guide
from segviz.ui.pages.sweep import page as sweep
from segviz.ui.sidebar.sidebar import sidebar
from segviz.ui.sidebar.spending import show_spending
from segviz.ui.state import Session
from segviz.ui.story import story_bar
from segviz.ui.view_state import read_story
from segviz.ui.welcome import begin_ask, welcome
from segviz.ui.widgets.canvas import canvas_code
from segviz.ui.widgets.style import apply_style, follow_theme

# Title, URL path and function of each page, in navigation order. (A comment, not a string:
# Streamlit writes bare strings of its main script onto the page.)
PAGES: tuple[tuple[str, str, Callable[[Session], None]], ...] = (
    ("Grow", "grow", grow.render),
    ("Ask", "ask", ask.render),
    ("Sweep", "sweep", sweep.render),
    ("Compare", "compare", compare.render),
    ("Guide", "guide", guide.render),
)


def _page(render: Callable[[Session], None], session: Session | None) -> Callable[[], None]:
    def show() -> None:
        if session is None:
            return
        try:
            render(session)
        except (ModelError, NoEmbedder) as error:
            # The question could not be embedded; what is built stays as it is.
            offline = isinstance(error, NoEmbedder)
            st.error(
                "This needs the embedder of the memory; choose relevance lexical."
                if offline
                else "The model server did not answer."
            )
            st.text(str(error))
            st.button("Try again", key=keys.RETRY)

    return show


@st.cache_resource(show_spinner=False)
def _keep_imports() -> None:
    """Exempts what is imported from garbage collection, once in the life of the server.

    Streamlit collects all garbage after every run; walking the modules, which never go,
    would cost a tenth of a second each time.
    """
    gc.collect()
    gc.freeze()


def main() -> None:
    """Draws the app.

    The sidebar belongs to the frame, not to a page: its choices outlive a change of page.
    """
    _keep_imports()
    st.set_page_config(page_title="segviz", layout="wide", initial_sidebar_state="auto")
    apply_style()
    address.arrive()
    session = sidebar()
    if session is not None:
        session = operated(session)
        address.settle(session)
    pages = [
        st.Page(
            _page(render, session), title=title, url_path=path if index else "", default=not index
        )
        for index, (title, path, render) in enumerate(PAGES)
    ]
    # By path, for pages that lead to another.
    st.session_state[keys.PAGES] = {
        path: page for (_, path, _), page in zip(PAGES, pages, strict=True)
    }
    first = PAGES[0][1]

    def to_first() -> None:
        st.switch_page(pages[0], query_params=dict(st.query_params))

    # The first page lives at the bare address; whoever writes its name finds it, too.
    named = st.Page(to_first, title=first, url_path=first, visibility="hidden")
    chosen = st.navigation([*pages, named], position="top")
    wanted = st.session_state[keys.PAGES].get(address.wanted_page())
    if wanted is not None and wanted != chosen:
        st.switch_page(wanted)
    if session is not None:
        story_bar(session)
    if session is not None and chosen == pages[0] and not read_story()[0]:
        welcome(session)
    if session is not None and chosen.url_path == "ask":
        begin_ask(session)
    chosen.run()
    follow_theme()
    canvas_code()
    show_spending()  # a question may have been embedded
    if session is not None:
        address.write(session)
