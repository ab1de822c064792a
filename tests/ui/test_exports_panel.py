"""The Export menu: what it offers, under which names, and that it keeps keys to itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from segviz.export.formats import FORMATS
from segviz.ui.exports import offered
from tests.export.views import ask_view, dag, grow_view, holding

KEY = "sk-this-must-stay-here"


def page() -> None:
    """The app's frame with the menu alone; ``exports`` in the state opens it."""
    import streamlit as st

    from segviz.pipeline import ask
    from segviz.ui import address
    from segviz.ui.exports import exports_panel
    from segviz.ui.sidebar import sidebar

    address.arrive()
    session = sidebar()
    address.settle(session)
    result = None
    if st.session_state.get("asks"):
        result = ask(session.memory, "What is the boat called now?")
    exports_panel(session, session.memory.structure, result)


def menu(**state):
    app = AppTest.from_function(page, default_timeout=30)
    app.session_state["exports"] = True
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception
    return app


def buttons(app) -> dict[str, bool]:
    """Label of each file offered, and whether it can be had."""
    return {b.proto.label: not b.proto.disabled for b in app.get("download_button")}


def test_grow_offers_every_file_but_the_ranks():
    found = buttons(menu())
    assert list(found) == [offer.label for offer in FORMATS.values() if not offer.asks]
    assert all(found.values())


def test_ask_offers_the_ranks_too():
    assert list(buttons(menu(asks=True))) == [offer.label for offer in FORMATS.values()]


def test_the_link_names_the_view():
    assert menu().code[0].value.endswith("?sample=ines-theo")


def test_a_structure_that_is_no_tree_cannot_be_newick(memory):
    names = {offer.label: problem for offer, problem in offered(holding(memory, dag()))}
    assert "GraphML" in names["Tree (Newick)"]
    assert not any(problem for label, problem in names.items() if label != "Tree (Newick)")


@pytest.mark.parametrize("offer", FORMATS.values(), ids=lambda offer: offer.label)
def test_every_file_can_be_made_and_holds_no_key(memory, offer):
    class Guarded:
        """An embedder that carries a key, as those of a server do."""

        name = memory.embedder.name
        api_key = KEY

        def embed(self, texts):
            return memory.embedder.embed(texts)

        def __repr__(self) -> str:
            return KEY

    asked = ask_view(memory, "How many gears?")
    views = [asked] if offer.asks else [asked, grow_view(memory, step=3)]
    for view in views:
        guarded = replace(view, memory=replace(memory, embedder=Guarded()))
        made = offer.make(guarded)
        data = made if isinstance(made, bytes) else made.encode("utf-8")
        assert data
        assert KEY.encode() not in data
