"""Operations from the app: defaults are filled in, what was done is told and undone."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.app.test_pages import clean


def _page() -> None:
    from segviz.ui.operations import operated, operations_panel
    from segviz.ui.pages.ask import page as ask
    from segviz.ui.sidebar.sidebar import sidebar

    session = sidebar()
    if session is not None:
        session = operated(session)
        operations_panel(session)
        ask.render(session)


def page() -> AppTest:
    return clean(AppTest.from_function(_page, default_timeout=180).run())


def told(app: AppTest) -> list[str]:
    return [text.value for text in app.text if "joined the one before" in text.value]


def test_defaults_are_filled_in_and_undo_takes_an_operation_back():
    app = page()
    app.selectbox(key="operation").set_value("merge_duplicates").run()
    fields = [field for field in app.number_input if field.key.startswith("argument")]
    assert [field.value for field in fields] == [100]
    fields[0].set_value(50).run()
    clean(app.button(key="operate").click().run())
    assert len(told(app)) == 1
    clean(app.button(key="undo-operation").click().run())
    assert told(app) == []


def test_compressing_from_the_panel():
    app = page()
    app.selectbox(key="operation").set_value("compress").run()
    clean(app.button(key="operate").click().run())
    assert any("left the tree" in text.value for text in app.text)
    clean(app.button(key="undo-operation").click().run())
    assert not any("left the tree" in text.value for text in app.text)
