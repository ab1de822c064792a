"""The five pages, a package each; pages do not import each other."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from segviz.files import NoRoom
from segviz.handover import HandoverError
from segviz.llm import ModelError
from segviz.llm.timeouts import heartbeat
from segviz.memory import NoEmbedder
from segviz.ui import address, keys
from segviz.ui.sidebar.models import show_spending
from segviz.ui.state import AppSession
from segviz.ui.widgets.canvas import part
from segviz.ui.widgets.captions import trouble


def _take_clicks() -> None:
    """Ends this run where a click waits, by what Streamlit raises at any use of its state: a part
    from outside segviz, or a server, may never answer."""
    st.session_state.get(keys.SOURCE)


def drawn(draw: Callable[..., None], session: AppSession, *given: object) -> None:
    """Draws a page, or a part of one that is drawn again alone; then what follows from it: what
    was spent, and the address."""
    try:
        with heartbeat(_take_clicks):
            draw(session, *given)
    except (ModelError, NoEmbedder) as error:
        # The question could not be embedded; what is built stays as it is.
        offline = isinstance(error, NoEmbedder)
        what = "This needs the embedder of the memory; choose relevance lexical."
        trouble(what if offline else "The model server did not answer.", error)
        st.button("Try again", key="retry")
    except NoRoom as error:
        trouble("There is no room for this now.", error)
        st.button("Try again", key="retry")
    except HandoverError as error:
        trouble("A part from outside segviz failed. Choose another in its place.", error)
    show_spending()  # a question may have been embedded
    part("address", key=f"address-{draw.__name__}", data=address.written(session))
