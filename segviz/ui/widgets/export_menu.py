"""The Export menu: offers the view as files, some of which a browser draws, and its link.

Streamlit makes a deferred file in a thread of its own and, where that fails, says no more
than that it did. So the click also runs the menu again, which waits for the same attempt
and shows its reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from time import sleep
from urllib.parse import urlencode

import streamlit as st

from segviz.evaluation import Sweep
from segviz.export import FORMATS, SCALES, Format, View, file_name, sweep_csv
from segviz.export.browser import BrowserError, find_browser
from segviz.export.pictures import SECONDS, made
from segviz.retrieval import Result
from segviz.tree import Structure
from segviz.ui.address import current
from segviz.ui.state import AppSession, typed_turns
from segviz.ui.widgets.captions import unmarked
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

_SHARPNESS = 2
_WAIT = 2 * SECONDS + 5  # for its turn, then for the browser
# Streamlit drops a file some finished runs after it was made; so this run does not finish
# before the file is under way.
_FETCHED = 0.5


def exports_panel(session: AppSession, structure: Structure, result: Result | None = None) -> None:
    """Draws a menu that offers the view as files, each made when it is asked for, and its link.

    ``structure`` is what the page shows, ``result`` the answered question on Ask.
    """
    with st.popover("Export", icon=":material/download:", key="exports", on_change="rerun") as menu:
        if not menu.open:
            return
        typed = tuple(typed_turns(session.source))
        shown = current(session)
        view = View(session.memory, structure, shown, result, typed, read=session.how)
        with st.container(width=_WIDTH, gap="xsmall", key="export-menu"):
            _link(session, view)
            _files(view)


def offered(view: View) -> list[tuple[Format, str]]:
    """Returns the formats of a view, each with the reason it cannot be made, "" where it can."""
    lacking = no_browser()
    return [
        (offer, lacking if offer.needs_browser else "")
        for offer in FORMATS.values()
        if view.result is not None or not offer.asks
    ]


def sweep_export(session: AppSession, found: Sweep) -> None:
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
    _look(shown)


def _button(view: View, offer: Format, problem: str) -> None:
    key, state = f"export-{offer.part}-{offer.ending}", st.session_state
    dark, scale = bool(state.get("export-dark")), state.get("export-scale") or _SHARPNESS
    content = Attempt(offer, view, dark, scale)
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


def _link(session: AppSession, view: View) -> None:
    st.caption("Link to this view")
    address = (st.context.url or "").partition("?")[0]
    link = urlencode(encode(view.bookmark))
    st.code(f"{address}?{link}" if link else address, language=None, wrap_lines=True)
    if view.typed:
        st.caption("A link does not hold turns you typed; the files above do.")
    elif view.bookmark.upload is not None:
        st.caption("Whoever opens the link must upload the same file first.")


@dataclass(eq=False)
class Attempt:
    """The content of a file, made when it is called; afterwards ``problem`` says why it
    could not be, "" where it could."""

    offer: Format
    view: View
    dark: bool = False
    scale: int = _SHARPNESS
    problem: str = ""
    done: Event = field(default_factory=Event)

    def __call__(self) -> str | bytes:
        """The content. BrowserError or ValueError with ``problem`` as its message."""
        try:
            return made(self.offer, self.view, dark=self.dark, scale=self.scale)
        except (BrowserError, ValueError) as error:
            self.problem = str(error)
            raise
        finally:
            self.done.set()


def no_browser() -> str:
    """Why no browser can draw, and what to do instead; "" where one can."""
    try:
        find_browser()
    except BrowserError as error:
        return str(error)
    return ""


def follow(key: str, now: Attempt, clicked: bool) -> None:
    """Keeps the attempt a button stands for; after a click, wait for the one that was clicked
    and say what went wrong."""
    asked: Attempt | None = st.session_state.get(key)
    st.session_state[key] = now
    if not clicked or asked is None:
        return
    with st.spinner("The browser draws the picture …"):
        asked.done.wait(_WAIT)
        if not asked.problem:
            sleep(_FETCHED)
    if asked.problem:
        st.error(unmarked(asked.problem))


def _look(offers: list[Format]) -> None:
    """The controls for how pictures look, where there are formats that heed them."""
    if any(offer.needs_browser for offer in offers):
        st.toggle("Dark pictures", key="export-dark", help="SVG and PNG on a dark ground.")
    if any(offer.scales for offer in offers):
        st.segmented_control(
            "Sharpness of the PNG",
            SCALES,
            default=_SHARPNESS,
            format_func=lambda scale: f"{scale}×",
            key="export-scale",
            help="Dots for each pixel of the picture, which is 1,400 pixels wide.",
        )
