"""The five pages, a package each; pages do not import each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Generic, TypeVar

import streamlit as st

from segviz.files import NoRoom
from segviz.handover import HandoverError
from segviz.llm import ModelError
from segviz.memory import NoEmbedder
from segviz.retrieval import RetrievalSettings
from segviz.ui import address, keys
from segviz.ui.sidebar.models import show_spending
from segviz.ui.state import AppSession
from segviz.ui.widgets.canvas import part
from segviz.ui.widgets.captions import trouble
from segviz.waiting import heartbeat


def _take_clicks() -> None:
    """Ends this run if the user has clicked, while a plug-in or a server is waited for.

    Reading the session state makes Streamlit raise the exception that ends the run.
    """
    st.session_state.get(keys.SOURCE)


S = TypeVar("S")


@dataclass(frozen=True)
class Panel(Generic[S]):
    """Part of a page that shows the page's state.

    Attributes:
        title: its heading; without one it belongs to the panel above.
        draw: draws it.
        shown: returns True if there is something to draw.
        closed: key under which it opens and closes, with the title on it. It is closed at first,
            and drawn only while it is open. None for a panel that is always open.
        column: its column, counted from 0; None for the whole width.
        bound: beginning of parameters of the address with which a closed panel opens; "" for none.
    """

    title: str
    draw: Callable[[S], object]
    shown: Callable[[S], object] = lambda state: True
    closed: str | None = None
    column: int | None = None
    bound: str = ""


def draw_panels(panels: Sequence[Panel[S]], state: S, widths: Sequence[int] = ()) -> None:
    """Draws the panels of a page that are shown, one below the other.

    Successive panels with a column share columns of these ``widths``.
    """
    for beside, each in groupby(panels, lambda panel: panel.column is not None):
        group = list(each)
        some = beside and any(panel.shown(state) for panel in group)
        columns = st.columns(widths, gap="medium") if some else ()
        for panel in group:
            if not panel.shown(state):  # a panel above may have changed that
                continue
            with nullcontext() if panel.column is None else columns[panel.column]:
                if panel.closed is not None:
                    asked = panel.bound and any(n.startswith(panel.bound) for n in st.query_params)
                    fold = partial(st.expander, on_change="rerun")
                    with fold(panel.title, bool(asked), key=panel.closed) as opened:
                        if opened.open:
                            panel.draw(state)
                    continue
                if panel.title:
                    st.subheader(panel.title, divider="gray")
                panel.draw(state)


def drawn(
    draw: Callable[..., RetrievalSettings | None], session: AppSession, *given: object
) -> None:
    """Draws a page or fragment, then the cost of models and the address.

    ``draw`` returns the retrieval settings, if it has read them.
    """
    settings = None
    try:
        with heartbeat(_take_clicks):
            settings = draw(session, *given)
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
    if keys.USAGE in st.session_state:
        show_spending()  # a question may have been embedded
    link = address.message(lambda: address.current(session, settings))
    part("address", key=f"address-{draw.__name__}", data=link)
