"""The five pages, a package each; pages do not import each other."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from segviz.files import NoRoom
from segviz.llm import ModelError
from segviz.memory import NoEmbedder
from segviz.ui import address
from segviz.ui.sidebar.models import show_spending
from segviz.ui.state import AppSession
from segviz.ui.widgets.captions import trouble


def drawn(draw: Callable[..., None], session: AppSession, *given: object) -> None:
    """Draws a page, or a part of one that is drawn again alone; then what follows from it: what
    was spent, and the address."""
    try:
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
    show_spending()  # a question may have been embedded
    address.write(session)
