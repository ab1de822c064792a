"""Maintenance and links from the app: defaults are filled in, and links are asked along."""

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
    return clean(AppTest.from_function(_page, default_timeout=60).run())


def told(app: AppTest) -> list[str]:
    return [text.value for text in app.text if "distant leaves are linked" in text.value]


def test_links_offer_cross_links_and_undo_takes_them_back():
    app = page()
    app.selectbox(key="operation").set_value("link_recurrences").run()
    fields = [field for field in app.number_input if field.key.startswith("argument")]
    assert [field.value for field in fields] == [60, 20, 3]
    fields[0].set_value(30).run()
    clean(app.button(key="operate").click().run())
    assert len(told(app)) == 1
    clean(app.selectbox(key="policy").set_value("cross-links").run())
    assert app.session_state["policy"] == "cross-links"
    clean(app.button(key="undo-operation").click().run())
    assert told(app) == []


def test_compressing_from_the_panel():
    app = page()
    app.selectbox(key="operation").set_value("compress").run()
    clean(app.button(key="operate").click().run())
    assert any("left the tree" in text.value for text in app.text)
