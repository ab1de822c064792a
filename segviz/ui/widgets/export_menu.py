"""The Export menu: offers the view as files, and its link."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from segviz.evaluate import Sweep
from segviz.export import FORMATS, Format, View, file_name, sweep_csv
from segviz.export.story import stop_at
from segviz.retrieval import Result
from segviz.tree import Structure
from segviz.ui import keys
from segviz.ui.address import current
from segviz.ui.state import Session, typed_turns
from segviz.ui.view_state import write_story
from segviz.ui.widgets.captions import counted, unmarked
from segviz.ui.widgets.pictures import attempt, follow, look, no_browser
from segviz.view.bookmark import encode

_HEADINGS = {
    FORMATS["html"].label: "To show",
    FORMATS["session"].label: "To go on with",
    FORMATS["graphml"].label: "Data",
    FORMATS["python"].label: "Code",
}
"""What stands above the format with this label, and holds for those that follow."""

# Pixels of the menu, which else becomes as wide as the page lets it.
_WIDTH = 300


def exports_panel(session: Session, structure: Structure, result: Result | None = None) -> None:
    """Draws a menu that offers the view as files, each made when it is asked for, and its link.

    ``structure`` is what the page shows, ``result`` the answered question on Ask.
    """
    with st.popover("Export", icon=":material/download:", key="exports", on_change="rerun") as menu:
        if not menu.open:
            return
        typed = tuple(typed_turns(session.source))
        view = View(session.memory, structure, current(session), result, typed)
        with st.container(width=_WIDTH, gap="xsmall", key="export-menu"):
            _link(session, view)
            _story(session, view)
            _files(view)


def offered(view: View) -> list[tuple[Format, str]]:
    """Returns the formats of a view, each with the reason it cannot be made, "" where it can."""
    lacking = no_browser()
    return [
        (
            offer,
            (offer.problem(view.structure) if offer.problem else "")
            or (lacking if offer.needs_browser else ""),
        )
        for offer in FORMATS.values()
        if view.result is not None or not offer.asks
    ]


def sweep_export(session: Session, found: Sweep) -> None:
    """Draws a button that offers a sweep as CSV."""
    st.download_button(
        "Sweep (CSV)",
        lambda: sweep_csv(found),
        file_name=file_name(session.conversation.id, "sweep", "csv"),
        mime="text/csv",
        key="export-sweep",
        help="A row for each setting, measure and category: mean and gain over no propagation "
        "with their intervals; retrieved levels.",
        icon=":material/download:",
        on_click="ignore",
    )


@st.fragment
def _files(view: View) -> None:
    offers = offered(view)
    shown = [offer for offer, problem in offers if not (problem and offer.needs_browser)]
    for offer, problem in ((one, why) for one, why in offers if one in shown):
        if offer.label in _HEADINGS:
            st.caption(f"**{_HEADINGS[offer.label]}**")
        _button(view, offer, problem)
    for lacking in {problem for offer, problem in offers if offer not in shown}:
        st.caption(unmarked(lacking))
    look(shown)


def _button(view: View, offer: Format, problem: str) -> None:
    key, content = f"export-{offer.part}-{offer.ending}", attempt(offer, view)
    clicked = st.download_button(
        offer.label,
        content,
        file_name=file_name(view.memory.conversation.id, offer.part, offer.ending),
        mime=offer.mime,
        key=key,
        help=f"Not possible here: {problem}." if problem else offer.about,
        on_click="rerun" if offer.needs_browser else "ignore",
        disabled=bool(problem),
        width="stretch",
    )
    if offer.needs_browser:
        follow(f"{key}-attempt", content, clicked)


def _story(session: Session, view: View) -> None:
    """Offers to put the view into a story, which the link then holds."""
    stops = view.bookmark.story
    many = f"Story: {counted(len(stops), 'view')}" if stops else "Begin a story with this view"
    words = st.text_input(
        many, key=keys.story_button("words"), placeholder="What is to be seen here"
    )

    def add() -> None:
        stop = stop_at(view.page, st.session_state[keys.story_button("words")], view.bookmark)
        write_story([*stops, stop], len(stops) + 1)

    if st.button(
        "Add this view",
        key=keys.story_button("add"),
        disabled=not (words or "").strip(),
        on_click=add,
        width="stretch",
    ):
        st.rerun()  # the bar of the story stands above the page


def _link(session: Session, view: View) -> None:
    st.caption("Link to this view")
    address = (st.context.url or "").partition("?")[0]
    link = urlencode(encode(view.bookmark))
    st.code(f"{address}?{link}" if link else address, language=None, wrap_lines=True)
    if session.built:  # operations have changed it since
        st.caption("The link leaves out what was done under Change; the session file holds it.")
    if view.typed:
        st.caption("A link does not hold turns you typed; the files above do.")
    elif view.bookmark.upload is not None:
        st.caption("Whoever opens the link must upload the same file first.")
