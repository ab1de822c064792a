"""What the Export menu needs for pictures: their look, and files a browser draws.

Streamlit makes a deferred file in a thread of its own and, where that fails, says no more
than that it did. So the click also runs the menu again, which waits for the same attempt
and shows its reason.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from threading import Event
from time import sleep

import streamlit as st

from segviz.export import SCALES, Format, View
from segviz.export.browser import BrowserError, find_browser
from segviz.export.pictures import SECONDS, made
from segviz.ui import keys
from segviz.ui.widgets.captions import unmarked

_DEFAULT = 2
_WAIT = 2 * SECONDS + 5  # for its turn, then for the browser
# Streamlit drops a file some finished runs after it was made; so this run does not finish
# before the file is under way.
_FETCHED = 0.5


@dataclass(eq=False)
class Attempt:
    """The content of a file, made when it is called; afterwards ``problem`` says why it
    could not be, "" where it could."""

    offer: Format
    view: View
    dark: bool = False
    scale: int = _DEFAULT
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


def attempt(offer: Format, view: View) -> Attempt:
    """The file as the controls below the buttons want it."""
    state = st.session_state
    return Attempt(
        offer, view, bool(state.get(keys.EXPORT_DARK)), state.get(keys.EXPORT_SCALE) or _DEFAULT
    )


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


def look(offers: list[Format]) -> None:
    """The controls for how pictures look, where there are formats that heed them."""
    if any(offer.needs_browser for offer in offers):
        st.toggle("Dark pictures", key=keys.EXPORT_DARK, help="SVG, PNG and PDF on a dark ground.")
    if any(offer.scales for offer in offers):
        st.segmented_control(
            "Sharpness of the PNG",
            SCALES,
            default=_DEFAULT,
            format_func=lambda scale: f"{scale}×",
            key=keys.EXPORT_SCALE,
            help="Dots for each pixel of the picture, which is 1,400 pixels wide.",
        )


class _Told(logging.Filter):
    """Leaves out what the menu tells the user; of anything else the log keeps its traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not (error and isinstance(error.__cause__, BrowserError | ValueError))


logging.getLogger("streamlit.runtime.backend_operation_handler").addFilter(_Told())
