"""Operations from the app: defaults are filled in, what was done is told and undone."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.app.test_pages import clean


def _page() -> None:
    from segviz.ui.operations.panel import operated, operations_panel
    from segviz.ui.pages.ask import page as ask
    from segviz.ui.sidebar.sidebar import sidebar

    session = sidebar()
    if session is not None:
        session = operated(session)
        operations_panel(session)
        ask.render(session)


def page() -> AppTest:
    return clean(AppTest.from_function(_page, default_timeout=180).run())


def test_compressing_from_the_panel():
    app = page()
    app.selectbox(key="operation").set_value("compress").run()
    clean(app.button(key="operate").click().run())
    assert any("left the tree" in text.value for text in app.text)
    clean(app.button(key="undo-operation").click().run())
    assert not any("left the tree" in text.value for text in app.text)
