"""Export menu: the view as files and as a link; an installed browser draws the pictures.

Streamlit makes a deferred file in another thread and hides the reason of a failure. So the click
also reruns the menu, which waits for the same attempt and shows its reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from time import sleep
from urllib.parse import urlencode, urlsplit

import streamlit as st

from segviz.evaluation import Sweep
from segviz.export import FORMATS, Format, View, file_name, sweep_csv, without_texts
from segviz.export.browser import BrowserError, find_browser
from segviz.export.pictures import SECONDS, made
from segviz.ui.address import current
from segviz.ui.state import AppSession, PageState, typed_turns
from segviz.ui.widgets.captions import unmarked
from segviz.ui.widgets.waiting import waiting
from segviz.view.bookmark import encode
from segviz.waiting import waited_for

_HEADINGS = {
    FORMATS["html"].label: "To show",
    FORMATS["session"].label: "To continue later",
    FORMATS["graphml"].label: "Data",
    FORMATS["python"].label: "Code",
}
"""Heading above the format with this label and those that follow."""

# Width of the menu in pixels; without it the menu fills the page.
_WIDTH = 300

_WAIT = 2 * SECONDS + 5  # for the queue, then for the browser
# Streamlit drops a file some finished runs after it was made, so this run ends only after the
# download has begun.
_FETCHED = 0.5


def exports_panel(shown: PageState) -> None:
    """Draws the menu with the files, each made on a click, and the link of the view."""
    with st.popover("Export", icon=":material/download:", key="exports", on_change="rerun") as menu:
        if not menu.open:
            return
        session = shown.session
        typed, bookmark = tuple(typed_turns(session.source)), current(session)
        view = View(
            session.memory, shown.structure, bookmark, shown.result, typed, read=session.how
        )
        with st.container(width=_WIDTH, gap="xsmall", key="export-menu"):
            _link(view)
            _files(view)


def offered(view: View) -> list[tuple[Format, str]]:
    """Returns the formats of a view, each with the reason why it is impossible, or ""."""
    lacking = no_browser()
    return [
        (offer, lacking if offer.needs_browser else "")
        for offer in FORMATS.values()
        if view.result is not None or not offer.asks
    ]


def sweep_export(session: AppSession, sweep: Sweep, sweeps: int) -> None:
    """Draws the button that downloads a sweep as CSV, one of so many that are judged together."""
    st.download_button(
        "Sweep (CSV)",
        lambda: sweep_csv(sweep, sweeps),
        file_name=file_name(session.conversation.id, "sweep", "csv"),
        mime="text/csv",
        key="export-sweep",
        help="A row for each setting, measure and category: mean, gain over no propagation, "
        "intervals, and retrieved levels.",
        icon=":material/download:",
        on_click="ignore",
    )


@st.fragment
def _files(view: View) -> None:
    """Draws the buttons of all formats, and why some are impossible."""
    offers = offered(view)
    shown = [offer for offer, problem in offers if not (problem and offer.needs_browser)]
    with st.container(gap="xsmall", key="export-files"):
        for offer, problem in ((one, why) for one, why in offers if one in shown):
            if offer.label in _HEADINGS:
                st.caption(f"**{_HEADINGS[offer.label]}**")
            _button(view, offer, problem)
        for lacking in {problem for offer, problem in offers if offer not in shown}:
            st.caption(unmarked(lacking))
        if any(offer.needs_browser for offer in shown):
            dark = "SVG and PNG with a dark background."
            st.toggle("Dark pictures", key="export-dark", help=dark)
        st.toggle(
            "Without texts and names",
            key="export-bare",
            help="Structure, scores and numbers of nodes alone. A session has no questions then.",
        )


def _button(view: View, offer: Format, problem: str) -> None:
    """Draws the button of a format; its file is made on a click."""
    key, state = f"export-{offer.part}-{offer.ending}", st.session_state
    bare = bool(state.get("export-bare"))
    if bare and not offer.bare:
        problem = "it would have names"
    named = "conversation" if bare else view.memory.conversation.id
    content = Attempt(offer, view, bool(state.get("export-dark")), bare)
    clicked = st.download_button(
        offer.label,
        content,
        file_name=file_name(named, offer.part, offer.ending),
        mime=offer.mime,
        key=key,
        help=f"Not possible here: {problem}." if problem else offer.about,
        on_click="rerun" if offer.needs_browser else "ignore",
        disabled=bool(problem),
        width="stretch",
    )
    if offer.needs_browser:
        follow(f"{key}-attempt", content, clicked)


def _link(view: View) -> None:
    st.caption("Link to this view")
    address = (st.context.url or "").partition("?")[0]
    link = urlencode(encode(view.bookmark))
    st.code(f"{address}?{link}" if link else address, language=None, wrap_lines=True)
    if view.typed:
        st.caption("The link does not contain the turns you typed. The files above do.")
    elif view.bookmark.upload is not None:
        st.caption("Upload the same file before you open the link in another browser.")
    if limits := link_limits(address, view.bookmark.path):
        st.caption(limits)


def link_limits(address: str, path: str | None) -> str:
    """Returns what a link cannot do for others: reach this machine, or a file on it; "" if it can.

    Args:
        address: address of the app.
        path: path of the open file on the machine that runs segviz; None for other sources.
    """
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    here = host in ("localhost", "127.0.0.1", "::1")
    limits = ["It opens on this machine alone."] if here else []
    limits += ["It names the path of your file."] if path else []
    return " ".join(limits)


@dataclass(eq=False)
class Attempt:
    """Deferred content of a file; after a failed call ``problem`` has the reason, else ""."""

    offer: Format
    view: View
    dark: bool = False
    bare: bool = False
    problem: str = ""
    done: Event = field(default_factory=Event)

    def __call__(self) -> str | bytes:
        """Returns the content.

        Raises:
            BrowserError: no browser can draw it; ``problem`` has the message.
            ValueError: the view cannot be written in this format; likewise.
        """
        try:
            view = without_texts(self.view) if self.bare else self.view
            return made(self.offer, view, dark=self.dark)
        except (BrowserError, ValueError) as error:
            self.problem = str(error)
            raise
        finally:
            self.done.set()


def no_browser() -> str:
    """Returns why no browser can draw, and the remedy; "" if one is installed."""
    try:
        find_browser()
    except BrowserError as error:
        return str(error)
    return ""


def follow(key: str, now: Attempt, clicked: bool) -> None:
    """Stores the attempt ``now`` for the next click on a button.

    After a click it waits for the attempt stored before, which makes the file, and draws its error.
    """
    asked: Attempt | None = st.session_state.get(key)
    st.session_state[key] = now
    if not clicked or asked is None:
        return
    with waiting("The browser draws the picture", "stop-picture"):
        waited_for(lambda: asked.done.wait(_WAIT))
        if not asked.problem:
            sleep(_FETCHED)
    if asked.problem:
        st.error(unmarked(asked.problem))
