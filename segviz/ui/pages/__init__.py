"""The five pages, a package each; pages do not import each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from segviz.files import NoRoom
from segviz.handover import HandoverError
from segviz.llm import ModelError
from segviz.memory import NoEmbedder
from segviz.ui import address, keys
from segviz.ui.sidebar.models import show_spending
from segviz.ui.state import AppSession
from segviz.ui.widgets.canvas import part
from segviz.ui.widgets.captions import trouble
from segviz.waiting import heartbeat

S = TypeVar("S")


@dataclass(frozen=True)
class Panel(Generic[S]):
    """Part of a page: a heading, a function that draws the state, and when it is shown.

    Without a ``title`` it belongs to the panel above.
    """

    title: str
    draw: Callable[[S], None]
    shown: Callable[[S], bool] = lambda _: True


def draw_panels(panels: Iterable[Panel[S]], state: S) -> None:
    """Draws the panels of a page that are shown, one below the other."""
    for panel in panels:
        if panel.shown(state):
            if panel.title:
                st.subheader(panel.title, divider="gray")
            panel.draw(state)


def _take_clicks() -> None:
    """Ends this run if the user has clicked, while a plug-in or a server is waited for.

    Reading the session state makes Streamlit raise the exception that ends the run.
    """
    st.session_state.get(keys.SOURCE)


def drawn(draw: Callable[..., None], session: AppSession, *given: object) -> None:
    """Draws a page or fragment, then the cost of models and the address."""
    try:
        with heartbeat(_take_clicks):
            draw(session, *given)
    except (ModelError, NoEmbedder) as error:
        # The question could not be embedded; the memory is not affected.
        offline = isinstance(error, NoEmbedder)
        what = "This relevance needs the embedder of the memory. Choose relevance lexical."
        trouble(what if offline else "The model server did not answer.", error)
        st.button("Try again", key="retry")
    except NoRoom as error:
        trouble("There is no room for this now.", error)
        st.button("Try again", key="retry")
    except HandoverError as error:
        trouble("A part from outside segviz failed. Choose another in its place.", error)
    show_spending()  # a question may have been embedded
    part("address", key=f"address-{draw.__name__}", data=address.written(session))
