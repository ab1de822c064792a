"""A wait says what it is for, and a click on Stop ends it."""

from threading import Event

from streamlit.testing.v1 import AppTest

from segviz.ui.widgets import waiting


def _page() -> None:
    import streamlit as st

    from segviz.ui.widgets.waiting import computed

    done = st.session_state["done"]

    def work() -> int:
        done.wait(20)
        return 7

    st.write(f"found {computed('numbers', 'seven', 2, 'Count to seven', work)}")


def _twice() -> None:
    from time import sleep

    from segviz.ui.widgets.waiting import computed

    for key in ("first", "second"):
        computed("numbers", key, 2, "Count", lambda: sleep(0.6) or 7)


def test_two_values_of_one_name_may_both_take_long(monkeypatch):
    monkeypatch.setattr(waiting, "SILENT", 0.0)
    assert not AppTest.from_function(_twice).run().exception


def test_short_work_draws_no_note():
    app = AppTest.from_function(_page)
    app.session_state["done"] = done = Event()
    done.set()
    app.run()
    assert not app.caption
    assert not app.button
    assert app.markdown[0].value == "found 7"


def test_stopped_work_gives_nothing_and_a_button_computes_it_after_all(monkeypatch):
    monkeypatch.setattr(waiting, "SILENT", 0.0)
    app = AppTest.from_function(_page)
    app.session_state["done"] = done = Event()
    app.session_state["stopped-numbers"] = "seven"  # as a click on Stop leaves it
    app.run()
    assert app.markdown[0].value == "found None"
    (again,) = app.button
    done.set()
    again.click().run()
    assert app.markdown[0].value == "found 7"
