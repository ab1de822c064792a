"""The Export menu: the view as files, and its link."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from segviz.bookmark import encode
from segviz.evaluate import Sweep
from segviz.export import FORMATS, Format, View, file_name, sweep_csv
from segviz.result import Result
from segviz.structure import Structure
from segviz.ui.address import current
from segviz.ui.state import Session, typed_turns


def exports_panel(
    session: Session,
    structure: Structure,
    result: Result | None = None,
    budget: int | None = None,
) -> None:
    """A menu that offers the view as files, each made when it is asked for, and its link.

    ``structure`` is what the page shows, ``result`` the answered question on Ask and
    ``budget`` the tokens it was to fill in place of K.
    """
    with st.popover("Export", icon=":material/download:", key="exports", on_change="rerun") as menu:
        if not menu.open:
            return
        typed = tuple(typed_turns(session.source))
        view = View(session.memory, structure, current(session), result, typed, budget)
        for offer, problem in offered(view):
            _button(view, offer, problem)
        _link(view)


def offered(view: View) -> list[tuple[Format, str]]:
    """The files a view can be had as, and why one cannot, "" where it can."""
    return [
        (offer, offer.problem(view.structure) if offer.problem else "")
        for offer in FORMATS.values()
        if view.result is not None or not offer.asks
    ]


def sweep_export(session: Session, found: Sweep) -> None:
    """A button that offers a sweep as CSV."""
    st.download_button(
        "Sweep (CSV)",
        lambda: sweep_csv(found),
        file_name=file_name(session.conversation.id, "sweep", "csv"),
        mime="text/csv",
        key="export-sweep",
        help="A row for each setting: recall with its interval, categories, retrieved levels.",
        icon=":material/download:",
        on_click="ignore",
    )


def _button(view: View, offer: Format, problem: str) -> None:
    st.download_button(
        offer.label,
        lambda: offer.make(view),
        file_name=file_name(view.memory.conversation.id, offer.part, offer.ending),
        mime=offer.mime,
        key=f"export-{offer.part}-{offer.ending}",
        help=f"Not possible here: {problem}." if problem else offer.about,
        on_click="ignore",
        disabled=bool(problem),
        width="stretch",
    )


def _link(view: View) -> None:
    st.caption("Link to this view")
    address = (st.context.url or "").partition("?")[0]
    link = urlencode(encode(view.bookmark))
    st.code(f"{address}?{link}" if link else address, language=None, wrap_lines=True)
    if view.typed:
        st.caption("A link does not hold turns you typed; the files above do.")
    elif view.bookmark.upload is not None:
        st.caption("Whoever opens the link must upload the same file first.")
