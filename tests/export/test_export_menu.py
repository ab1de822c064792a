"""The Export menu in the app: a click brings the picture, a failure its reason."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from tests.browser.conftest import app, server, tab  # noqa: F401
from tests.export.pdf import Pdf


@pytest.mark.browser
def test_a_click_brings_the_picture(app, drawer):  # noqa: F811
    app.open("?sample=ines-theo&step=40")
    app.page.get_by_role("button", name="Export").first.click()
    app.settle()

    def clicked(label: str) -> bytes:
        with app.page.expect_download(timeout=60_000) as download:
            app.page.get_by_role("button", name=label).click()
        content = Path(download.value.path()).read_bytes()
        app.settle()
        assert app.page.get_by_test_id("stDownloadButtonError").count() == 0
        return content

    wide = Image.open(io.BytesIO(clicked("Picture (PNG)"))).width
    app.page.locator(".st-key-export-scale").get_by_role("radio", name="1×").click()
    app.settle()
    assert (wide, Image.open(io.BytesIO(clicked("Picture (PNG)"))).width) == (2800, 1400)
    app.page.get_by_text("Dark pictures").click()
    app.settle()
    pdf = Pdf(clicked("Picture (PDF)"))
    assert "After step 40" in pdf.text
    assert pdf.ground[0] == "#171614"


def failed() -> None:
    import streamlit as st

    from segviz.export import FORMATS
    from segviz.export.browser import BrowserError
    from segviz.ui.widgets import pictures

    def fail(*_, **__) -> bytes:
        raise BrowserError("no *sandbox* here; take another")

    pictures.made, kept = fail, pictures.made
    try:
        before = pictures.Attempt(FORMATS["png"], None)
        try:
            before()
        except BrowserError:
            st.session_state["attempt"] = before
        after = pictures.Attempt(FORMATS["png"], None)
        pictures.follow("attempt", after, clicked=st.session_state.get("clicked", False))
        assert st.session_state["attempt"] is after
    finally:
        pictures.made = kept


@pytest.mark.parametrize("clicked", [True, False])
def test_after_a_click_the_menu_says_why_it_failed(clicked):
    page = AppTest.from_function(failed, default_timeout=30)
    page.session_state["clicked"] = clicked
    page.run()
    assert not page.exception
    said = [error.value.replace("\\", "") for error in page.error]
    assert said == ["no *sandbox* here; take another"] * clicked
