"""The Export menu: what it offers, under which names, and that it keeps keys to itself."""

import sys
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from segviz.export import FORMATS, Sheet
from segviz.export.browser import VARIABLE, BrowserError
from segviz.ui.widgets.export_menu import Attempt, link_limits, no_browser
from tests.export.views import ask_view, grow_view

KEY = "sk-this-must-stay-here"


@pytest.fixture(autouse=True)
def _any_browser(monkeypatch):
    """A program stands in for the browser: nothing here runs it."""
    monkeypatch.setenv(VARIABLE, sys.executable)


def page() -> None:
    """The app's frame with the menu alone; ``exports`` in the state opens it."""
    import streamlit as st

    from segviz.memory import ask
    from segviz.ui import address
    from segviz.ui.sidebar.sidebar import sidebar
    from segviz.ui.state import PageState
    from segviz.ui.widgets.export_menu import exports_panel

    address.arrive("grow")
    session = sidebar()
    address.settle(session)
    result = None
    if st.session_state.get("asks"):
        result = ask(session.memory, "What is the boat called now?")
    steps = len(session.memory.steps)
    exports_panel(PageState(session, session.memory.structure, steps, result))


def menu(**state):
    app = AppTest.from_function(page, default_timeout=180)
    app.session_state["exports"] = True
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception
    return app


def buttons(app) -> dict[str, bool]:
    """Label of each file offered, and whether it can be had."""
    return {b.proto.label: not b.proto.disabled for b in app.get("download_button")}


def test_grow_offers_a_link_and_every_file_and_ask_the_ranks_too():
    app = menu()
    found = buttons(app)
    assert list(found) == [offer.label for offer in FORMATS.values() if not offer.asks]
    assert all(found.values())
    assert app.code[0].value.endswith("?sample=ines-theo")
    assert list(buttons(menu(asks=True))) == [offer.label for offer in FORMATS.values()]


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
        text = made.html if isinstance(made, Sheet) else made
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        assert data
        assert KEY.encode() not in data


# --- pictures ----------------------------------------------------------------------------------


def test_without_a_browser_a_line_says_what_to_do_instead(monkeypatch):
    monkeypatch.setenv(VARIABLE, "/nowhere/*bold*")
    app = menu()
    expected = [one.label for one in FORMATS.values() if not (one.asks or one.needs_browser)]
    assert list(buttons(app)) == expected
    (said,) = [caption.value for caption in app.caption if "nowhere" in caption.value]
    assert said.replace("\\", "") == no_browser()
    assert r"\*bold\*" in said
    assert [each.key for each in app.toggle] == ["export-bare"]


def test_the_ground_reaches_the_picture(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "segviz.ui.widgets.export_menu.made", lambda *_, **look: seen.append(look) or b""
    )
    app = menu()
    drawn = [one for one in FORMATS.values() if one.needs_browser and not one.asks]
    keys = [f"export-{one.part}-{one.ending}-attempt" for one in drawn]
    first = [app.session_state[key] for key in keys]
    assert [(one.offer, one.dark) for one in first] == [(o, False) for o in drawn]
    app.toggle[0].set_value(True)
    app.run()
    for key in keys:
        assert app.session_state[key]() == b""
    assert seen == [{"dark": True}] * len(keys)


def test_an_attempt_that_fails_keeps_its_reason(memory, monkeypatch):
    monkeypatch.setenv(VARIABLE, "/nowhere")
    attempt = Attempt(FORMATS["png"], grow_view(memory))
    with pytest.raises(BrowserError):
        attempt()
    assert attempt.done.is_set()
    assert "/nowhere" in attempt.problem


def failed() -> None:
    import streamlit as st

    from segviz.export import FORMATS
    from segviz.export.browser import BrowserError
    from segviz.ui.widgets import export_menu

    def fail(*_, **__) -> bytes:
        raise BrowserError("no *sandbox* here; take another")

    export_menu.made, kept = fail, export_menu.made
    try:
        before = export_menu.Attempt(FORMATS["png"], None)
        try:
            before()
        except BrowserError:
            st.session_state["attempt"] = before
        after = export_menu.Attempt(FORMATS["png"], None)
        export_menu.follow("attempt", after, clicked=True)
        assert st.session_state["attempt"] is after
    finally:
        export_menu.made = kept


def test_after_a_click_the_menu_says_why_it_failed():
    page = AppTest.from_function(failed, default_timeout=30).run()
    assert not page.exception
    said = [error.value.replace("\\", "") for error in page.error]
    assert said == ["no *sandbox* here; take another"]


@pytest.mark.parametrize(
    ("address", "path", "said"),
    [
        ("http://127.0.0.1:8501/ask", None, "It opens on this machine alone."),
        ("http://localhost:8501", "/a.json", "this machine alone. It names the path of your file."),
        ("https://demo.example/ask", "/a.json", "It names the path of your file."),
    ],
)
def test_a_link_that_others_cannot_open_says_so(address, path, said):
    assert said in link_limits(address, path)
    assert link_limits("https://demo.example/ask", None) == ""
