"""Entry point of the app: page frame, navigation, sidebar, then the chosen page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

import streamlit as st

from segviz.ui import address, keys, security, visit
from segviz.ui.pages import drawn
from segviz.ui.sidebar.sidebar import sidebar
from segviz.ui.sidebar.source import drop_zone
from segviz.ui.state import AppSession
from segviz.ui.welcome import begin_ask, welcome
from segviz.ui.widgets.canvas import part
from segviz.ui.widgets.question import questions_popover
from segviz.ui.widgets.style import apply_style, follow_theme
from segviz.ui.widgets.tour import on_tour, tour_bar
from segviz.version import __version__

# Titles of the pages in navigation order. The path is the title in lower case; the module
# ``pages.PATH.page`` is imported when the page is first drawn.
PAGES = ("Grow", "Ask", "Sweep", "Compare", "Guide")


def about() -> str:
    """Returns what the menu says under *About*: version, licence, citation, and where texts go."""
    if security.public():
        leaves = (
            "What you upload or paste goes to this server, which forgets it when you leave. It "
            "goes further only if you choose a model: then to the server that the choice names."
        )
    else:
        leaves = (
            "Nothing leaves this machine, unless you choose a model server, which then receives "
            "the texts of its prompts, or load LoCoMo, which asks GitHub for the file."
        )
    return (
        f"### segviz {__version__}\n"
        "MIT licence. A visual explorer of memory trees.\n\n"
        f"**To cite:** the segviz authors, *segviz*, version {__version__}; and Liu et al., "
        "*Temporal Order Matters for Agentic Memory*, 2026, arXiv:2606.04555, for the method.\n\n"
        f"**Texts:** {leaves}\n\n"
        "**Shared files:** an exported page, session, memory, graph or table has texts, names and "
        "questions of the conversation, but no key of a model server. *Without texts and names* "
        "in *Export* leaves structure, scores and numbers. A link names the file and the question."
    )


def main() -> None:
    """Draws the app.

    The sidebar belongs to the frame, not to a page, so its choices survive a change of page. The
    page is chosen before the address is read, because reading it may start another run.
    """
    st.set_page_config(
        page_title="segviz",
        layout="wide",
        initial_sidebar_state="auto",
        menu_items={"About": about()},
    )
    apply_style()
    visit.arrive()
    session: AppSession | None = None

    def page(path: str) -> Callable[[], None]:
        def show() -> None:
            if session is not None:
                drawn(import_module(f"segviz.ui.pages.{path}.page").render, session)

        return show

    paths = [title.lower() for title in PAGES]
    pages = [
        st.Page(page(path), title=title, url_path=path if index else "", default=not index)
        for index, (title, path) in enumerate(zip(PAGES, paths, strict=True))
    ]
    # By path, for links from page to page.
    st.session_state[keys.PAGES] = dict(zip(paths, pages, strict=True))
    # The first page has the bare address; its name in an address leads there, too.
    named = st.Page(page(paths[0]), title=PAGES[0], url_path=paths[0], visibility="hidden")
    chosen = st.navigation([*pages, named], position="top")
    if chosen == named:
        link = {name: st.query_params.get_all(name) for name in st.query_params}
        st.switch_page(pages[0], query_params=link)
    address.arrive(chosen.url_path)
    with st.sidebar:
        st.markdown("### segviz")
        atlas = st.container(key="atlas-button")  # at the top, where its popover has room below
    session = sidebar()
    address.settle(session)
    wanted = st.session_state[keys.PAGES].get(st.session_state.pop(keys.PAGE_WANTED, None))
    if wanted is not None and wanted != chosen:
        st.switch_page(wanted)
    if session is not None:
        with atlas:
            show_ask = partial(st.session_state.__setitem__, keys.PAGE_WANTED, "ask")
            questions_popover(session, "Question atlas", "fates", show_ask)
        tour_bar(session)
        if chosen == pages[0] and not session.live and not on_tour(session):
            welcome(session)
        if chosen.url_path == "ask":
            begin_ask(session)
    chosen.run()
    drop_zone()
    follow_theme()
    part("address", key="address", data={}, went=address.went)
    for path in paths:  # the page is sent; a first click finds the modules of the others imported
        import_module(f"segviz.ui.pages.{path}.page")
