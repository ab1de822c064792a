"""The Export menu in the app says why a picture failed; tests/browser clicks for one."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


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
        export_menu.follow("attempt", after, clicked=st.session_state.get("clicked", False))
        assert st.session_state["attempt"] is after
    finally:
        export_menu.made = kept


@pytest.mark.parametrize("clicked", [True, False])
def test_after_a_click_the_menu_says_why_it_failed(clicked):
    page = AppTest.from_function(failed, default_timeout=30)
    page.session_state["clicked"] = clicked
    page.run()
    assert not page.exception
    said = [error.value.replace("\\", "") for error in page.error]
    assert said == ["no *sandbox* here; take another"] * clicked
